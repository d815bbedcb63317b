"""Limits the rate and the concurrency of STS calls, and orders them by priority.

At most a fixed number of calls start within any second, including retries: the AssumeRole rate of an account is shared
by all its programs, and a fleet that restarts requests every session at the same time. Sessions that a caller waits for
come first, then refreshes ahead of expiry, then sessions that are opened in advance. Background calls are spread over
the second, so that callers do not find the whole second used up.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import IntEnum
from math import inf

from gateway.errors import Throttled

# seconds that background calls may catch up on, if the event loop was busy
_CATCH_UP = 0.05


class Priority(IntEnum):
    """The order of service, lowest number first."""

    # retries belong to a running call, so they take no additional place
    RETRY = 0
    CALLER = 1
    REFRESH = 2
    WARM_UP = 3


class Ticket:
    """A place in the queue; the call must start before `deadline`, on the clock of the event loop."""

    __slots__ = ("deadline", "priority")

    def __init__(self, priority: Priority, deadline: float = inf) -> None:
        self.priority = priority
        self.deadline = deadline


class CallRate:
    """Bound to the event loop in which it is first used."""

    def __init__(self, per_second: int, at_once: int) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._running = 0
        # start times of the latest calls, as many as may start in a second
        self._starts: deque[float] = deque(maxlen=per_second)
        self._queues: dict[Priority, OrderedDict[Ticket, asyncio.Future[None]]] = {
            priority: OrderedDict() for priority in Priority
        }
        self._timer: asyncio.TimerHandle | None = None
        # when the next background call may start
        self._background_at = 0.0

    @asynccontextmanager
    async def turn(self, ticket: Ticket) -> AsyncIterator[None]:
        """Enters when the call may start; raises `Throttled` if that is after the ticket's deadline."""
        await self._wait(ticket)
        try:
            yield
        finally:
            self._running -= 1
            self._serve()

    async def retry(self) -> None:
        """Waits until a running call may be sent again."""
        await self._wait(Ticket(Priority.RETRY))

    def promote(self, ticket: Ticket, deadline: float) -> None:
        """Raises the priority of a background call that a caller now waits for."""
        if ticket.priority <= Priority.CALLER:
            return
        granted = self._queues[ticket.priority].pop(ticket, None)
        ticket.priority, ticket.deadline = Priority.CALLER, deadline
        if granted is not None:
            self._enqueue(ticket, granted)
            self._serve()

    async def _wait(self, ticket: Ticket) -> None:
        granted = asyncio.get_running_loop().create_future()
        self._enqueue(ticket, granted)
        self._serve()
        try:
            await granted
        except BaseException:
            if self._queues[ticket.priority].pop(ticket, None) is None and _succeeded(granted):
                # INVARIANT: a place that was granted to a ticket just as it gave up goes to the next one.
                self._running -= ticket.priority is not Priority.RETRY
            self._serve()
            raise

    def _enqueue(self, ticket: Ticket, granted: "asyncio.Future[None]") -> None:
        queue = self._queues[ticket.priority]
        # considers only the rate; a delay by running calls is noticed at the deadline
        ahead = len(queue) + len(self._queues[Priority.RETRY])
        if self._soonest(asyncio.get_running_loop().time(), ahead) > ticket.deadline:
            _refuse(granted)
        else:
            queue[ticket] = granted

    def _soonest(self, now: float, ahead: int) -> float:
        """Returns the earliest time at which a call with `ahead` calls before it may start."""
        laps, place = divmod(ahead, self._per_second)
        before = len(self._starts) + place - self._per_second
        if 0 <= before < len(self._starts):
            return max(now, self._starts[before] + 1.0) + laps
        return now + laps

    def _serve(self) -> None:
        """Starts all calls that may start now, and sets a timer for the next ones."""
        now = asyncio.get_running_loop().time()
        self._refuse_late(now)
        wake = inf
        while (queue := self._next_queue()) is not None:
            background = next(iter(queue)).priority >= Priority.REFRESH
            wake = max(self._soonest(now, 0), self._background_at if background else now)
            if wake > now:
                break
            ticket, granted = queue.popitem(last=False)
            if not granted.done():
                if background:
                    self._background_at = max(self._background_at, now - _CATCH_UP) + 1.0 / self._per_second
                self._starts.append(now)
                self._running += ticket.priority is not Priority.RETRY
                granted.set_result(None)
            wake = inf
        self._wake_at(min(wake, self._first_deadline()))

    def _next_queue(self) -> "OrderedDict[Ticket, asyncio.Future[None]] | None":
        for priority, queue in self._queues.items():
            if queue and (priority is Priority.RETRY or self._running < self._at_once):
                return queue
        return None

    def _first_deadline(self) -> float:
        # all callers have the same time to wait, so the first one has the earliest deadline
        callers = self._queues[Priority.CALLER]
        return next(iter(callers)).deadline if callers else inf

    def _refuse_late(self, now: float) -> None:
        callers = self._queues[Priority.CALLER]
        while callers and self._first_deadline() <= now:
            _refuse(callers.popitem(last=False)[1])

    def _wake_at(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._serve) if when < inf else None


def _refuse(granted: "asyncio.Future[None]") -> None:
    if not granted.done():
        granted.set_exception(Throttled("too many sessions are being opened"))


def _succeeded(granted: "asyncio.Future[None]") -> bool:
    return granted.done() and not granted.cancelled() and granted.exception() is None
