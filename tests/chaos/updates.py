"""Updates of one item by their records: which of them wrote it, and whether the others could leave it as it was.

An update whose values the item has already writes nothing but its record, and the version stays.
"""

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import orjson

from tests.chaos.ledger import Entry
from tests.chaos.stored import Contents, Stored


def miscounted(found: Contents, item: Stored, changes: list[Entry]) -> Iterator[str]:
    """`changes` are those that were made, with the creation; the version counts all that wrote the item."""
    written = [entry for entry in changes if _wrote(found, entry, item)]
    if item.version != len(written):
        yield f"{item.key} has version {item.version}, and {len(written)} changes wrote it"
    # an address that is added raises the version of its user, and sets nothing
    setting = [entry for entry in written if entry.mutation.startswith(("create", "update"))]
    for entry in changes:
        given = {name: value for name, value in entry.input.items() if name not in item.entity.key_names}
        if entry not in written and not (entry.mutation.startswith("update") and _had(setting, given, entry)):
            yield f"{entry.mutation} {entry.key} was made and left {item.key} as it was, which had other values"
    for name in {name for entry in setting for name in entry.input}:
        if not _held(setting, name, item.values.get(name), math.inf, math.inf):
            yield f"{item.key} has the {name} {item.values.get(name)!r}, which no change left there"


def _wrote(found: Contents, entry: Entry, item: Stored) -> bool:
    """A change without a record, which is a fault of its own, counts as one that wrote."""
    record = found.rows.get(entry.record)
    return record is None or [*item.key] in orjson.loads(record["outcome"]["S"])["written"]


def _had(setting: list[Entry], given: dict[str, Any], entry: Entry) -> bool:
    return all(_held(setting, name, value, entry.began, entry.ended) for name, value in given.items())


def _held(setting: list[Entry], name: str, value: Any, began: float, ended: float) -> bool:
    """Whether the item may have had the value between these moments: one change set it, and none replaced it before."""
    setters = [entry for entry in setting if name in entry.input]
    return any(
        _same(setter.input[name], value)
        and setter.began < ended
        and not any(setter.ended < other.began and other.ended < began for other in setters)
        for setter in setters
    )


def _same(given: Any, held: Any) -> bool:
    """What a client gave, and what another gave or the item has: sets have no order, amounts no trailing zeros."""
    if isinstance(given, list):
        return set(given) == set(held or ())
    return Decimal(given) == held if isinstance(held, Decimal) else bool(given == held)
