"""The cache entries of one tenant, indexed so that a write finds the entries it invalidates."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import orjson
from cachetools import Cache, LRUCache

from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.store.cache.read_path import ReadKey
from gateway.store.cache.written_keys import Written, WrittenPlace

# An entry stores its rows as bytes, so that they cannot be modified and their size is known.

# the memory of an entry besides its content, measured by bench/cache.py: key, places in the indexes, bookkeeping
ENTRY_BYTES = 1_000
ROW_BYTES = 500
# The parts of its lifetime for which an entry is fresh and for which it is used at all. Each entry gets a random point
# in these ranges, so that rows that were read together are not refreshed together.
_FRESH, _SERVES = (0.6, 0.8), (0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Entry:
    content: bytes
    holds: tuple[ItemKey, ...]
    staleness: Staleness
    fresh_until: float
    over_at: float
    units: float
    size: int

    def rows(self, decode: Callable[[bytes], list[Any]] = orjson.loads) -> list[Any]:
        return decode(self.content)


@dataclass(frozen=True, slots=True)
class CachedRows:
    """Rows as they were read at a point in time, and the cost of the read."""

    rows: Sequence[Wire]
    holds: tuple[ItemKey, ...]
    read_at: float
    units: float = 0.0


def entry(answer: CachedRows, staleness: Staleness, share: float, expires_at: float | None) -> Entry | None:
    """Returns None if the rows may not be cached; `share` is the jitter from 0 to 1.

    `expires_at` is when the first row expires.
    """
    seconds = staleness.seconds if answer.rows else staleness.absence_seconds
    # INVARIANT: counted from the start of its read, an entry is never older than its declaration allows.
    over_at = answer.read_at + seconds * (_SERVES[0] + (_SERVES[1] - _SERVES[0]) * share)
    if expires_at is not None:
        over_at = min(over_at, expires_at)
    fresh_until = min(over_at, answer.read_at + seconds * (_FRESH[0] + (_FRESH[1] - _FRESH[0]) * share))
    if over_at <= answer.read_at:
        return None
    # a copy of the exact length, because orjson over-allocates by several kilobytes
    content = bytes(memoryview(orjson.dumps(answer.rows)))
    size = len(content) + ENTRY_BYTES + ROW_BYTES * len(answer.holds)
    return Entry(content, answer.holds, staleness, fresh_until, over_at, answer.units, size)


Partition = tuple[str | None, str]


class Segment:
    """INVARIANT: belongs to one tenant alone; it is dropped as a whole when the tenant is suspended."""

    def __init__(self, tenant: TenantId, limit: int) -> None:
        self.tenant = tenant
        self.shared_reads = 0  # in progress
        self._entries: LRUCache[ReadKey, Entry] = LRUCache(limit, getsizeof=attrgetter("size"))
        # dicts instead of sets, because they are ordered, so that equal histories give equal results
        self._by_item: defaultdict[ItemKey, dict[ReadKey, None]] = defaultdict(dict)
        self._by_partition: defaultdict[Partition, dict[ReadKey, None]] = defaultdict(dict)
        self._fingerprints: dict[str, str] = {}

    @property
    def size(self) -> int:
        return int(self._entries.currsize)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def idle(self) -> bool:
        return not self._entries and not self.shared_reads

    def get(self, read: ReadKey, now: float) -> Entry | None:
        entry = self._entries.get(read)
        return entry if entry is not None and now < entry.over_at else None

    def over(self, read: ReadKey, now: float) -> bool:
        """Whether the entry has ended; asking does not count as use."""
        return read not in self._entries or Cache.__getitem__(self._entries, read).over_at <= now

    def ends(self) -> Iterator[tuple[float, ReadKey]]:
        return ((Cache.__getitem__(self._entries, read).over_at, read) for read in self._entries)

    def put(self, read: ReadKey, entry: Entry) -> None:
        self.drop(read)
        self._entries[read] = entry
        for key in self._touched(read, entry):
            self._by_item[key][read] = None
        if read.item is None:
            self._by_partition[read.on, read.partition][read] = None

    def drop(self, read: ReadKey) -> bool:
        entry = self._entries.pop(read, None)
        if entry is not None:
            self._unlist(read, entry)
        return entry is not None

    def drop_oldest(self) -> None:
        """Drops the least recently used entry."""
        self._unlist(*self._entries.popitem())

    def _unlist(self, read: ReadKey, entry: Entry) -> None:
        for key in self._touched(read, entry):
            _discard(self._by_item, key, read)
        if read.item is None:
            _discard(self._by_partition, (read.on, read.partition), read)

    def affected(self, write: Written) -> dict[ReadKey, None]:
        """Returns the entries that the write invalidates: those with the item, and pages that it may be on now."""
        reads = dict(self._by_item.get(write.key, {}))
        for place in write.places:
            reads.update(dict.fromkeys(self._pages(place)))
        return reads

    def outdated(self, role: str, fingerprint: str) -> tuple[ReadKey, ...]:
        """Returns the role's entries under earlier policies."""
        before = self._fingerprints.get(role)
        if before == fingerprint:
            return ()
        self._fingerprints[role] = fingerprint
        # two roles may have the same policies; entries of the other role stay
        if before is None or before in self._fingerprints.values():
            return ()
        return tuple(read for read in self._entries if read.fingerprint == before)

    def _pages(self, place: WrittenPlace) -> Iterable[ReadKey]:
        if place.partition is not None:
            partitions: Iterable[Partition] = ((place.index, place.partition),)
        else:
            partitions = [where for where in self._by_partition if where[0] == place.index]
        for where in partitions:
            for read in self._by_partition.get(where, ()):
                if not isinstance(read.sort, str) and place.within(read.on, read.partition, read.sort):
                    yield read

    def _touched(self, read: ReadKey, entry: Entry) -> tuple[ItemKey, ...]:
        # a missing item is not among the rows, but may be created
        key = read.item
        return entry.holds if key is None else (key,)


def _discard(lists: dict[Any, dict[ReadKey, None]], key: Any, read: ReadKey) -> None:
    reads = lists[key]
    reads.pop(read, None)
    if not reads:
        del lists[key]
