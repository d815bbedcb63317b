"""Reads under way, shared by every request that asks the same; who is cancelled leaves them to the others."""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.errors import DeadlineExceeded, GatewayError, Unavailable
from gateway.store.access import Access
from gateway.store.cache.keys import ReadKey
from gateway.store.codec import Wire

Landed = Mapping[ReadKey, list[Wire]]


@dataclass(frozen=True, slots=True, eq=False)
class Flight:
    """`access` is the flight's own, since the request that began it may end before it."""

    task: "asyncio.Task[Landed]"
    access: Access
    started: float


class Flights:
    """The tasks of a process: they belong to no request, so somebody has to end them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Landed]] = set()
        self.closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, Landed]) -> "asyncio.Task[Landed]":
        if self.closed:
            work.close()
            raise Unavailable("the gateway is shutting down")
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def close(self) -> None:
        self.closed = True
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _ended(self, task: "asyncio.Task[Landed]") -> None:
        self._tasks.discard(task)
        # nobody may be there any more to hear of a failure
        if not task.cancelled():
            task.exception()


async def landed(flights: Iterable[Flight], deadline: float | None) -> None:
    """Waits until all have ended; raises the first failure, as an error of the caller's own."""
    tasks = {flight.task for flight in flights}
    left = None if deadline is None else deadline - asyncio.get_running_loop().time()
    # `wait` and not `await`: who is cancelled leaves the flight to the others
    done, under_way = await asyncio.wait(tasks, timeout=left)
    if under_way:
        raise DeadlineExceeded("there was no time left to wait for the database")
    for task in done:
        if task.cancelled():
            raise Unavailable("the gateway is shutting down")
        error = task.exception()
        if isinstance(error, GatewayError):
            raise _twin(error) from error
        if error is not None:
            raise error


def _twin(error: GatewayError) -> GatewayError:
    """The same error without its traceback, which each raise lengthens and which holds on to what it passed."""
    twin = type(error).__new__(type(error), *error.args)
    twin.__dict__.update(error.__dict__)
    return twin
