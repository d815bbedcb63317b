"""How often STS is asked, how many calls are under way, and whose turn is next.

At most so many calls begin within any second, retries included: an account has a number of AssumeRole a second that all
its programs share, and a fleet that restarts asks for every session at once. A session that a caller waits for comes
before one that is refreshed ahead of its end, and that one before one that is opened in advance. What nobody waits for
is spread over the second, so that a caller does not find the whole second used up.
"""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import IntEnum
from math import inf

from gateway.errors import Throttled

# seconds of its pace that work in the background may make up for, where the loop was busy
_CATCH_UP = 0.05


class Priority(IntEnum):
    """The lowest number is served first."""

    # of a call that is under way, so it takes no further place
    RETRY = 0
    CALLER = 1
    REFRESH = 2
    WARM_UP = 3


class Ticket:
    """A place in the queue; `deadline` is a moment of the loop's clock until which the call must begin."""

    __slots__ = ("deadline", "priority")

    def __init__(self, priority: Priority, deadline: float = inf) -> None:
        self.priority = priority
        self.deadline = deadline


class CallRate:
    """Belongs to the event loop it is first used in."""

    def __init__(self, per_second: int, at_once: int) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._running = 0
        # when the last calls began, as many as may begin in a second
        self._starts: deque[float] = deque(maxlen=per_second)
        self._queues: dict[Priority, OrderedDict[Ticket, asyncio.Future[None]]] = {
            priority: OrderedDict() for priority in Priority
        }
        self._timer: asyncio.TimerHandle | None = None
        # when the next call that nobody waits for may begin
        self._background_at = 0.0

    @asynccontextmanager
    async def turn(self, ticket: Ticket) -> AsyncIterator[None]:
        """Entered when the call may begin; raises `Throttled` where that is not before the ticket's deadline."""
        await self._wait(ticket)
        try:
            yield
        finally:
            self._running -= 1
            self._serve()

    async def retry(self) -> None:
        """Waits until a call that is under way may be sent again."""
        await self._wait(Ticket(Priority.RETRY))

    def promote(self, ticket: Ticket, deadline: float) -> None:
        """A caller waits now for what was to be done in the background."""
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
                # INVARIANT: a place that was given in the very moment of giving up goes to the next.
                self._running -= ticket.priority is not Priority.RETRY
            self._serve()
            raise

    def _enqueue(self, ticket: Ticket, granted: "asyncio.Future[None]") -> None:
        queue = self._queues[ticket.priority]
        # by the rate alone; that calls under way may delay it further is noticed when the deadline comes
        ahead = len(queue) + len(self._queues[Priority.RETRY])
        if self._soonest(asyncio.get_running_loop().time(), ahead) > ticket.deadline:
            _refuse(granted)
        else:
            queue[ticket] = granted

    def _soonest(self, now: float, ahead: int) -> float:
        """The moment at which a call may begin that so many others precede."""
        laps, place = divmod(ahead, self._per_second)
        before = len(self._starts) + place - self._per_second
        if 0 <= before < len(self._starts):
            return max(now, self._starts[before] + 1.0) + laps
        return now + laps

    def _serve(self) -> None:
        """Lets begin whatever may begin now, and comes back when more may."""
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
        # all callers have the same time to wait, so the first has the earliest deadline
        callers = self._queues[Priority.CALLER]
        return next(iter(callers)).deadline if callers else inf

    def _refuse_late(self, now: float) -> None:
        callers = self._queues[Priority.CALLER]
        while callers and self._first_deadline() <= now:
            _refuse(callers.popitem(last=False)[1])

    def _wake_at(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(moment, self._serve) if moment < inf else None


def _refuse(granted: "asyncio.Future[None]") -> None:
    if not granted.done():
        granted.set_exception(Throttled("too many sessions are being opened"))


def _succeeded(granted: "asyncio.Future[None]") -> bool:
    return granted.done() and not granted.cancelled() and granted.exception() is None
