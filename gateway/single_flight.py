"""Runs one task per key at a time and shares its result with everyone who asks for the key."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gateway.errors import GatewayError, Unavailable

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
C = TypeVar("C")


@dataclass(frozen=True, slots=True, eq=False)
class Flight(Generic[V, C]):
    """A running task; `context` is what its starter passed, for those who join.

    Wait for the task with `asyncio.wait` or `asyncio.shield`: a plain `await` would cancel it for everyone when one
    waiter is cancelled.
    """

    task: asyncio.Task[V]
    context: C


class SingleFlight(Generic[K, V, C]):
    """The tasks belong to no request, so `close` ends the remaining ones."""

    def __init__(self) -> None:
        self._running: dict[K, Flight[V, C]] = {}
        # includes tasks that were cancelled and have not ended yet; a dict keeps their order
        self._tasks: dict[asyncio.Task[V], None] = {}
        self.closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    def find(self, key: K) -> Flight[V, C] | None:
        return self._running.get(key)

    def start(self, keys: Iterable[K], work: Coroutine[Any, Any, V], context: C) -> Flight[V, C]:
        """Starts a flight that later callers of any of these keys join."""
        if self.closed:
            work.close()
            raise Unavailable("the gateway is shutting down")
        flight = Flight(asyncio.create_task(work), context)
        mine = dict.fromkeys(keys, flight)
        self._running.update(mine)
        self._tasks[flight.task] = None
        flight.task.add_done_callback(lambda _: self._ended(flight, mine))
        return flight

    def cancel(self, concerned: Callable[[K], bool]) -> None:
        for key in [key for key in self._running if concerned(key)]:
            self._running.pop(key).task.cancel()

    async def close(self) -> None:
        self.closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, flight: Flight[V, C], keys: Iterable[K]) -> None:
        self._tasks.pop(flight.task, None)
        for key in keys:
            # a later flight may have taken its place
            if self._running.get(key) is flight:
                del self._running[key]
        if not flight.task.cancelled():
            # marks the error as retrieved, in case every waiter is gone
            flight.task.exception()


def copy_for_waiter(error: GatewayError) -> GatewayError:
    """The same error for one of several waiters.

    Raising one object several times would lengthen its traceback each time, and keep alive every frame it passed.
    """
    copy = type(error).__new__(type(error), *error.args)
    copy.__dict__.update(error.__dict__)
    return copy
