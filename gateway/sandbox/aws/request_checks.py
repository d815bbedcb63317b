"""Refuses malformed requests as DynamoDB does; moto would accept them or fail with a 500."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_conditions import key_condition
from gateway.sandbox.aws.responses import AwsFault

_PAGED = frozenset(("Query", "Scan"))
_KINDS = ("S", "N", "B")
# the operators of `KeyConditions`, as an expression writes them
_OPERATORS = {
    "EQ": "=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "BETWEEN": "BETWEEN", "BEGINS_WITH": "begins_with"
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"
_INVALID = "The provided starting key is invalid"
_NO_KEY = "The provided key element does not match the schema"


def check_types(operation: str, body: Mapping[str, Any]) -> None:
    """Runs before authorization: a request that cannot be parsed cannot be authorized."""
    if operation in _PAGED and "Limit" in body:
        _check_limit(body["Limit"])
    if operation in _PAGED and not isinstance(body.get("ExclusiveStartKey"), dict | None):
        raise AwsFault("SerializationException", "Unexpected field type")
    for kind, value in _scalars(body):
        if not isinstance(value, str):
            target = "ByteBuffer" if kind == "B" else "String"
            raise AwsFault("SerializationException", _unreadable(value, target))
        if kind == "B":
            _check_base64(value)
        elif kind == "N" and not _NUMBER.fullmatch(value.strip()):
            message = f"The parameter cannot be converted to a numeric value: {value}"
            raise AwsFault("ValidationException", message)


def check_start(operation: str, body: Mapping[str, Any]) -> None:
    """Refuses a page that starts outside the partition of the query, or outside the range of its sort key."""
    start = body.get("ExclusiveStartKey")
    if operation != "Query" or not isinstance(start, dict):
        return
    for name, operator, values in _comparisons(body):
        if name not in start:
            raise AwsFault("ValidationException", _INVALID)
        if operator == "=" and start[name] != values[0]:
            raise AwsFault("ValidationException", _OUTSIDE)
        if operator != "=" and not _within(start[name], operator, values):
            raise AwsFault("ValidationException", _OUTSIDE)


def check_start_schema(start: Mapping[str, Any], types: Mapping[str, str]) -> None:
    """Refuses a start key that is not a key of the table and the index; `types` are those of its attributes."""
    if start.keys() != types.keys():
        raise AwsFault("ValidationException", _INVALID)
    for name, kind in types.items():
        if not isinstance(start[name], dict) or [*start[name]] != [kind]:
            raise AwsFault("ValidationException", f"{_INVALID}: {_NO_KEY}")


def _check_limit(limit: Any) -> None:
    if limit is None:
        return
    if isinstance(limit, bool | str | float | list | dict):
        raise AwsFault("SerializationException", _unreadable(limit, "Integer"))
    if limit < 1:
        raise AwsFault(
            "ValidationException",
            f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        )


def _unreadable(value: Any, target: str) -> str:
    match value:
        case bool():
            return f"{str(value).upper()}_VALUE cannot be converted to {target}"
        case str():
            return f"STRING_VALUE cannot be converted to {target}"
        case int():
            return f"NUMBER_VALUE cannot be converted to {target}"
        case list():
            return f"Unrecognized collection type class java.lang.{target}"
        case dict():
            return "Start of structure or map found where not expected"
    return f"DECIMAL_VALUE cannot be converted to {target}"


def _scalars(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The kind and content of all scalar values: `{"S": "..."}` and the members of `{"SS": ["...", ...]}`."""
    pending: list[Any] = [body]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            for kind in _KINDS if len(value) == 1 else ():
                # an attribute may also be named like a kind, but then its value is an object
                if kind in value and not isinstance(value[kind], dict | None):
                    yield kind, value[kind]
                members = value.get(f"{kind}S")
                yield from ((kind, member) for member in members or () if isinstance(members, list))
            pending += value.values()


def _check_base64(text: str) -> None:
    if len(text) % 4:
        message = f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(text)}"
        raise AwsFault("SerializationException", message)
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise AwsFault("SerializationException", "Invalid Base64 character") from error


def _comparisons(body: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """The parts of the key condition: an attribute, the operator of an expression, and the values."""
    names, values = body.get("ExpressionAttributeNames") or {}, body.get("ExpressionAttributeValues") or {}
    try:
        compared = key_condition(body.get("KeyConditionExpression") or "").comparisons
    except (NotUnderstood, TypeError):
        compared = ()
    for name, operator, placeholders in compared:
        yield names.get(name, name), operator, [values.get(placeholder) for placeholder in placeholders]
    for name, condition in (body.get("KeyConditions") or {}).items():
        match condition:
            case {"ComparisonOperator": str(old), "AttributeValueList": [_, *_] as operands} if old in _OPERATORS:
                yield name, _OPERATORS[old], operands


def _within(value: Any, operator: str, bounds: list[Any]) -> bool:
    """Whether a start is in the range; a bound itself is, and so is what cannot be compared, which moto refuses."""
    place, *limits = [_ordered(operand) for operand in (value, *bounds)]
    if place is None or any(type(limit) is not type(place) for limit in limits):
        return True
    if operator == "begins_with":
        return not isinstance(place, bytes) or place.startswith(limits[0])
    low = operator not in (">", ">=", "BETWEEN") or limits[0] <= place
    high = operator not in ("<", "<=", "BETWEEN") or place <= limits[-1]
    return low and high


def _ordered(value: Any) -> Any:
    """A key value in the order of DynamoDB: numbers by size, text and binary values by their bytes."""
    match value:
        case {"S": str(text)}:
            return text.encode(errors="surrogatepass")
        case {"B": str(text)}:
            return base64.b64decode(text)
        case {"N": str(text)}:
            return Decimal(text.strip())
    return None
