"""The tasks in which a request's loaders work: they end with the request, also with one that was cancelled."""

import asyncio
from typing import Any


class Loading:
    __slots__ = ("_closed", "_tasks")

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def track(self, task: "asyncio.Task[Any] | None") -> None:
        if self._closed:
            # asked for in the last turn: nobody waits any more
            raise asyncio.CancelledError
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
