"""The caller's own recent writes, which reads must not miss."""

from collections.abc import Iterable, Set
from functools import cached_property

import msgspec

from gateway.model.keys import ItemKey
from gateway.store.cache.written_keys import Written, WrittenPlace
from gateway.store.key_ranges import KeyRange

MOST_ITEMS = 32  # whose keys are remembered; beyond that, anything may have been written


class OwnWrite(msgspec.Struct, frozen=True):
    """When an item was written, in epoch seconds, and the index places where it may be since then."""

    at: int
    places: tuple[WrittenPlace, ...] = ()


class OwnWrites(msgspec.Struct, frozen=True, dict=True):
    """`anything_at` is when more items were written than can be remembered by key."""

    items: dict[ItemKey, OwnWrite] = {}
    anything_at: int | None = None

    @property
    def anything(self) -> bool:
        return self.anything_at is not None

    @cached_property
    def partitions(self) -> frozenset[str]:
        return frozenset(key.pk for key in self.items)

    def plus(self, writes: Iterable[Written] | None, at: int) -> "OwnWrites":
        """Returns a copy with these writes added; None means a write whose keys are not known."""
        if writes is None:
            return OwnWrites(anything_at=at)
        items = dict(self.items)
        for write in writes:
            places = tuple([place for place in write.places if place.index is not None])
            if write.key in items:
                # an update names only what it changes, so the item may still be in the places of an earlier write
                places = tuple(dict.fromkeys((*places, *items[write.key].places)))
            items[write.key] = OwnWrite(at, places)
        return OwnWrites(anything_at=at) if len(items) > MOST_ITEMS else OwnWrites(items, self.anything_at)

    def since(self, at: int) -> "OwnWrites | None":
        """Returns the writes since a time; None if there are none."""
        items = {key: write for key, write in self.items.items() if write.at >= at}
        anything_at = self.anything_at if self.anything_at is not None and self.anything_at >= at else None
        return OwnWrites(items, anything_at) if items or anything_at is not None else None

    def hold(self, keys: Set[ItemKey]) -> bool:
        """Whether one of these items was written."""
        return self.anything or not self.items.keys().isdisjoint(keys)

    def concern(self, index: str | None, partition: str, bounds: KeyRange) -> bool:
        """Whether a page of this partition may miss a written item."""
        if self.anything:
            return True
        return partition in self.partitions if index is None else bool(self.placed(index, partition, bounds))

    def placed(self, index: str, partition: str, bounds: KeyRange) -> frozenset[ItemKey]:
        """Returns the written items that may be on a page of an index."""
        return frozenset(
            key
            for key, write in self.items.items()
            if any(place.within(index, partition, bounds) for place in write.places)
        )


NO_WRITES = OwnWrites()
