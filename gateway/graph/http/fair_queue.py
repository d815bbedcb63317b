"""The queue in front of the operations: fair between tenants by cost, and newest first when it cannot keep up.

Between tenants it is start-time fair queueing: each tenant has a virtual time, which every operation of it moves on by
its cost, and the tenant with the lowest one is served next. That shares capacity as deficit round robin does, but needs
no quantum, which would have to be as large as the most expensive operation and would let a tenant with cheap ones run
hundreds in a row.

Within a tenant it is adaptive LIFO: the oldest operation is served first, until it has waited so long that the queue
does not just absorb a burst; then the newest is, since its caller still listens. What is expected to wait too long at
the measured service rate is refused at once, the oldest first, and so is whatever has waited twice as long.
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

OPERATION_COST: Final = 10.0  # capacity units that an operation is worth before it reads or writes anything
MAX_WAIT: Final = 0.5  # seconds that an operation is expected to wait; clients seldom give up sooner than this
_SERVICE_TIMES: Final = 2  # where operations take long, they may wait for as long as so many of them take
_MAX_AGE: Final = 2  # times that: what has waited so long is refused, whatever was expected
_BURST: Final = 0.2  # times that: while the oldest has waited less, it is served first
_LONGEST_HINT: Final = 30  # seconds
_REMEMBERED: Final = 60  # seconds; a rate that was measured earlier tells nothing about now


class FairQueue:
    """`concurrent` operations of all tenants run at a time; `queued` at the most of each tenant wait.

    INVARIANT: while an operation waits, no place is free.
    """

    def __init__(self, concurrent: int = 64, queued: int = 1_000) -> None:
        self._places = self._free = concurrent
        self._most = queued
        self._tenants: dict[TenantId, _TenantQueue] = {}
        self._order: list[tuple[float, int, _TenantQueue]] = []  # a heap: each tenant once, by its virtual time
        self._numbers = count()
        self._virtual = 0.0
        self._waiting = self._active = 0  # operations that wait; tenants that have some
        self._cost = 0.0  # of all that wait
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
        """How many are remembered."""
        return len(self._tenants)

    def acquire_at_once(self) -> bool:
        """Whether a place is free; then it is taken, as by `acquire`."""
        if not self._free:
            return False
        self._free -= 1
        return True

    async def acquire(self, tenant: TenantId, cost: float, deadline: float) -> None:
        """Returns when the operation may run, until `release`; raises `Overloaded` when it cannot be served in time."""
        if self.acquire_at_once():
            return
        waiter = self._enqueue(tenant, cost, deadline)
        try:
            refusal = await waiter.turn
        except asyncio.CancelledError:
            if waiter.granted:
                # the caller left in this very moment: the next one has the place
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
            if not waiter.turn.done():  # else its caller has left, and it will learn of that in a moment
                self._grant(waiter)
                return
        self._free += 1
        if self._tenants:
            # there is enough for all, so nobody owes anything
            self._tenants.clear()
            self._order.clear()
            self._virtual = self._cost = 0.0

    def _next(self) -> "_Waiter":
        while not (queue := self._order[0][2]).waiters:
            # served, and the others have caught up with it
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
        # at most half of what is left is kept for running: were nothing let in, nothing would be measured either
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
        """It waits no more, for whatever reason; a second time does nothing."""
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
        """Refuses what would be served too late, which in overload is the oldest."""
        while queue.waiters and (len(queue.waiters) > self._most or self._too_long(queue)):
            self._refuse(queue.oldest)

    def _too_long(self, queue: "_TenantQueue") -> bool:
        """Whether the tenant's last one would wait too long for its share, even if nobody else came any more."""
        last = queue.oldest.cost
        limit = self._max_wait
        return self._seconds(self._cost - last) > limit and self._seconds((queue.cost - last) * self._active) > limit

    def _retry_after(self) -> int:
        """Seconds: the longer the overload has lasted, the longer."""
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
    """`start` is the tenant's virtual time: where it is ahead, the tenant has had more than its share."""

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
    """How fast waiting operations are served: sums over the last `memory` of them, in which older ones count less."""

    memory: int
    since: float = 0.0
    seconds: float = 0.0
    cost: float = 0.0
    operations: float = 0.0

    def resume(self, now: float) -> None:
        """Operations begin to wait again."""
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
