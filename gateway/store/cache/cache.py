"""The in-process cache: returns cached rows, and reads the rest once for all requests that wait for it.

INVARIANT: the session's policies authorize each request before anything is looked up, as if it were sent.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gateway.aws.sts.session import Session
from gateway.errors import DeadlineExceeded, GatewayError, Unavailable
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.staleness import Staleness
from gateway.model.table import TableSpec
from gateway.model.types import Wire
from gateway.single_flight import Flight, SingleFlight, copy_for_waiter
from gateway.store import wire
from gateway.store.access import Access, Call, authorize
from gateway.store.cache.keeper import CacheRules, Clocks, Keeper
from gateway.store.cache.read_path import (
    Cache,
    PreparedReads,
    ReadItems,
    ReadKey,
    ReadOptions,
    ReadPage,
    item_read,
    page_read,
)
from gateway.store.cache.segment import Segment
from gateway.store.cache.stats import Counts, GroupOf, one_group
from gateway.store.key_shapes import KeyShape, key_shapes
from gateway.store.plan import QueryPartition

_RULES, _CLOCKS = CacheRules(), Clocks()

# Reads that all requests for the same rows share, and the requests that they would be without a cache.

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


class ReadCache(Keeper, Cache):
    """One for all tenants of a process; bound to the event loop in which it is first used."""

    def __init__(
        self, model: Model, rules: CacheRules = _RULES, group_of: GroupOf = one_group, clocks: Clocks = _CLOCKS
    ) -> None:
        super().__init__(model.table, rules, group_of, clocks)
        self._model = model
        self._rules = rules
        self._now = clocks.now
        self._shared_reads: SingleFlight[tuple[Segment, ReadKey], ReadRows, ReadContext] = SingleFlight()

    async def items(
        self, access: Access, keys: tuple[ItemKey, ...], options: ReadOptions, read: ReadItems
    ) -> dict[ItemKey, Wire]:
        reads = tuple(item_read(access.session, key, options) for key in keys)
        if not reads or reads[0].strong:
            return await read(access, keys, strong=options.strong)

        key_of = dict(zip(reads, keys, strict=True))

        async def fetch(own: Access, missing: tuple[ReadKey, ...]) -> ReadRows:
            strong = any(map(self.unsettled, missing))
            rows_by_key = await read(own, tuple(key_of[missed] for missed in missing), strong=strong)
            return {
                missed: [rows_by_key[key_of[missed]]] if key_of[missed] in rows_by_key else [] for missed in missing
            }

        requests = item_requests(self._model.table, access.session, options, key_of)
        operation = "GetItem" if len(keys) == 1 else "BatchGetItem"
        rows = await self._answers(
            access, BatchedRead(operation, None, reads, options.staleness, requests, fetch, options.prepared)
        )
        return {key: rows[read_key][0] for key, read_key in zip(keys, reads, strict=True) if rows[read_key]}

    async def page(self, access: Access, plan: QueryPartition, options: ReadOptions, read: ReadPage) -> list[Wire]:
        at = page_read(access.session, plan, options)
        if at.strong:
            return await read(access, plan)

        async def fetch(own: Access, missing: tuple[ReadKey, ...]) -> ReadRows:
            return {at: await read(own, replace(plan, strong=self.unsettled(at)))}

        def requests(reads: Sequence[ReadKey]) -> Iterator[Request]:
            table = access.session.tenancy.table
            yield "Query", wire.query(self._model.table, table, plan, options.names, plan.limit)

        question = BatchedRead("Query", at.on, (at,), options.staleness, requests, fetch, options.prepared)
        return (await self._answers(access, question))[at]

    async def close(self) -> None:
        await self._shared_reads.close()

    async def _answers(self, access: Access, question: BatchedRead) -> dict[ReadKey, list[Wire]]:
        allowed_by = _authorized(access, question)
        segment, now = self.segment(access.session), self._now()
        counts, prepared = self.counts(segment.tenant), question.prepared
        rows: dict[ReadKey, list[Wire]] = {}
        missing, stale = [], []
        for read in question.reads:
            entry = segment.get(read, now)
            if entry is None:
                missing.append(read)
                continue
            rows[read] = entry.rows() if prepared is None else entry.rows(prepared.decode)
            counts.units += entry.units
            if now < entry.fresh_until:
                counts.hits += 1
            else:
                counts.stale += 1
                stale.append(read)
        if stale:
            self._renew(access, segment, question, stale)
        if rows:
            self._record(access, question, rows, allowed_by, stale=bool(stale))
        if missing:
            rows |= await self._read(access, segment, question, missing, allowed_by)
        return rows

    async def _read(
        self,
        access: Access,
        segment: Segment,
        question: BatchedRead,
        missing: Sequence[ReadKey],
        allowed_by: tuple[str, ...],
    ) -> dict[ReadKey, list[Wire]]:
        shared_reads = {
            read: shared_read for read in missing if (shared_read := self._under_way(segment, read)) is not None
        }
        shared, own = tuple(shared_reads), tuple(read for read in missing if read not in shared_reads)
        counts = self.counts(segment.tenant)
        counts.shared += len(shared)
        counts.misses += len(own)
        begun = self._depart(access, segment, question, own) if own else None
        if begun is not None:
            shared_reads |= dict.fromkeys(own, begun)
        try:
            await wait_for_reads(shared_reads.values(), access.deadline)
        finally:
            if begun is not None:
                access.calls += begun.context.access.calls
                access.refusals += begun.context.access.refusals
        rows = {read: shared_read.task.result()[read] for read, shared_read in shared_reads.items()}
        if shared:
            self._record(access, question, {read: rows[read] for read in shared}, allowed_by)
        return rows

    def _under_way(self, segment: Segment, read: ReadKey) -> SharedRead | None:
        shared_read = self._shared_reads.find((segment, read))
        if shared_read is None or not self.joins(read, shared_read.context.started):
            return None
        return shared_read

    def _renew(self, access: Access, segment: Segment, question: BatchedRead, stale: Sequence[ReadKey]) -> None:
        """Refreshes entries in the background; if this fails, the old entries are used until they end."""
        reads = tuple(read for read in stale if self._shared_reads.find((segment, read)) is None)
        if reads and len(self._shared_reads) < self._rules.renewals and not self._shared_reads.closed:
            counts = self.counts(segment.tenant)
            counts.renewals += len(reads)
            shared_read = self._depart(access, segment, question, reads)
            shared_read.task.add_done_callback(lambda _: _consumed(counts, shared_read))

    def _depart(
        self, access: Access, segment: Segment, question: BatchedRead, reads: tuple[ReadKey, ...]
    ) -> SharedRead:
        deadline = asyncio.get_running_loop().time() + self._rules.flight_seconds
        own = Access(access.session, deadline, explained=access.explained)
        started = self._now()
        work = self._read_shared(own, segment, question, reads, started)
        keys = [(segment, read) for read in reads]
        shared_read = self._shared_reads.start(keys, work, ReadContext(own, started))
        segment.shared_reads += 1
        shared_read.task.add_done_callback(lambda _: self._arrived(segment))
        return shared_read

    async def _read_shared(
        self, own: Access, segment: Segment, question: BatchedRead, reads: tuple[ReadKey, ...], started: float
    ) -> ReadRows:
        rows = await question.fetch(own, reads)
        units = own.capacity / len(reads)
        for read in reads:
            self.keep(segment, read, self.answer(rows[read], started, units), question.staleness)
        return rows

    def _arrived(self, segment: Segment) -> None:
        segment.shared_reads -= 1
        self.release(segment)

    def _record(
        self,
        access: Access,
        question: BatchedRead,
        rows: Mapping[ReadKey, list[Wire]],
        allowed_by: tuple[str, ...],
        *,
        stale: bool = False,
    ) -> None:
        """Records what was returned without a call of this request."""
        seen: tuple[KeyShape, ...] = ()
        if access.explained:
            requests = question.requests(tuple(rows))
            seen = tuple(
                shape for request in requests for shape in key_shapes(self._model, access.session.tenant, *request)
            )
        access.calls.append(
            Call(
                operation=question.operation,
                index=question.on,
                items=sum(map(len, rows.values())),
                capacity=0.0,
                seconds=0.0,
                statements=allowed_by,
                key_shapes=seen,
                started=asyncio.get_running_loop().time(),
                source="cache",
                stale=stale,
            )
        )


def _authorized(access: Access, question: BatchedRead) -> tuple[str, ...]:
    """Returns the statements that allow every request, as it would be sent; all are of one kind, so one stands for all.

    INVARIANT: called before anything is looked up.
    """
    if question.prepared is not None:
        partitions = [read.partition for read in question.reads]
        statements = question.prepared.statements(access.session, partitions)
        if statements is not None:
            return statements
    verdicts = [authorize(access, *request) for request in question.requests(question.reads)]
    return verdicts[0].statements


def _consumed(counts: Counts, shared_read: SharedRead) -> None:
    counts.renewal_units += shared_read.context.access.capacity
