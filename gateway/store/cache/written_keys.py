"""The items that a write request changes, read from the request itself, so that no mutation can omit one."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.model.types import Wire
from gateway.store.key_ranges import KeyRange, contains

READS = frozenset({"GetItem", "BatchGetItem", "Query", "TransactGetItems"})

Body = Mapping[str, Any]

_WORD = re.compile(r"#?\w+")
_SET = re.compile(r"(#\w+) = (:\w+)")
_REMOVE = re.compile(r"\bREMOVE\b.*?(?=\b(?:SET|ADD|DELETE)\b|$)", re.DOTALL)
# a number as DynamoDB gives it back; written in another way it would be read in another way
_PLAIN_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,37}|-?(0|[1-9][0-9]{0,30})\.[0-9]{0,5}[1-9]")


@dataclass(frozen=True, slots=True)
class WrittenPlace:
    """Where an item is found now; None is what the request does not tell, and stands for any."""

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


@dataclass(frozen=True, slots=True)
class Written:
    key: ItemKey
    places: tuple[WrittenPlace, ...] = ()
    row: Wire | None = None  # the whole item as it is now, where the request tells it exactly
    gone: bool = False


def written(spec: TableSpec, operation: str, body: Body) -> tuple[Written, ...] | None:
    """Every item that the request may change; None where the request is not understood."""
    try:
        return tuple(_members(spec, operation, body))
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def written_anywhere(spec: TableSpec, keys: Iterable[ItemKey]) -> tuple[Written, ...]:
    """Items of which only the keys are known: each may be on any page of any index."""
    indexes = tuple(WrittenPlace(index.name, None, None) for index in spec.indexes)
    return tuple(Written(key, (WrittenPlace(None, key.pk, key.sk), *indexes)) for key in keys)


def _members(spec: TableSpec, operation: str, body: Body) -> Iterator[Written]:
    match operation:
        case "TransactWriteItems":
            for member in body["TransactItems"]:
                for kind, part in member.items():
                    yield from _member(spec, kind, part)
        case "BatchWriteItem":
            for requests in body["RequestItems"].values():
                for request in requests:
                    for kind, part in request.items():
                        yield from _member(spec, kind.removesuffix("Request"), part)
        case "PutItem" | "UpdateItem" | "DeleteItem":
            yield from _member(spec, operation.removesuffix("Item"), body)
        case _:
            raise ValueError(f"`{operation}` is not known here")


def _member(spec: TableSpec, kind: str, part: Body) -> Iterator[Written]:
    match kind:
        case "Put":
            item = part["Item"]
            key = _key(spec, item)
            indexes = (
                WrittenPlace(index.name, item[index.pk]["S"], item[index.sk]["S"])
                for index in spec.indexes
                if index.pk in item and index.sk in item
            )
            yield Written(key, (WrittenPlace(None, key.pk, key.sk), *indexes), item if _exact(item) else None)
        case "Update":
            key = _key(spec, part["Key"])
            yield Written(key, (WrittenPlace(None, key.pk, key.sk), *_moved(spec, part)))
        case "Delete":
            yield Written(_key(spec, part["Key"]), gone=True)
        case "ConditionCheck":
            return
        case _:
            raise ValueError(f"`{kind}` is not known here")


def _moved(spec: TableSpec, part: Body) -> Iterator[WrittenPlace]:
    """Where an update puts the item on indexes; only what changes is in it, so a partition may be missing."""
    names, values = part.get("ExpressionAttributeNames", {}), part.get("ExpressionAttributeValues", {})
    assigned, words = _parts(part["UpdateExpression"])
    sets = {names[name]: values[value]["S"] for name, value in assigned if "S" in values[value]}
    mentioned = {names.get(word, word) for word in words}
    for index in spec.indexes:
        # what is changed in a form that is not read here may be anywhere in the index
        if index.pk in mentioned or index.sk in mentioned:
            yield WrittenPlace(index.name, sets.get(index.pk), sets.get(index.sk))


@lru_cache(maxsize=1_024)
def _parts(expression: str) -> tuple[tuple[tuple[str, str], ...], frozenset[str]]:
    """What an update expression assigns, and all its words. Ours name placeholders only, so there are few of them."""
    # what leaves an index is on no new page of it
    expression = _REMOVE.sub("", expression)
    return tuple(_SET.findall(expression)), frozenset(_WORD.findall(expression))


def _key(spec: TableSpec, item: Body) -> ItemKey:
    return ItemKey(item[spec.pk]["S"], item[spec.sk]["S"])


def _exact(value: Any) -> bool:
    """Whether it will be read as it was written: DynamoDB writes numbers in its own way."""
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
