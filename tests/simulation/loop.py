"""An event loop that a seed decides: which task runs next, and time that passes only when nobody can run."""

import asyncio
import selectors
from collections.abc import Coroutine
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")


class _NoWaiting(selectors.DefaultSelector):
    """Nothing comes from outside: real time is never waited for."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(0)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """`steps` counts what has run; the clock begins at 0 and jumps to the next timer."""

    def __init__(self, seed: int) -> None:
        super().__init__(_NoWaiting())
        self.steps = 0
        self._order = Random(seed)
        self._now = 0.0

    def time(self) -> float:
        return self._now

    def _run_once(self) -> None:
        ready = self._ready  # type: ignore[attr-defined]  # asyncio's own queue of what can run
        timers = self._scheduled  # type: ignore[attr-defined]
        if not ready and timers:
            self._now = max(self._now, timers[0]._when)
        elif not ready:
            raise RuntimeError("nothing can run any more, and nothing is over")
        found = list(ready)
        self._order.shuffle(found)
        ready.clear()
        ready.extend(found)
        self.steps += len(found)
        super()._run_once()  # type: ignore[misc]


def simulate(seed: int, main: Coroutine[Any, Any, T]) -> tuple[T, int]:
    """What the coroutine returns, and how many steps it took."""
    loop = SimulatedLoop(seed)
    try:
        return loop.run_until_complete(main), loop.steps
    finally:
        loop.close()
