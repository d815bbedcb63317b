"""Work that many wait for and that is carried out once: one task for each key at a time."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Flights(Generic[K, V]):
    """`fly` must not raise: nobody may be there to hear it."""

    def __init__(self, fly: Callable[[K], Coroutine[Any, Any, V]]) -> None:
        self._fly = fly
        self._flights: dict[K, asyncio.Task[V]] = {}
        # also those that were called off and have not ended yet
        self._tasks: set[asyncio.Task[V]] = set()
        self.closed = False

    def join(self, key: K) -> asyncio.Task[V]:
        """The flight under way, or a new one; who waits by `asyncio.wait` and is cancelled leaves it to the others."""
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = asyncio.create_task(self._fly(key))
            self._tasks.add(flight)
            flight.add_done_callback(lambda done: self._ended(key, done))
        return flight

    def call_off(self, concerned: Callable[[K], bool]) -> None:
        for key in [key for key in self._flights if concerned(key)]:
            self._flights.pop(key).cancel()

    async def close(self) -> None:
        self.closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, key: K, flight: asyncio.Task[V]) -> None:
        self._tasks.discard(flight)
        # after it was called off there may be another
        if self._flights.get(key) is flight:
            del self._flights[key]
