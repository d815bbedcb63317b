"""What is kept of one tenant, and how to find what a write makes wrong."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from cachetools import Cache, LRUCache

from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId
from gateway.store.cache.entry import Entry
from gateway.store.cache.flights import Flight
from gateway.store.cache.keys import ReadKey
from gateway.store.cache.writes import Place, Written

Partition = tuple[str | None, str]


class Shelf:
    """INVARIANT: one tenant's alone; it is dropped as a whole when the tenant is suspended."""

    def __init__(self, tenant: TenantId, limit: int) -> None:
        self.tenant = tenant
        self.flights: dict[ReadKey, Flight] = {}
        self._entries: LRUCache[ReadKey, Entry] = LRUCache(limit, getsizeof=_size)
        self._by_item: defaultdict[ItemKey, set[ReadKey]] = defaultdict(set)
        self._by_partition: defaultdict[Partition, set[ReadKey]] = defaultdict(set)
        self._fingerprints: dict[str, str] = {}

    @property
    def size(self) -> int:
        return int(self._entries.currsize)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def idle(self) -> bool:
        return not self._entries and not self.flights

    def get(self, read: ReadKey, now: float) -> Entry | None:
        entry = self._entries.get(read)
        return entry if entry is not None and now < entry.over_at else None

    def over(self, read: ReadKey, now: float) -> bool:
        """Whether its time is over; asking is no use of it."""
        return read not in self._entries or Cache.__getitem__(self._entries, read).over_at <= now

    def ends(self) -> Iterator[tuple[float, ReadKey]]:
        return ((entry.over_at, read) for read, entry in self._everything())

    def put(self, read: ReadKey, entry: Entry) -> None:
        self.drop(read)
        self._entries[read] = entry
        for key in self._touched(read, entry):
            self._by_item[key].add(read)
        if read.item is None:
            self._by_partition[read.on, read.partition].add(read)

    def drop(self, read: ReadKey) -> bool:
        entry = self._entries.pop(read, None)
        if entry is not None:
            self._unlist(read, entry)
        return entry is not None

    def drop_oldest(self) -> None:
        """The one that was not used for longest."""
        self._unlist(*self._entries.popitem())

    def _unlist(self, read: ReadKey, entry: Entry) -> None:
        for key in self._touched(read, entry):
            _discard(self._by_item, key, read)
        if read.item is None:
            _discard(self._by_partition, (read.on, read.partition), read)

    def affected(self, write: Written) -> set[ReadKey]:
        """The entries that the write makes wrong: those that hold the item, and pages on which it may be now."""
        found = set(self._by_item.get(write.key, ()))
        for place in write.places:
            found.update(self._pages(place))
        return found

    def outdated(self, role: str, fingerprint: str) -> tuple[ReadKey, ...]:
        """What was kept for the role under other policies than it has now."""
        before = self._fingerprints.get(role)
        if before == fingerprint:
            return ()
        self._fingerprints[role] = fingerprint
        # two roles may have the same policies: those of another role stay
        if before is None or before in self._fingerprints.values():
            return ()
        return tuple(read for read in self._entries if read.fingerprint == before)

    def _everything(self) -> Iterator[tuple[ReadKey, Entry]]:
        return ((read, Cache.__getitem__(self._entries, read)) for read in self._entries)

    def _pages(self, place: Place) -> Iterable[ReadKey]:
        if place.partition is not None:
            known: Iterable[Partition] = ((place.index, place.partition),)
        else:
            known = [where for where in self._by_partition if where[0] == place.index]
        for where in known:
            for read in self._by_partition.get(where, ()):
                if not isinstance(read.sort, str) and place.within(read.on, read.partition, read.sort):
                    yield read

    def _touched(self, read: ReadKey, entry: Entry) -> tuple[ItemKey, ...]:
        # an item that does not exist is not in the answer, and can come into being
        key = read.item
        return entry.holds if key is None else (key,)


def _discard(lists: dict[Any, set[ReadKey]], key: Any, read: ReadKey) -> None:
    reads = lists[key]
    reads.discard(read)
    if not reads:
        del lists[key]


def _size(entry: Entry) -> int:
    return entry.size
