"""Reads that are answered together, and the requests that they would be without a cache."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.aws.sessions import Session
from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.table import TableSpec
from gateway.store import wire
from gateway.store.access import Access
from gateway.store.cache.flights import Landed
from gateway.store.cache.keys import ReadKey
from gateway.store.cache.path import Asked
from gateway.store.plan import QueryPartition

_CHUNK = 100  # keys of one BatchGetItem

Request = tuple[str, dict[str, Any]]


class Question(NamedTuple):
    """`requests` are what would be sent for some of the reads, `fetch` sends it."""

    operation: str
    on: str | None  # an index
    reads: tuple[ReadKey, ...]
    staleness: Staleness
    requests: Callable[[Sequence[ReadKey]], Iterator[Request]]
    fetch: Callable[[Access, tuple[ReadKey, ...]], Awaitable[Landed]]


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
