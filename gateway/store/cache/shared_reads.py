"""Reads under way, shared by every request that asks the same; who is cancelled leaves them to the others."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gateway.aws.sts.sessions import Session
from gateway.errors import DeadlineExceeded, GatewayError, Unavailable
from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.table import TableSpec
from gateway.model.types import Wire
from gateway.store import wire
from gateway.store.access import Access
from gateway.store.cache.keys import ReadKey
from gateway.store.cache.read_path import Asked
from gateway.store.plan import QueryPartition

ReadRows = Mapping[ReadKey, list[Wire]]


@dataclass(frozen=True, slots=True, eq=False)
class SharedRead:
    """`access` is the shared_read's own, since the request that began it may end before it."""

    task: "asyncio.Task[ReadRows]"
    access: Access
    started: float


class SharedReads:
    """The tasks of a process: they belong to no request, so somebody has to end them."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[ReadRows]] = set()
        self.closed = False

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, ReadRows]) -> "asyncio.Task[ReadRows]":
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

    def _ended(self, task: "asyncio.Task[ReadRows]") -> None:
        self._tasks.discard(task)
        # nobody may be there any more to hear of a failure
        if not task.cancelled():
            task.exception()


async def wait_for_reads(shared_reads: Iterable[SharedRead], deadline: float | None) -> None:
    """Waits until all have ended; raises the first failure, as an error of the caller's own."""
    tasks = {shared_read.task for shared_read in shared_reads}
    left = None if deadline is None else deadline - asyncio.get_running_loop().time()
    # `wait` and not `await`: who is cancelled leaves the shared_read to the others
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


# Reads that are answered together, and the requests that they would be without a cache.

_CHUNK = 100  # keys of one BatchGetItem

Request = tuple[str, dict[str, Any]]


class BatchedRead(NamedTuple):
    """`requests` are what would be sent for some of the reads, `fetch` sends it."""

    operation: str
    on: str | None  # an index
    reads: tuple[ReadKey, ...]
    staleness: Staleness
    requests: Callable[[Sequence[ReadKey]], Iterator[Request]]
    fetch: Callable[[Access, tuple[ReadKey, ...]], Awaitable[ReadRows]]


def item_requests(
    spec: TableSpec, session: Session, asked: Asked, key_of: Mapping[ReadKey, ItemKey]
) -> Callable[[Sequence[ReadKey]], Iterator[Request]]:
    table = session.tenancy.table

    def requests(reads: Sequence[ReadKey]) -> Iterator[Request]:
        keys = [key_of[read] for read in reads]
        if len(keys) == 1:
            yield "GetItem", wire.get_item(spec, table, keys[0], asked.names, asked.strong)
            return
        for start in range(0, len(keys), _CHUNK):
            chunk = [wire.key_of(spec, key) for key in keys[start : start + _CHUNK]]
            yield "BatchGetItem", wire.batch_get_item(table, chunk, asked.names, asked.strong)

    return requests


def page_requests(
    spec: TableSpec, session: Session, plan: QueryPartition, asked: Asked
) -> Callable[[Sequence[ReadKey]], Iterator[Request]]:
    def requests(reads: Sequence[ReadKey]) -> Iterator[Request]:
        yield "Query", wire.query(spec, session.tenancy.table, plan, asked.names, plan.limit)

    return requests
