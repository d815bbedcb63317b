"""Refuses malformed requests as DynamoDB does; moto would accept them or fail with a 500."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.key_conditions import key_condition
from gateway.sandbox.aws.responses import AwsFault

_PAGED = frozenset(("Query", "Scan"))
_OUTSIDE = "The provided starting key is outside query boundaries based on provided conditions"
_INVALID = "The provided starting key is invalid"


def check_types(operation: str, body: Mapping[str, Any]) -> None:
    """Runs before authorization: a request that cannot be parsed cannot be authorized."""
    if operation in _PAGED and "Limit" in body:
        _check_limit(body["Limit"])
    for text in _binaries(body):
        _check_base64(text)


def check_start(operation: str, body: Mapping[str, Any]) -> None:
    """Refuses a page that starts outside the partition of the query."""
    start = body.get("ExclusiveStartKey")
    if operation != "Query" or not isinstance(start, dict):
        return
    for name, value in _pinned(body):
        if name not in start:
            raise AwsFault("ValidationException", _INVALID)
        if start[name] != value:
            raise AwsFault("ValidationException", _OUTSIDE)


def _check_limit(limit: Any) -> None:
    if limit is None:
        return
    if isinstance(limit, bool | str | float | list | dict):
        raise AwsFault("SerializationException", _unreadable(limit))
    if limit < 1:
        raise AwsFault(
            "ValidationException",
            f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: "
            "Member must have value greater than or equal to 1",
        )


def _unreadable(value: bool | str | float | list[Any] | dict[str, Any]) -> str:
    match value:
        case bool():
            return f"{str(value).upper()}_VALUE cannot be converted to Integer"
        case str():
            return "STRING_VALUE cannot be converted to Integer"
        case list():
            return "Unrecognized collection type class java.lang.Integer"
        case dict():
            return "Start of structure or map found where not expected"
    return "DECIMAL_VALUE cannot be converted to Integer"


def _binaries(body: Mapping[str, Any]) -> Iterator[str]:
    """The text of all binary values: `{"B": "..."}` and `{"BS": ["...", ...]}`."""
    pending: list[Any] = [body]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            match value:
                # an attribute may also be named `B`, but then its value is an object
                case {"B": str(text)} if len(value) == 1:
                    yield text
                case {"BS": [*texts]} if len(value) == 1:
                    yield from (text for text in texts if isinstance(text, str))
            pending += value.values()


def _check_base64(text: str) -> None:
    if len(text) % 4:
        message = f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(text)}"
        raise AwsFault("SerializationException", message)
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise AwsFault("SerializationException", "Invalid Base64 character") from error


def _pinned(body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The attributes that the key condition compares for equality, with their values."""
    names, values = body.get("ExpressionAttributeNames") or {}, body.get("ExpressionAttributeValues") or {}
    try:
        equalities = key_condition(body.get("KeyConditionExpression") or "").equalities
    except (NotUnderstood, TypeError):
        equalities = ()
    for name, value in equalities:
        yield names.get(name, name), values.get(value)
    for name, condition in (body.get("KeyConditions") or {}).items():
        match condition:
            case {"ComparisonOperator": "EQ", "AttributeValueList": [value]}:
                yield name, value
