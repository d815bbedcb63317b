"""The queue in front of operations: fair between tenants by cost, and newest first under overload.

Between tenants it uses start-time fair queueing: each tenant has a virtual time, which advances by the cost of each of
its operations, and the tenant with the lowest virtual time is served next. This shares capacity like deficit round
robin, but needs no quantum: a quantum would have to be as large as the most expensive operation, and would let a tenant
with cheap operations run hundreds of them in a row.

Within a tenant it uses adaptive LIFO: the oldest operation is served first, until it has waited longer than a burst
would explain; then the newest is served first, because its caller is still waiting. Operations that are expected to
wait too long at the measured service rate are refused immediately, the oldest first, and so are those that have waited
twice as long.
"""

import asyncio
import heapq
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count
from math import ceil
from typing import Final

from gateway.errors import Overloaded
from gateway.model.tenant import TenantId

OPERATION_COST: Final = 10.0  # capacity units that an operation costs before it reads or writes anything
MAX_WAIT: Final = 0.5  # seconds that an operation may be expected to wait; few clients give up sooner
_SERVICE_TIMES: Final = 2  # slow operations may wait for as long as this many of them take
_MAX_AGE: Final = 2  # times the maximum wait; an operation that has waited this long is refused
_BURST: Final = 0.2  # times the maximum wait; until the oldest has waited this long, it is served first
_LONGEST_HINT: Final = 30  # seconds
_REMEMBERED: Final = 60  # seconds after which a measured rate is outdated


class FairQueue:
    """At most `concurrent` operations run at a time, over all tenants; at most `queued` operations per tenant wait.

    INVARIANT: while an operation waits, all places are taken.
    """

    def __init__(self, concurrent: int = 64, queued: int = 1_000) -> None:
        self._places = self._free = concurrent
        self._most = queued
        self._tenants: dict[TenantId, _TenantQueue] = {}
        self._order: list[tuple[float, int, _TenantQueue]] = []  # a heap with one entry per tenant, by its virtual time
        self._numbers = count()
        self._virtual = 0.0
        self._waiting = self._active = 0  # waiting operations; tenants that have waiting operations
        self._cost = 0.0  # of all waiting operations
        self._busy_since = 0.0
        self._rate = _Rate(max(64, 4 * concurrent))

    @property
    def running(self) -> int:
        return self._places - self._free

    @property
    def waiting(self) -> int:
        return self._waiting

    @property
    def tenants(self) -> int:
        """The number of tenants whose virtual time is stored."""
        return len(self._tenants)

    def acquire_at_once(self) -> bool:
        """Takes a place if one is free, as `acquire` does; returns whether it did."""
        if not self._free:
            return False
        self._free -= 1
        return True

    async def acquire(self, tenant: TenantId, cost: float, deadline: float) -> None:
        """Returns when the operation may run; the caller must then call `release`.

        Raises `Overloaded` if the operation cannot be served in time.
        """
        if self.acquire_at_once():
            return
        waiter = self._enqueue(tenant, cost, deadline)
        try:
            refusal = await waiter.turn
        except asyncio.CancelledError:
            if waiter.granted:
                # the caller was cancelled just after it got the place: pass it on
                self.release()
            else:
                self._remove(waiter)
            raise
        if refusal is not None:
            raise refusal

    def release(self) -> None:
        while self._waiting:
            waiter = self._next()
            self._remove(waiter)
            if not waiter.turn.done():  # otherwise its caller was cancelled: try the next one
                self._grant(waiter)
                return
        self._free += 1
        if self._tenants:
            # there is capacity for all, so virtual times no longer matter
            self._tenants.clear()
            self._order.clear()
            self._virtual = self._cost = 0.0

    def _next(self) -> "_Waiter":
        while not (queue := self._order[0][2]).waiters:
            # it has no waiting operations, and the other tenants have caught up with it
            heapq.heappop(self._order)
            del self._tenants[queue.tenant]
        return queue.first(_now(), self._max_wait * _BURST)

    def _grant(self, waiter: "_Waiter") -> None:
        queue = waiter.queue
        self._rate.served(_now(), waiter.cost)
        self._virtual = queue.start
        queue.start += waiter.cost
        heapq.heapreplace(self._order, (queue.start, next(self._numbers), queue))
        waiter.turn.set_result(None)

    def _enqueue(self, tenant: TenantId, cost: float, deadline: float) -> "_Waiter":
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not self._waiting:
            self._busy_since = now
            self._rate.resume(now)
        queue = self._tenants.get(tenant)
        if queue is None:
            queue = self._tenants[tenant] = _TenantQueue(tenant, self._virtual)
            heapq.heappush(self._order, (queue.start, next(self._numbers), queue))
        waiter = _Waiter(queue, cost, now, loop.create_future())
        self._add(waiter)
        waiter.timer = loop.call_at(self._latest_start(now, deadline), self._refuse, waiter)
        self._trim(queue)
        return waiter

    def _latest_start(self, now: float, deadline: float) -> float:
        left = deadline - now
        # reserve at most half of the remaining time for running: if nothing were admitted, nothing would be measured
        needed = min(max(self._service_seconds, left / 10), left / 2)
        return min(now + _MAX_AGE * self._max_wait, deadline - needed)

    def _add(self, waiter: "_Waiter") -> None:
        queue = waiter.queue
        self._active += not queue.waiters
        queue.waiters[waiter] = None
        queue.cost += waiter.cost
        self._waiting += 1
        self._cost += waiter.cost

    def _remove(self, waiter: "_Waiter") -> None:
        """Removes a waiting operation; does nothing if it was already removed."""
        queue = waiter.queue
        if waiter not in queue.waiters:
            return
        del queue.waiters[waiter]
        if waiter.timer is not None:
            waiter.timer.cancel()
        queue.cost -= waiter.cost
        self._active -= not queue.waiters
        self._waiting -= 1
        self._cost -= waiter.cost

    def _refuse(self, waiter: "_Waiter") -> None:
        self._remove(waiter)
        if not waiter.turn.done():
            waiter.turn.set_result(Overloaded("the gateway is overloaded; try again later", self._retry_after()))

    def _trim(self, queue: "_TenantQueue") -> None:
        """Refuses operations that would be served too late; under overload these are the oldest."""
        while queue.waiters and (len(queue.waiters) > self._most or self._too_long(queue)):
            self._refuse(queue.oldest)

    def _too_long(self, queue: "_TenantQueue") -> bool:
        """Whether the tenant's last operation would wait too long, even if no other operations arrived."""
        last = queue.oldest.cost
        limit = self._max_wait
        return self._seconds(self._cost - last) > limit and self._seconds((queue.cost - last) * self._active) > limit

    def _retry_after(self) -> int:
        """Seconds after which to retry; grows with the length of the overload."""
        return min(_LONGEST_HINT, max(1, ceil(_now() - self._busy_since)))

    def _seconds(self, cost: float) -> float:
        return cost * self._rate.seconds_per_cost

    @property
    def _service_seconds(self) -> float:
        return self._rate.seconds_per_operation * self._places

    @property
    def _max_wait(self) -> float:
        return max(MAX_WAIT, _SERVICE_TIMES * self._service_seconds)


@dataclass(slots=True, eq=False)
class _Waiter:
    queue: "_TenantQueue"
    cost: float
    since: float
    turn: "asyncio.Future[Overloaded | None]"
    timer: asyncio.TimerHandle | None = None

    @property
    def granted(self) -> bool:
        return self.turn.done() and not self.turn.cancelled() and self.turn.result() is None


@dataclass(slots=True, eq=False)
class _TenantQueue:
    """`start` is the tenant's virtual time; if it is ahead of others, the tenant has used more than its share."""

    tenant: TenantId
    start: float
    waiters: OrderedDict[_Waiter, None] = field(default_factory=OrderedDict)  # oldest first
    cost: float = 0.0

    @property
    def oldest(self) -> _Waiter:
        return next(iter(self.waiters))

    def first(self, now: float, burst: float) -> _Waiter:
        oldest = self.oldest
        return oldest if now - oldest.since < burst else next(reversed(self.waiters))


@dataclass(slots=True)
class _Rate:
    """The rate at which waiting operations are served: a decaying sum over about the last `memory` of them."""

    memory: int
    since: float = 0.0
    seconds: float = 0.0
    cost: float = 0.0
    operations: float = 0.0

    def resume(self, now: float) -> None:
        """Starts a new measurement when operations begin to wait again."""
        if now - self.since > _REMEMBERED:
            self.seconds = self.cost = self.operations = 0.0
        self.since = now

    def served(self, now: float, cost: float) -> None:
        kept = 1 - 1 / self.memory
        self.seconds = self.seconds * kept + now - self.since
        self.cost = self.cost * kept + cost
        self.operations = self.operations * kept + 1
        self.since = now

    @property
    def seconds_per_cost(self) -> float:
        return self.seconds / self.cost if self.cost else 0.0

    @property
    def seconds_per_operation(self) -> float:
        return self.seconds / self.operations if self.operations else 0.0


def _now() -> float:
    return asyncio.get_running_loop().time()
