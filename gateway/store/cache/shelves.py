"""The shelves of all tenants: bounded by bytes, and shared fairly when they are full.

What has to make room is the least used entry of the tenant that takes most. So a tenant that takes no more than its
equal share loses nothing, whatever the others do, and a tenant that is alone may use everything.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count

from gateway.model.tenant import TenantId
from gateway.store.cache.entry import Entry
from gateway.store.cache.keys import ReadKey
from gateway.store.cache.shelf import Shelf
from gateway.store.cache.stats import Tally

_LARGEST_PART = 64  # an entry of more than this part of the room is not kept
_SLACK = 1_024  # outdated marks that a heap may hold beside as many as it has right ones


class Shelves:
    def __init__(self, limit: int, tally: Tally, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._tally = tally
        self._clock = clock
        self._shelves: dict[TenantId, Shelf] = {}
        self.bytes = 0
        self.entries = 0
        self._order = count()  # breaks ties, since shelves have no order
        self._sizes: list[tuple[int, int, Shelf]] = []
        self._ends: list[tuple[float, int, Shelf, ReadKey]] = []

    def __len__(self) -> int:
        return len(self._shelves)

    def of(self, tenant: TenantId) -> Shelf:
        shelf = self._shelves.get(tenant)
        if shelf is None:
            shelf = self._shelves[tenant] = Shelf(tenant, self._limit)
        return shelf

    def find(self, tenant: TenantId) -> Shelf | None:
        return self._shelves.get(tenant)

    def holds(self, shelf: Shelf) -> bool:
        """Whether the shelf is still the tenant's."""
        return self._shelves.get(shelf.tenant) is shelf

    def keep(self, shelf: Shelf, read: ReadKey, entry: Entry) -> bool:
        self._drop_ended()
        if entry.size > self._limit // _LARGEST_PART or not self.holds(shelf):
            return False
        self.drop(shelf, read)
        shelf.put(read, entry)
        self.bytes += entry.size
        self.entries += 1
        self._mark(shelf, read, entry)
        while self.bytes > self._limit:
            self._evict()
        return True

    def drop(self, shelf: Shelf, read: ReadKey) -> bool:
        before = shelf.size
        dropped = shelf.drop(read)
        if dropped:
            self.bytes -= before - shelf.size
            self.entries -= 1
        return dropped

    def clear(self, tenant: TenantId) -> int:
        """Everything of the tenant; what is being read for it will not be kept. How many entries that were."""
        shelf = self._shelves.pop(tenant, None)
        if shelf is None:
            return 0
        self.bytes -= shelf.size
        self.entries -= len(shelf)
        return len(shelf)

    def drop_idle(self, shelf: Shelf) -> None:
        if shelf.idle and self.holds(shelf):
            del self._shelves[shelf.tenant]

    def _evict(self) -> None:
        shelf = self._largest()
        before = shelf.size
        shelf.drop_oldest()
        self.bytes -= before - shelf.size
        self.entries -= 1
        self._tally.of(shelf.tenant).evictions += 1
        heappush(self._sizes, (-shelf.size, next(self._order), shelf))

    def _largest(self) -> Shelf:
        """A shelf that grows is marked anew, one that shrinks is not: so a mark is never too small."""
        while True:
            size, _, shelf = heappop(self._sizes)
            if not self.holds(shelf):
                continue
            if -size == shelf.size:
                return shelf
            heappush(self._sizes, (-shelf.size, next(self._order), shelf))

    def _drop_ended(self) -> None:
        now = self._clock()
        while self._ends and self._ends[0][0] <= now:
            _, _, shelf, read = heappop(self._ends)
            if not self.holds(shelf):
                continue
            if shelf.over(read, now):
                self.drop(shelf, read)
            self.drop_idle(shelf)

    def _mark(self, shelf: Shelf, read: ReadKey, entry: Entry) -> None:
        heappush(self._sizes, (-shelf.size, next(self._order), shelf))
        heappush(self._ends, (entry.over_at, next(self._order), shelf, read))
        if len(self._sizes) > 2 * len(self._shelves) + _SLACK:
            self._sizes = [(-each.size, next(self._order), each) for each in self._shelves.values()]
            heapify(self._sizes)
        if len(self._ends) > 2 * self.entries + _SLACK:
            self._ends = [
                (end, next(self._order), each, read) for each in self._shelves.values() for end, read in each.ends()
            ]
            heapify(self._ends)
