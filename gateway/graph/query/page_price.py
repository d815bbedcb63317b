"""What a page of a listing takes: a Query on each shard, and on each time bucket until the page is full."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

from gateway.model.filters import FILTER
from gateway.model.keys import MAX_BUCKETS
from gateway.model.model import Model
from gateway.model.patterns import LAST_HOURS, Listing, reads_through
from gateway.store.capacity_units import query_units, read_units
from gateway.store.plan import Attributes, ReadLimits
from gateway.store.table import PARALLEL_GROUPS

_HOUR = timedelta(hours=1)
_SIZES = {"hour": _HOUR, "day": 24 * _HOUR, "month": 28 * 24 * _HOUR}


def count_units(listing: Listing) -> float:
    """What `totalCount` takes: the rows of the counter, each read by its key."""
    shards = listing.counter.shards if listing.counter is not None else 0
    return shards * read_units(1, strong=listing.strong)


def item_bytes(model: Model, entity: str) -> int:
    """The size of a whole item: the largest that a pattern declares."""
    sizes = [pattern.traffic.item_bytes for pattern in model.patterns.values() if pattern.entity == entity]
    return max(sizes, default=500)


def entry_bytes(model: Model, entity: str, index: str) -> int:
    """The size of an item's entry in an index: what its lists read, where it does not carry whole items."""
    whole = item_bytes(model, entity)
    if model.table.carried(model.table.index(index)) is None:
        return whole
    listings = [each for each in model.patterns.values() if isinstance(each, Listing) and each.entity == entity]
    sizes = [each.traffic.item_bytes for each in listings if model.place(each).index == index]
    return max(sizes, default=whole)


@dataclass(frozen=True)
class PagePrice:
    """`probed` tells that `pageInfo` is asked for, which may read one item beyond each end that a cursor gives."""

    model: Model
    listing: Listing
    limits: ReadLimits
    probed: bool
    attributes: Attributes = frozenset()

    def each(self, arguments: Mapping[str, Any]) -> tuple[float, float]:
        through = self._size(arguments) * self._item_units
        if self.listing.filter and arguments.get(FILTER):
            return self._filtered(arguments) + through, self._size(arguments)
        traffic, strong = self.listing.traffic, self.listing.strong
        place = self.model.place(self.listing)
        shards = place.shards.read if place.shards is not None else 1
        count, spread = self._size(arguments), self._buckets(arguments)
        full = query_units(count + 1, traffic.item_bytes, strong=strong)
        empty = query_units(1, traffic.item_bytes, strong=strong)
        # so many buckets are read ahead, each as if the whole page lay in it; further ones only while it is not full
        ahead = min(spread, PARALLEL_GROUPS)
        units = shards * (ahead * full + (spread - ahead) * empty)
        if self.probed:
            ends = ("after" in arguments) + ("before" in arguments)
            units += ends * shards * ahead * empty
        return units + through, count

    @cached_property
    def _item_units(self) -> float:
        """What reading one item from the table takes, where the index does not carry all that is asked for."""
        if not reads_through(self.model, self.listing, self.attributes):
            return 0
        return read_units(item_bytes(self.model, self.listing.entity), strong=self.listing.strong)

    def _filtered(self, arguments: Mapping[str, Any]) -> float:
        """All that the page may read, whatever the filter leaves of it; each of its Queries is rounded up."""
        listing, place = self.listing, self.model.place(self.listing)
        shards = place.shards.read if place.shards is not None else 1
        reads = listing.max_read // shards
        queries = reads.bit_length() * query_units(1, 1, strong=listing.strong)
        once = shards * (queries + query_units(reads, listing.traffic.item_bytes, strong=listing.strong))
        ends = ("after" in arguments) + ("before" in arguments) if self.probed else 0
        return (1 + ends) * once

    def _size(self, arguments: Mapping[str, Any]) -> int:
        """What is too large is refused when it runs."""
        wanted: int = arguments.get("first", arguments.get("last", self.limits.default_page))
        return min(max(wanted, 0), self.limits.page)

    def _buckets(self, arguments: Mapping[str, Any]) -> int:
        bucket = self.model.place(self.listing).bucket
        if bucket is None:
            return 1
        return min(int(self._length(arguments) / _SIZES[bucket.size]) + 2, MAX_BUCKETS)

    def _length(self, arguments: Mapping[str, Any]) -> timedelta:
        hours: int | None = arguments.get(LAST_HOURS)
        span: Mapping[str, Any] = arguments.get(self.listing.between or "") or {}
        if hours is not None:
            return min(max(hours, 0), MAX_BUCKETS) * _HOUR
        start, end = span.get("from"), span.get("to")
        if isinstance(start, datetime):
            return max((end if isinstance(end, datetime) else datetime.now(UTC)) - start, timedelta())
        return self.listing.window or _HOUR
