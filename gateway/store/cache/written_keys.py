"""Finds the items that a write request changes in the request itself, so that no mutation can omit one."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.model.types import Wire
from gateway.store.key_ranges import KeyRange, contains

READS = frozenset({"GetItem", "BatchGetItem", "Query", "TransactGetItems"})

Body = Mapping[str, Any]

_CHECK = "ConditionCheck"  # changes nothing
_WORD = re.compile(r"#?\w+")
_SET = re.compile(r"(#\w+) = (:\w+)")
_REMOVE = re.compile(r"\bREMOVE\b.*?(?=\b(?:SET|ADD|DELETE)\b|$)", re.DOTALL)
# a number in the form that DynamoDB returns; it normalizes any other form
_PLAIN_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,37}|-?(0|[1-9][0-9]{0,30})\.[0-9]{0,5}[1-9]")


class WrittenPlace(msgspec.Struct, frozen=True):
    """Where an item is now; None means that the request does not say, and stands for any value."""

    index: str | None
    partition: str | None
    sort: str | None

    def within(self, index: str | None, partition: str, bounds: KeyRange) -> bool:
        """Whether the item can be on a page of this partition."""
        return (
            self.index == index
            and self.partition in (None, partition)
            and (self.sort is None or contains(bounds, self.sort))
        )


class Written(msgspec.Struct, frozen=True):
    key: ItemKey
    places: tuple[WrittenPlace, ...] = ()
    row: Wire | None = None  # the whole new item, if the request contains it exactly
    gone: bool = False


def written(spec: TableSpec, operation: str, body: Body) -> tuple[Written, ...] | None:
    """Returns every item that the request may change; None if the request is not understood."""
    try:
        return tuple([_member(spec, kind, part) for kind, part in _members(operation, body) if kind != _CHECK])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def written_anywhere(spec: TableSpec, keys: Iterable[ItemKey]) -> tuple[Written, ...]:
    """Returns items of which only the keys are known: each may be on any page of any index."""
    indexes = tuple(WrittenPlace(index.name, None, None) for index in spec.indexes)
    return tuple(Written(key, (WrittenPlace(None, key.pk, key.sk), *indexes)) for key in keys)


def _members(operation: str, body: Body) -> list[tuple[str, Body]]:
    """Returns the writes in a request, each with its kind."""
    match operation:
        case "TransactWriteItems":
            return [pair for member in body["TransactItems"] for pair in member.items()]
        case "BatchWriteItem":
            requests = [request for requests in body["RequestItems"].values() for request in requests]
            return [(kind.removesuffix("Request"), part) for request in requests for kind, part in request.items()]
        case "PutItem" | "UpdateItem" | "DeleteItem":
            return [(operation.removesuffix("Item"), body)]
        case _:
            raise ValueError(f"`{operation}` is not known here")


def _member(spec: TableSpec, kind: str, part: Body) -> Written:
    match kind:
        case "Update":
            key = _key(spec, part["Key"])
            return Written(key, (WrittenPlace(None, key.pk, key.sk), *_moved(spec, part)))
        case "Put":
            item = part["Item"]
            key = _key(spec, item)
            indexes = (
                WrittenPlace(index.name, item[index.pk]["S"], item[index.sk]["S"])
                for index in spec.indexes
                if index.pk in item and index.sk in item
            )
            return Written(key, (WrittenPlace(None, key.pk, key.sk), *indexes), item if _exact(item) else None)
        case "Delete":
            return Written(_key(spec, part["Key"]), gone=True)
        case _:
            raise ValueError(f"`{kind}` is not known here")


def _moved(spec: TableSpec, part: Body) -> list[WrittenPlace]:
    """Returns the item's new places in indexes; an update contains only changes, so the partition may be missing."""
    names = part.get("ExpressionAttributeNames", {})
    assigned, mentioned = _parts(part["UpdateExpression"], tuple(names.items()))
    moved = [index for index in spec.indexes if index.pk in mentioned or index.sk in mentioned]
    if not moved:
        return []
    values = part.get("ExpressionAttributeValues", {})
    sets = {name: values[value]["S"] for name, value in assigned if "S" in values[value]}
    # an assignment in a form that is not parsed here may put the item anywhere in the index
    return [WrittenPlace(index.name, sets.get(index.pk), sets.get(index.sk)) for index in moved]


@lru_cache(maxsize=1_024)
def _parts(expression: str, aliases: tuple[tuple[str, str], ...]) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    """Returns the attributes that an update assigns, and all that it mentions; cached, as there are few updates."""
    # an item that leaves an index is on no new page of it
    expression, names = _REMOVE.sub("", expression), dict(aliases)
    assigned = tuple((names[name], value) for name, value in _SET.findall(expression))
    return assigned, frozenset(names.get(word, word) for word in _WORD.findall(expression))


def _key(spec: TableSpec, item: Body) -> ItemKey:
    return ItemKey(item[spec.pk]["S"], item[spec.sk]["S"])


def _exact(value: Any) -> bool:
    """Whether DynamoDB returns the value as it was written; it normalizes numbers."""
    if isinstance(value, Mapping):
        for kind, part in value.items():
            if kind == "N" and isinstance(part, str) and not _PLAIN_NUMBER.fullmatch(part):
                return False
            if kind == "NS" and isinstance(part, list) and not all(map(_PLAIN_NUMBER.fullmatch, part)):
                return False
            if not _exact(part):
                return False
        return True
    return all(map(_exact, value)) if isinstance(value, list) else True
