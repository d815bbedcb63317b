"""Work that many wait for and that is carried out once: one task for each key at a time."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

from gateway.aws.sts.call_rate import Ticket

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Flight(NamedTuple, Generic[V]):
    task: asyncio.Task[V]
    # its place in the queue for STS, which whoever joins may improve
    ticket: Ticket


class SingleFlight(Generic[K, V]):
    """`run` must not raise: nobody may be there to hear it."""

    def __init__(self, run: Callable[[K, Ticket], Coroutine[Any, Any, V]]) -> None:
        self._run = run
        self._running: dict[K, Flight[V]] = {}
        # also those that were called off and have not ended yet
        self._tasks: set[asyncio.Task[V]] = set()
        self.closed = False

    def join(self, key: K, ticket: Ticket) -> Flight[V]:
        """The flight under way with its own ticket, or a new one with this ticket.

        Who waits by `asyncio.wait` and is cancelled leaves it to the others.
        """
        flight = self._running.get(key)
        if flight is None:
            task = asyncio.create_task(self._run(key, ticket))
            flight = self._running[key] = Flight(task, ticket)
            self._tasks.add(task)
            task.add_done_callback(lambda done: self._ended(key, done))
        return flight

    def call_off(self, concerned: Callable[[K], bool]) -> None:
        for key in [key for key in self._running if concerned(key)]:
            self._running.pop(key).task.cancel()

    async def close(self) -> None:
        self.closed = True
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, key: K, task: asyncio.Task[V]) -> None:
        self._tasks.discard(task)
        # after it was called off there may be another
        flight = self._running.get(key)
        if flight is not None and flight.task is task:
            del self._running[key]
