"""The shape of a request: everything that the evaluator reads, except the values of the leading keys.

Requests of one shape differ only in their keys and values, so one prepared permission serves all of them. Only forms
that the store sends have a shape; anything else is left to the evaluator.
"""

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, Final

import msgspec

from gateway.iam.dynamodb.key_conditions import key_condition
from gateway.iam.dynamodb.key_schemas import TableRegistry
from gateway.iam.dynamodb.wire import Body
from gateway.iam.dynamodb.writes import ON_FAILURE, PARAMETERS

_READ: Final = frozenset(("ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"))
_GET: Final = _READ | {"TableName", "Key", "ReturnConsumedCapacity"}
_BATCH: Final = frozenset(("RequestItems", "ReturnConsumedCapacity"))
_BATCH_MEMBER: Final = _READ | {"Keys"}
_QUERY: Final = _READ | {
    *("TableName", "IndexName", "KeyConditionExpression", "ExpressionAttributeValues", "FilterExpression", "Select"),
    *("Limit", "ScanIndexForward", "ExclusiveStartKey", "ReturnConsumedCapacity"),
}
_WRITE: Final = frozenset(
    (
        *("TableName", "Key", "Item", "ConditionExpression", "UpdateExpression", "ExpressionAttributeNames"),
        *("ExpressionAttributeValues", "ReturnValues", "ReturnConsumedCapacity", ON_FAILURE),
    )
)
_QUERIED: Final = ("TableName", "IndexName", "KeyConditionExpression", "FilterExpression", "Select")
_WRITTEN: Final = (
    *("TableName", "ConditionExpression", "UpdateExpression", "ReturnValues", "ReturnConsumedCapacity", ON_FAILURE),
)
_MEMBERS: Final = frozenset(("Put", "Update", "Delete", "ConditionCheck"))


class RequestPart(msgspec.Struct, frozen=True):
    """A separately authorised part: a whole request, or one member of a transaction.

    `holders` are the objects that hold the leading keys. `operation` and `body` are an example of the shape.
    """

    shape: tuple[object, ...]
    holders: list[dict[str, Any]]
    operation: str
    body: Body


def parts_of(operation: str, body: Body) -> list[RequestPart] | None:
    """None if the request has no shape; may raise on a body of wrong types, which has none either."""
    if operation == "TransactWriteItems":
        if not body.keys() <= PARAMETERS[operation]:
            return None
        members = body["TransactItems"]
        parts: list[RequestPart] = []
        for member in members if type(members) is list else (None,):
            changed = _member(member)
            if changed is None:
                return None
            parts.append(changed)
        return parts
    reader = _READERS.get(operation)
    part = reader(operation, body) if reader else None
    return None if part is None else [part]


def key_name(part: RequestPart, place: TableRegistry) -> str | None:
    """The name under which each holder of this shape has its leading key."""
    body = part.body
    if part.operation != "Query":
        table = next(iter(body["RequestItems"])) if part.operation == "BatchGetItem" else _written(body)["TableName"]
        return place.table(table).keys.pk
    # The evaluator reads every value that is compared for equality; a single one leaves no doubt.
    equalities = key_condition(body["KeyConditionExpression"]).equalities
    return equalities[0][1] if len(equalities) == 1 else None


def leading_keys(holders: list[dict[str, Any]], name: str) -> list[str] | None:
    """The text of each leading key; None if one is not a string."""
    texts: list[str] = []
    for holder in holders:
        value = holder[name] if type(holder) is dict else None
        if type(value) is not dict or len(value) != 1:
            return None
        text = value["S"]
        if type(text) is not str:
            return None
        texts.append(text)
    return texts or None


def _get(operation: str, body: Body) -> RequestPart | None:
    if not body.keys() <= _GET:
        return None
    key = body["Key"]
    return RequestPart((operation, body["TableName"], tuple(key), _read(body)), [key], operation, body)


def _batch_get(operation: str, body: Body) -> RequestPart | None:
    tables = body["RequestItems"]
    if not body.keys() <= _BATCH or type(tables) is not dict or len(tables) != 1:
        return None
    [(table, member)] = tables.items()
    if type(member) is not dict or not member.keys() <= _BATCH_MEMBER or type(member["Keys"]) is not list:
        return None
    keys = member["Keys"]
    names = frozenset(chain.from_iterable(keys))
    capacity = body.get("ReturnConsumedCapacity")
    shape = (operation, tuple(body), capacity, table, names, _read(member))
    return RequestPart(shape, keys, operation, body)


def _query(operation: str, body: Body) -> RequestPart | None:
    if not body.keys() <= _QUERY:
        return None
    shape = (operation, *map(body.get, _QUERIED), _read(body))
    return RequestPart(shape, [body["ExpressionAttributeValues"]], operation, body)


def _write(operation: str, body: Body) -> RequestPart | None:
    return _changed(operation, body, body)


def _member(member: Any) -> RequestPart | None:
    if type(member) is not dict:
        return None
    [(kind, write)] = member.items()
    if kind not in _MEMBERS or type(write) is not dict:
        return None
    return _changed(kind, write, {"TransactItems": [member]})


def _changed(kind: str, write: Body, body: Body) -> RequestPart | None:
    if not write.keys() <= _WRITE:
        return None
    holder = write["Item" if "Item" in write else "Key"]
    shape = (kind, tuple(write), tuple(holder), _aliases(write), *map(write.get, _WRITTEN))
    return RequestPart(shape, [holder], kind if body is write else "TransactWriteItems", body)


def _written(body: Body) -> Body:
    """The part of an example that names its table."""
    if "TransactItems" not in body:
        return body
    [member] = body["TransactItems"]
    write: Body = next(iter(member.values()))
    return write


def _read(body: Body) -> tuple[object, ...]:
    # Includes the names of its parameters, because null is not the same as absent.
    return tuple(body), body.get("ProjectionExpression"), body.get("ReturnConsumedCapacity"), _aliases(body)


def _aliases(body: Body) -> tuple[str, ...]:
    names = body.get("ExpressionAttributeNames")
    if names is None:
        return ()
    if type(names) is not dict:
        raise TypeError("expression attribute names are an object")
    return (*names, *names.values())


_READERS: Final[Mapping[str, Callable[[str, Body], RequestPart | None]]] = {
    "GetItem": _get,
    "BatchGetItem": _batch_get,
    "Query": _query,
    "PutItem": _write,
    "UpdateItem": _write,
    "DeleteItem": _write,
}
