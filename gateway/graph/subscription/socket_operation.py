"""One operation on a WebSocket, from `subscribe` until its task ends or its client stops it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

from gateway.graph.http.running import DISCONNECT, notify_disconnect


@dataclass(eq=False, slots=True)
class SocketOperation:
    """`scope` is where a running query or mutation registers the callback for a disconnected caller."""

    scope: dict[str, Any] = field(default_factory=dict)
    task: "asyncio.Task[None] | None" = None
    left: bool = False

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        self.task = asyncio.get_running_loop().create_task(work)

    def leave(self) -> "asyncio.Task[None]":
        """INVARIANT: as over HTTP, a mutation that has started is completed; everything else is cancelled."""
        assert self.task is not None  # noqa: S101  only an operation that was started can be left
        self.left = True
        if DISCONNECT in self.scope:
            notify_disconnect(self.scope)
        else:
            self.task.cancel()
        return self.task
