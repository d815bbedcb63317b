"""The cost of a page of a listing: a Query on each shard, and on each time bucket until the page is full."""

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
from gateway.store.item_sizes import NOTHING_LEARNED, LearnedSizes, expected_item_bytes, learned
from gateway.store.plan import Attributes, ReadLimits
from gateway.store.table import PARALLEL_GROUPS

_HOUR = timedelta(hours=1)
_SIZES = {"hour": _HOUR, "day": 24 * _HOUR, "month": 28 * 24 * _HOUR}


def count_units(listing: Listing) -> float:
    """Returns the cost of `totalCount`: the rows of the counter, each read by its key."""
    shards = listing.counter.shards if listing.counter is not None else 0
    return shards * read_units(1, strong=listing.strong)


@dataclass(frozen=True)
class PagePrice:
    """`probed` means that `pageInfo` is selected, which may read one item beyond each end with a cursor."""

    model: Model
    listing: Listing
    limits: ReadLimits
    probed: bool
    attributes: Attributes = frozenset()

    def each(self, arguments: Mapping[str, Any], sizes: LearnedSizes = NOTHING_LEARNED) -> tuple[float, float]:
        listing, strong = self.listing, self.listing.strong
        place, count = self.model.place(listing), self._size(arguments)
        size = learned(sizes, listing.traffic.item_bytes, self.model, listing.entity, place.index)
        through = count * self._item_units(sizes) if self._reads_through else 0
        if listing.filter and arguments.get(FILTER):
            return self._filtered(arguments, size) + through, count
        shards = place.shards.read if place.shards is not None else 1
        spread = self._buckets(arguments)
        full = query_units(count + 1, size, strong=strong)
        empty = query_units(1, size, strong=strong)
        # this many buckets are read ahead, each as if it held the whole page; more only while the page is not full
        ahead = min(spread, PARALLEL_GROUPS)
        units = shards * (ahead * full + (spread - ahead) * empty)
        if self.probed:
            ends = ("after" in arguments) + ("before" in arguments)
            units += ends * shards * ahead * empty
        return units + through, count

    @cached_property
    def _reads_through(self) -> bool:
        return reads_through(self.model, self.listing, self.attributes)

    def _item_units(self, sizes: LearnedSizes) -> float:
        """Returns the cost of reading one item from the table."""
        return read_units(expected_item_bytes(self.model, self.listing.entity, sizes), strong=self.listing.strong)

    def _filtered(self, arguments: Mapping[str, Any], size: float) -> float:
        """Returns the cost of all that the page may read, whatever the filter keeps; each Query is rounded up."""
        listing, place = self.listing, self.model.place(self.listing)
        shards = place.shards.read if place.shards is not None else 1
        reads = listing.max_read // shards
        queries = reads.bit_length() * query_units(1, 1, strong=listing.strong)
        once = shards * (queries + query_units(reads, size, strong=listing.strong))
        ends = ("after" in arguments) + ("before" in arguments) if self.probed else 0
        return (1 + ends) * once

    def _size(self, arguments: Mapping[str, Any]) -> int:
        """Returns the requested page size; one that is too large is refused at run time."""
        size: int = arguments.get("first", arguments.get("last", self.limits.default_page))
        return min(max(size, 0), self.limits.page)

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
