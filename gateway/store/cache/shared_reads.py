"""Reads that all requests for the same rows share, and the DynamoDB requests that they replace."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gateway.aws.sts.session import Session
from gateway.errors import DeadlineExceeded, GatewayError, Unavailable
from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.table import TableSpec
from gateway.model.types import Wire
from gateway.single_flight import Flight, copy_for_waiter
from gateway.store import wire
from gateway.store.access import Access
from gateway.store.cache.read_path import PreparedReads, ReadKey, ReadOptions
from gateway.store.plan import QueryPartition

ReadRows = Mapping[ReadKey, list[Wire]]


@dataclass(frozen=True, slots=True)
class ReadContext:
    """`access` belongs to the read itself, because the request that started it may end first."""

    access: Access
    started: float


SharedRead = Flight[ReadRows, ReadContext]


async def wait_for_reads(shared_reads: Iterable[SharedRead], deadline: float | None) -> None:
    """Waits until all have ended; raises the first failure, as the caller's own error."""
    tasks = dict.fromkeys(shared_read.task for shared_read in shared_reads)
    left = None if deadline is None else deadline - asyncio.get_running_loop().time()
    _, under_way = await asyncio.wait(tasks, timeout=left)
    if under_way:
        raise DeadlineExceeded("there was no time left to wait for the database")
    for task in tasks:
        if task.cancelled():
            raise Unavailable("the gateway is shutting down")
        error = task.exception()
        if isinstance(error, GatewayError):
            raise copy_for_waiter(error) from error
        if error is not None:
            raise error


# Reads that are served together, and the requests that they would be without a cache.

_CHUNK = 100  # keys of one BatchGetItem

Request = tuple[str, dict[str, Any]]


class BatchedRead(NamedTuple):
    """`requests` yields what would be sent for some of the reads; `fetch` sends it."""

    operation: str
    on: str | None  # an index
    reads: tuple[ReadKey, ...]
    staleness: Staleness
    requests: Callable[[Sequence[ReadKey]], Iterator[Request]]
    fetch: Callable[[Access, tuple[ReadKey, ...]], Awaitable[ReadRows]]
    prepared: PreparedReads | None = None


def item_requests(
    spec: TableSpec, session: Session, options: ReadOptions, key_of: Mapping[ReadKey, ItemKey]
) -> Callable[[Sequence[ReadKey]], Iterator[Request]]:
    table = session.tenancy.table

    def requests(reads: Sequence[ReadKey]) -> Iterator[Request]:
        keys = [key_of[read] for read in reads]
        if len(keys) == 1:
            yield "GetItem", wire.get_item(spec, table, keys[0], options.names, options.strong)
            return
        for start in range(0, len(keys), _CHUNK):
            chunk = [wire.key_of(spec, key) for key in keys[start : start + _CHUNK]]
            yield "BatchGetItem", wire.batch_get_item(table, chunk, options.names, options.strong)

    return requests


def page_requests(
    spec: TableSpec, session: Session, plan: QueryPartition, options: ReadOptions
) -> Callable[[Sequence[ReadKey]], Iterator[Request]]:
    def requests(reads: Sequence[ReadKey]) -> Iterator[Request]:
        yield "Query", wire.query(spec, session.tenancy.table, plan, options.names, plan.limit)

    return requests
