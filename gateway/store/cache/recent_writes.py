"""Recent writes of this process: replicas and indexes may lag behind them, so such rows are not cached."""

import math
from collections import Counter, deque
from typing import TypeVar

from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId
from gateway.store.cache.read_path import ReadKey
from gateway.store.cache.written_keys import Written, WrittenPlace

K = TypeVar("K")

NEVER = -math.inf
_MOST = 1_000  # writes of one tenant; with more, all its items count as written


class _Tenant:
    __slots__ = ("everything", "items", "last", "places")

    def __init__(self) -> None:
        self.items: dict[ItemKey, float] = {}
        self.places: dict[WrittenPlace, float] = {}
        self.everything = self.last = NEVER

    def note(self, writes: tuple[Written, ...], now: float, since: float) -> None:
        for write in writes:
            _put_last(self.items, write.key, now)
            for place in write.places:
                _put_last(self.places, place, now)
        _drop_first(self.items, since)
        _drop_first(self.places, since)


class RecentWrites:
    """Remembers writes for `seconds`; all times are on the caller's clock."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tenants: dict[TenantId, _Tenant] = {}
        self._ages: deque[tuple[float, TenantId]] = deque()

    def note(self, tenant: TenantId, writes: tuple[Written, ...] | None, now: float) -> None:
        """Records writes; None means a write that may have changed anything of the tenant."""
        self._forget(now)
        tenant_writes = self._tenants.get(tenant)
        if tenant_writes is None:
            tenant_writes = self._tenants[tenant] = _Tenant()
            self._ages.append((now, tenant))
        tenant_writes.last = now
        tenant_writes.note(writes or (), now, now - self._seconds)
        if writes is None or len(tenant_writes.items) > _MOST or len(tenant_writes.places) > _MOST:
            tenant_writes.everything = now
            tenant_writes.items.clear()
            tenant_writes.places.clear()

    def last(self, tenant: TenantId) -> float:
        """Returns when the tenant last wrote anything."""
        tenant_writes = self._tenants.get(tenant)
        return NEVER if tenant_writes is None else tenant_writes.last

    def item(self, tenant: TenantId, key: ItemKey) -> float:
        """Returns when this item may last have been written."""
        tenant_writes = self._tenants.get(tenant)
        return NEVER if tenant_writes is None else max(tenant_writes.everything, tenant_writes.items.get(key, NEVER))

    def shown(self, read: ReadKey, holds: tuple[ItemKey, ...]) -> float:
        """Returns when a write may last have changed the result of this read; `holds` are the items in it."""
        tenant_writes = self._tenants.get(read.tenant)
        if tenant_writes is None:
            return NEVER
        held_at = max((tenant_writes.items.get(key, NEVER) for key in holds), default=NEVER)
        key = read.item
        at = tenant_writes.items.get(key, NEVER) if key is not None else self._placed(tenant_writes, read)
        return max(held_at, at, tenant_writes.everything)

    def partition(self, read: ReadKey) -> float:
        """Returns when something was last written to the partition of the table that this read concerns."""
        tenant_writes = self._tenants.get(read.tenant)
        if tenant_writes is None or read.on is not None:
            return NEVER
        here = (at for key, at in tenant_writes.items.items() if key.pk == read.partition)
        return max((tenant_writes.everything, *here))

    def _placed(self, tenant_writes: _Tenant, read: ReadKey) -> float:
        bounds = read.sort
        if isinstance(bounds, str):
            return NEVER
        places = tenant_writes.places.items()
        return max((at for place, at in places if place.within(read.on, read.partition, bounds)), default=NEVER)

    def _forget(self, now: float) -> None:
        while self._ages and self._ages[0][0] <= now - self._seconds:
            _, tenant = self._ages.popleft()
            last = self._tenants[tenant].last
            if last <= now - self._seconds:
                del self._tenants[tenant]
            else:
                # once per tenant, however much it writes
                self._ages.append((last, tenant))


def _put_last(times: dict[K, float], key: K, now: float) -> None:
    times.pop(key, None)
    times[key] = now


def _drop_first(times: dict[K, float], since: float) -> None:
    """Drops expired entries; the last entry of the dictionary is the newest."""
    while times:
        key = next(iter(times))
        if times[key] > since:
            return
        del times[key]


class Underway:
    """Writes in progress: if two write the same item, this process cannot tell which one came last."""

    def __init__(self) -> None:
        self._running: Counter[ItemKey] = Counter()
        self._contested: set[ItemKey] = set()

    def begin(self, writes: tuple[Written, ...]) -> None:
        for write in writes:
            self._running[write.key] += 1
            if self._running[write.key] > 1:
                self._contested.add(write.key)

    def end(self, writes: tuple[Written, ...]) -> frozenset[ItemKey]:
        """Returns the items of these writes that another write touched in the meantime."""
        contested = frozenset(write.key for write in writes if write.key in self._contested)
        for write in writes:
            self._running[write.key] -= 1
            if not self._running[write.key]:
                del self._running[write.key]
                self._contested.discard(write.key)
        return contested
