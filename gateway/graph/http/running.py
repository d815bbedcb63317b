"""Requests under way: each is ended when its time is over, and a query also when its caller has left.

Callers who time out and ask again would have a query run for each attempt. A change is carried out: whoever asks for it
again, with its idempotency key, finds it done.
"""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from gateway.errors import DeadlineExceeded
from gateway.graph.http.http_error import CallerLeft

# where in the scope of a request the server finds whom to tell that the caller has left
DISCONNECT = "gateway.disconnect"
# one timer looks after all requests: whoever waits for something else than it has to wait longer than this beyond the
# deadline, so that a request that is late is always answered as such
TICK = 0.1


def notify_disconnect(scope: MutableMapping[str, Any]) -> None:
    """The caller of this request has left."""
    disconnected = scope.get(DISCONNECT)
    if disconnected is not None:
        disconnected()


class RunningRequest:
    __slots__ = ("_cancellable", "_cancelling", "_ended_by", "_left", "_task", "deadline")

    def __init__(self, task: "asyncio.Task[Any]", deadline: float) -> None:
        self.deadline = deadline  # a moment of the loop's clock
        self._task = task
        self._cancelling = task.cancelling()
        self._cancellable = self._left = False
        self._ended_by: Exception | None = None

    def cancel_on_disconnect(self) -> None:
        """From now on the request is of no use to anybody but its caller."""
        self._cancellable = True
        if self._left:
            raise CallerLeft

    def carry_on(self) -> None:
        """From now on it is carried out, even if the caller leaves."""
        self._cancellable = False

    def disconnected(self) -> None:
        self._left = True
        if self._cancellable:
            self.end(CallerLeft())

    def end(self, reason: Exception) -> None:
        """Cancels it once, whatever else comes."""
        if self._ended_by is None:
            self._ended_by = reason
            self._task.cancel()

    def take_cancellation(self) -> Exception | None:
        """Why `end` has cancelled it; None where somebody else has, who must see the cancellation."""
        if self._ended_by is None or self._task.uncancel() > self._cancelling:
            return None
        return self._ended_by


class RunningRequests:
    """In the order of their deadlines, since all have the same time."""

    def __init__(self) -> None:
        self._running: dict[RunningRequest, None] = {}
        self._ticking_on: asyncio.AbstractEventLoop | None = None
        self._seconds = 0.0

    def __len__(self) -> int:
        return len(self._running)

    def begin(self, seconds: float) -> RunningRequest:
        # asking which loop runs is a system call: nearly always it is the one of the timer
        loop = self._ticking_on
        task = asyncio.current_task(loop) if loop is not None else None
        if loop is None or task is None:
            loop = asyncio.get_running_loop()
            task = asyncio.current_task(loop)
        assert task is not None  # noqa: S101  a coroutine that runs is run by a task
        request = RunningRequest(task, loop.time() + seconds)
        self._running[request] = None
        if self._ticking_on is not loop:
            self._seconds = seconds
            self._ticking_on = loop
            loop.call_later(TICK, self._tick, loop)
        return request

    def finish(self, request: RunningRequest) -> None:
        del self._running[request]

    def _tick(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ticking_on is not loop:
            return
        if not self._running:
            # idle: the next request starts the timer again
            self._ticking_on = None
            return
        now = loop.time()
        for request in self._running:
            if request.deadline > now:
                break
            request.end(DeadlineExceeded(f"the operation took longer than {self._seconds:g} seconds"))
        loop.call_later(TICK, self._tick, loop)
