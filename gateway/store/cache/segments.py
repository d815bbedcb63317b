"""The segments of all tenants: limited in bytes, and shared fairly when full.

Evicts the least recently used entry of the largest segment. Therefore a tenant that takes no more than an equal share
loses nothing, whatever the others do, and a tenant on its own may use everything.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count

from gateway.model.tenant import TenantId
from gateway.store.cache.read_path import ReadKey
from gateway.store.cache.segment import Entry, Segment
from gateway.store.cache.stats import Counts, Tally

_LARGEST_PART = 64  # an entry larger than this fraction of the limit is not cached
_SLACK = 1_024  # outdated marks that a heap may hold in addition to as many as it has valid ones


class Segments:
    def __init__(self, limit: int, tally: Tally[Counts], clock: Callable[[], float]) -> None:
        self._limit = limit
        self._tally = tally
        self._clock = clock
        self._segments: dict[TenantId, Segment] = {}
        self.bytes = 0
        self.entries = 0
        self._order = count()  # breaks ties, because segments cannot be compared
        self._sizes: list[tuple[int, int, Segment]] = []
        self._ends: list[tuple[float, int, Segment, ReadKey]] = []

    def __len__(self) -> int:
        return len(self._segments)

    def of(self, tenant: TenantId) -> Segment:
        segment = self._segments.get(tenant)
        if segment is None:
            segment = self._segments[tenant] = Segment(tenant, self._limit)
        return segment

    def tenants(self) -> tuple[TenantId, ...]:
        return tuple(self._segments)

    def find(self, tenant: TenantId) -> Segment | None:
        return self._segments.get(tenant)

    def holds(self, segment: Segment) -> bool:
        """Whether the segment is still the tenant's current one."""
        return self._segments.get(segment.tenant) is segment

    def keep(self, segment: Segment, read: ReadKey, entry: Entry) -> bool:
        self._drop_ended()
        if entry.size > self._limit // _LARGEST_PART or not self.holds(segment):
            return False
        self.drop(segment, read)
        segment.put(read, entry)
        self.bytes += entry.size
        self.entries += 1
        self._mark(segment, read, entry)
        while self.bytes > self._limit:
            self._evict()
        return True

    def drop(self, segment: Segment, read: ReadKey) -> bool:
        before = segment.size
        dropped = segment.drop(read)
        if dropped:
            self.bytes -= before - segment.size
            self.entries -= 1
        return dropped

    def clear(self, tenant: TenantId) -> int:
        """Drops all entries of the tenant and returns their number; reads in progress for it will not be cached."""
        segment = self._segments.pop(tenant, None)
        if segment is None:
            return 0
        self.bytes -= segment.size
        self.entries -= len(segment)
        return len(segment)

    def drop_idle(self, segment: Segment) -> None:
        if segment.idle and self.holds(segment):
            del self._segments[segment.tenant]

    def _evict(self) -> None:
        segment = self._largest()
        before = segment.size
        segment.drop_oldest()
        self.bytes -= before - segment.size
        self.entries -= 1
        self._tally.of(segment.tenant).evictions += 1
        heappush(self._sizes, (-segment.size, next(self._order), segment))

    def _largest(self) -> Segment:
        """Returns the largest segment; growth adds a new mark and shrinking does not, so a mark is never too small."""
        while True:
            size, _, segment = heappop(self._sizes)
            if not self.holds(segment):
                continue
            if -size == segment.size:
                return segment
            heappush(self._sizes, (-segment.size, next(self._order), segment))

    def _drop_ended(self) -> None:
        now = self._clock()
        while self._ends and self._ends[0][0] <= now:
            _, _, segment, read = heappop(self._ends)
            if not self.holds(segment):
                continue
            if segment.over(read, now):
                self.drop(segment, read)
            self.drop_idle(segment)

    def _mark(self, segment: Segment, read: ReadKey, entry: Entry) -> None:
        heappush(self._sizes, (-segment.size, next(self._order), segment))
        heappush(self._ends, (entry.over_at, next(self._order), segment, read))
        if len(self._sizes) > 2 * len(self._segments) + _SLACK:
            self._sizes = [(-member.size, next(self._order), member) for member in self._segments.values()]
            heapify(self._sizes)
        if len(self._ends) > 2 * self.entries + _SLACK:
            self._ends = [
                (end, next(self._order), member, read)
                for member in self._segments.values()
                for end, read in member.ends()
            ]
            heapify(self._ends)
