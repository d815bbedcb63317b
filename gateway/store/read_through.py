"""Listings on an index that lacks requested attributes: reads the items of its entries from the table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.table import Index
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.store.plan import Attributes
from gateway.store.rows import IndexEntry, Item, Rows


@dataclass(frozen=True, slots=True)
class Page:
    """Items in the listing's order; `more` says whether the listing continues in the direction that was read."""

    items: tuple[Item, ...]
    more: bool
    # where to continue, if that is not the last item: a filtered page reached its limit, or an item is gone from the
    # table
    reached: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a listing, in the direction of the read: items, or entries whose items must be read."""

    rows: list[Any]
    more: bool
    reached: str | None = None

    def page(self, *, backward: bool) -> Page:
        return Page(tuple(reversed(self.rows) if backward else self.rows), self.more, self.reached)


class ReadThrough(NamedTuple):
    """A read from the table for the entries of an index; equal ones are read together."""

    tenant: TenantId
    entity: str
    on: Index
    attributes: Attributes
    names: tuple[str, ...]
    cached: Staleness | None

    def items(self, rows: Rows, found: Found, read: Mapping[ItemKey, Wire]) -> Found:
        """Omits items that are gone or have left their place in the index, which may still show them."""
        items = [self._item(rows, entry, read.get(entry.key)) for entry in found.rows]
        return Found([item for item in items if item is not None], found.more, reached(found, items))

    def _item(self, rows: Rows, entry: IndexEntry, row: Wire | None) -> Item | None:
        if row is None or rows.moved(self.on, entry, row):
            return None
        return rows.item(self.tenant, row, self.entity, self.attributes, self.on.sk)


def reached(found: Found, items: list[Any]) -> str | None:
    """INVARIANT: nothing is skipped or read forever: a page that ends with a missing item continues after it."""
    if found.reached is None and found.more and items and items[-1] is None:
        position: str = found.rows[-1].position
        return position
    return found.reached
