"""Running requests: cancels each query at its deadline, or when its caller disconnects.

Otherwise, callers that time out and retry would run a query for every attempt. A mutation is completed: a retry with
the same idempotency key finds it done.
"""

import asyncio
from collections.abc import MutableMapping
from typing import Any

from gateway.errors import DeadlineExceeded
from gateway.graph.http.http_error import CallerLeft

# the scope key of the function to call when the caller disconnects
DISCONNECT = "gateway.disconnect"
# One timer serves all requests. Any other timeout must be later than the deadline by more than this, so that a late
# request is always reported as late.
TICK = 0.1


def notify_disconnect(scope: MutableMapping[str, Any]) -> None:
    """Reports that the caller of this request has disconnected."""
    disconnected = scope.get(DISCONNECT)
    if disconnected is not None:
        disconnected()


class RunningRequest:
    __slots__ = ("_cancellable", "_cancelling", "_ended_by", "_left", "_task", "cancelled_at", "deadline")

    def __init__(self, task: "asyncio.Task[Any]", deadline: float) -> None:
        self.deadline = self.cancelled_at = deadline  # on the clock of the event loop
        self._task = task
        self._cancelling = task.cancelling()
        self._cancellable = self._left = False
        self._ended_by: Exception | None = None

    def cancel_on_disconnect(self) -> None:
        """From now on, a disconnect cancels the request."""
        self._cancellable = True
        if self._left:
            raise CallerLeft

    def carry_on(self, seconds: float) -> None:
        """From now on, the request is completed even if its caller disconnects.

        It keeps the deadline by itself, so that it can report what was done. It is cancelled only if it has not ended
        so many seconds after the deadline.
        """
        self._cancellable = False
        self.cancelled_at = self.deadline + seconds

    def disconnected(self) -> None:
        self._left = True
        if self._cancellable:
            self.end(CallerLeft())

    def end(self, reason: Exception) -> None:
        """Cancels the request; only the first call has an effect."""
        if self._ended_by is None:
            self._ended_by = reason
            self._task.cancel()

    def take_cancellation(self) -> Exception | None:
        """Returns the reason given to `end`; None if the task was cancelled by other code, which must see it."""
        if self._ended_by is None or self._task.uncancel() > self._cancelling:
            return None
        return self._ended_by


class RunningRequests:
    """All running requests, ordered by deadline, because all have the same time limit."""

    def __init__(self) -> None:
        self._running: dict[RunningRequest, None] = {}
        self._ticking_on: asyncio.AbstractEventLoop | None = None
        self._seconds = 0.0

    def __len__(self) -> int:
        return len(self._running)

    def begin(self, seconds: float) -> RunningRequest:
        # finding the running loop takes a system call, and it is nearly always the loop of the timer
        loop = self._ticking_on
        task = asyncio.current_task(loop) if loop is not None else None
        if loop is None or task is None:
            loop = asyncio.get_running_loop()
            task = asyncio.current_task(loop)
        assert task is not None  # noqa: S101  a running coroutine belongs to a task
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
            if request.cancelled_at <= now:
                request.end(DeadlineExceeded(f"the operation took longer than {self._seconds:g} seconds"))
        loop.call_later(TICK, self._tick, loop)
