"""Runs plans on the table: authorizes, sends, pages, merges, retries unprocessed keys, and checks every row."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence, Set
from dataclasses import replace
from functools import partial
from heapq import merge
from time import monotonic
from typing import Any

import orjson

from gateway.aws.sts.session import Session
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.errors import AccessDenied, CredentialsExpired, TransactionCancelled
from gateway.backoff import full_jitter
from gateway.errors import DeadlineExceeded, Forbidden, IsolationBreach, Throttled, Unavailable
from gateway.iam.language.verdict import Allow
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.staleness import Staleness
from gateway.model.table import Index
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.pacer import Pacer
from gateway.store import wire
from gateway.store.access import Access, Call, authorize, gather_or_cancel, gather_settled
from gateway.store.cache.read_path import Cache, ReadOptions, Via
from gateway.store.cache.written_keys import READS, written, written_anywhere
from gateway.store.filters import Reading, Stretch, merged_stretches
from gateway.store.index_lag import LaggingIndex
from gateway.store.item_sizes import ItemSizes
from gateway.store.key_shapes import KeyShape, key_shapes
from gateway.store.own_writes import OwnWrites
from gateway.store.plan import Attributes, GetItems, QueryItemCollection, QueryMany, QueryPartition
from gateway.store.read_through import Found, Page, ReadThrough
from gateway.store.rows import Item, Rows, StoredNames
from gateway.store.wire import items_in, units_of

CHUNK = 100  # keys of one BatchGetItem
_PATIENCE = 10.0  # seconds to retry unprocessed keys if the request has no deadline
_FIRST_PAUSE, _LONGEST_PAUSE = 0.025, 1.0
PARALLEL_GROUPS = 8  # time buckets that are read ahead at the same time

_DENIED_BY_AWS = logging.getLogger("gateway.denied_by_aws")  # an alarm reads its lines

Renew = Callable[[Session], Awaitable[Session]]


class Table:
    def __init__(
        self, client: DynamoDB, model: Model, renew: Renew, rows: Rows | None = None, cache: Cache | None = None
    ) -> None:
        self._client = client
        self._direct = Via(client, "table")
        self._model = model
        self._renew = renew
        self._rows = rows or Rows(model)
        self._cache = cache
        self.sizes = ItemSizes(model)
        self.pacer = Pacer()  # of all operations that use the table

    @property
    def foreign_rows(self) -> int:
        """The number of other tenants' rows that indexes returned since the start; none was used."""
        return self._rows.foreign

    async def get(self, access: Access, plan: GetItems) -> list[Item | None]:
        """Reads any number of keys, in parallel chunks of 100; the result has the order of the keys."""
        items: list[Item | None] = []
        for item in await self.get_each(access, plan):
            if isinstance(item, Exception):
                raise item
            items.append(item)
        return items

    async def get_each(self, access: Access, plan: GetItems) -> list[Item | Exception | None]:
        """Does the same as `get`, but returns an error in the place of a row that cannot be read."""
        _same_tenant(access, plan.tenant)
        names = self._rows.stored_names(plan.attributes, None, (plan.entity,)).read
        staleness = None if plan.fresh else self._model.stored[plan.entity].cached
        rows = await self._rows_at(access, set(plan.keys), names, staleness, strong=plan.strong)
        items = {key: self._item_or_error(plan, row) for key, row in rows.items()}
        return [items.get(key) for key in plan.keys]

    async def current(self, access: Access, entity: str, key: ItemKey, attributes: Attributes) -> Item | None:
        """Reads one item as it is now, for a change."""
        tenant = access.session.tenant
        if self._cache is not None and self._model.stored[entity].cached is not None:
            # through the cache, which keeps what is read
            [item] = await self.get(access, GetItems(tenant, entity, (key,), attributes, strong=True))
            return item
        if access.session.permissions.foreign(None, key.pk):
            return None
        names = self._rows.stored_names(attributes, None, (entity,)).read
        body = wire.get_item(self._model.table, access.session.tenancy.table, key, names, strong=True)
        row = (await self._send(access, "GetItem", body, self._direct)).get("Item")
        return self._rows.item(tenant, row, entity, attributes, self._model.table.sk) if row else None

    async def _rows_at(
        self, access: Access, keys: Set[ItemKey], names: tuple[str, ...], cached: Staleness | None, *, strong: bool
    ) -> dict[ItemKey, Wire]:
        foreign = access.session.permissions.foreign
        own_keys = {key for key in keys if not foreign(None, key.pk)}
        distinct = tuple(sorted(own_keys))  # a fixed order, so that equal reads have equal texts
        read = partial(self._read_items, names=names)
        writes = access.own_writes
        strong = strong or (writes is not None and writes.hold(own_keys))
        if not distinct:
            return {}
        if self._cache is None or cached is None:
            return await read(access, distinct, strong=strong)
        return await self._cache.items(access, distinct, ReadOptions(names, strong, cached), read)

    async def _read_items(
        self, access: Access, keys: tuple[ItemKey, ...], *, names: tuple[str, ...], strong: bool, via: Via | None = None
    ) -> dict[ItemKey, Wire]:
        if len(keys) == 1:
            body = wire.get_item(self._model.table, access.session.tenancy.table, keys[0], names, strong)
            row = (await self.call(access, "GetItem", body, via)).get("Item")
            return {keys[0]: row} if row else {}
        chunks = [keys[start : start + CHUNK] for start in range(0, len(keys), CHUNK)]
        answers = await gather_or_cancel([self._read_chunk(access, chunk, names, strong, via) for chunk in chunks])
        return {key: row for answer in answers for key, row in answer.items()}

    async def _read_chunk(
        self, access: Access, keys: tuple[ItemKey, ...], names: tuple[str, ...], strong: bool, via: Via | None
    ) -> dict[ItemKey, Wire]:
        spec, table = self._model.table, access.session.tenancy.table
        rows: dict[ItemKey, Wire] = {}
        left = [wire.key_of(spec, key) for key in keys]
        patience = Patience(access.deadline)
        while left:
            answer = await self.call(access, "BatchGetItem", wire.batch_get_item(table, left, names, strong), via)
            for row in wire.part(answer, "Responses").get(table, ()):
                rows[self._rows.key(row)] = row
            left = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
            if left:
                await patience.wait(len(left))
        return rows

    def _item_or_error(self, plan: GetItems, row: dict[str, Any]) -> Item | Exception | None:
        try:
            return self._rows.item(plan.tenant, row, plan.entity, plan.attributes, self._model.table.sk)
        except IsolationBreach:
            # INVARIANT: nothing of an answer with a row of another tenant is used.
            raise
        except Exception as error:  # raised by the code that uses the item
            return error

    async def query(self, access: Access, plan: QueryMany) -> Page:
        """Reads the window's page of a listing, over all its shards and buckets."""
        [page] = await self.query_each(access, [plan])
        if isinstance(page, Exception):
            raise page
        return page

    async def query_each(self, access: Access, plans: Sequence[QueryMany]) -> list[Page | Exception]:
        """Reads a page of each; attributes that the indexes lack are read from the table for all of them together."""
        results: list[Any] = [*await gather_settled([self._query_entries(access, plan) for plan in plans])]
        together: dict[ReadThrough, list[int]] = {}
        for number, (plan, result) in enumerate(zip(plans, results, strict=True)):
            through = self._through(plan)
            if through is not None and isinstance(result, Found) and result.rows:
                together.setdefault(through, []).append(number)
        reads: list[Coroutine[Any, Any, Any]] = [
            self._read_through(access, through, [results[number] for number in numbers])
            for through, numbers in together.items()
        ]
        for numbers, pages in zip(together.values(), await gather_settled(reads), strict=True):
            for at, number in enumerate(numbers):
                results[number] = pages if isinstance(pages, Exception) else pages[at]
        return [
            result.page(backward=plan.window.backward) if isinstance(result, Found) else result
            for plan, result in zip(plans, results, strict=True)
        ]

    def _through(self, plan: QueryMany) -> ReadThrough | None:
        query = plan.groups[0][0] if plan.groups else None
        if query is None or query.index is None:
            return None
        names = self._rows.stored_names(query.attributes, query.index, (plan.entity,)).through
        if names is None:
            return None
        cached = self._model.stored[plan.entity].cached or plan.cached
        return ReadThrough(query.tenant, plan.entity, query.index, query.attributes, names, cached)

    async def _read_through(self, access: Access, through: ReadThrough, pages: Sequence[Any]) -> list[Any]:
        keys = {entry.key for page in pages for entry in page.rows}
        rows = await self._rows_at(access, keys, through.names, through.cached, strong=False)
        return [_settled(partial(through.items, self._rows, page, rows)) for page in pages]

    async def _query_entries(self, access: Access, plan: QueryMany) -> Found:
        if plan.groups and plan.groups[0][0].filter is not None:
            return await self._filtered(access, plan, plan.groups[0])
        items: list[Item] = []
        limit = plan.window.limit
        for start in range(0, len(plan.groups), PARALLEL_GROUPS):
            wave = plan.groups[start : start + PARALLEL_GROUPS]
            for group in await gather_or_cancel([self._group(access, plan, queries) for queries in wave]):
                items.extend(group)
            if len(items) > limit:
                break
        return Found(items[:limit], more=len(items) > limit)

    async def _filtered(self, access: Access, plan: QueryMany, queries: tuple[QueryPartition, ...]) -> Found:
        """Never uses a cache, because cached rows do not include the positions where their reads ended."""
        stretches = await gather_or_cancel([self._stretch(access, plan, query) for query in queries])
        forward, window = queries[0].forward, plan.window
        return Found(*merged_stretches(stretches, lambda item: item.position, forward=forward, limit=window.limit))

    async def _stretch(self, access: Access, listing: QueryMany, plan: QueryPartition) -> Stretch[Any]:
        _same_tenant(access, plan.tenant)
        assert plan.filter is not None  # noqa: S101  the caller has checked; this tells the type checker
        if _is_foreign(access, plan):
            return Stretch([], None)
        entity, position = listing.entity, plan.index.sk if plan.index is not None else self._model.table.sk
        names = self._rows.stored_names(plan.attributes, plan.index, (entity,))
        rows: list[Wire] = []
        reading, start = Reading(plan.limit, plan.filter.reads), None
        plan = self._as_own(access, plan, listing)
        while (count := reading.next()) and len(rows) < plan.limit:
            body = wire.query(self._model.table, access.session.tenancy.table, plan, names.read, count)
            if start is not None:
                body["ExclusiveStartKey"] = start
            answer = await self.call(access, "Query", body)
            own_rows = self._rows.own(plan.tenant, plan.index, wire.part(answer, "Items"))
            rows += [row for row in own_rows if self._rows.live(row)]
            reading.read(answer.get("ScannedCount", count))
            start = answer.get("LastEvaluatedKey")
            if start is None:
                break
        writes = access.own_writes
        if writes is not None and plan.index is not None and writes.hold(set(map(self._rows.key, rows))):
            access.lags(listing.listing)
        stop = None if start is None else wire.part(start, position)["S"]
        return Stretch(self._items_of(plan, rows, (entity,), names), stop)

    async def _group(self, access: Access, plan: QueryMany, queries: tuple[QueryPartition, ...]) -> list[Any]:
        streams = await gather_or_cancel([self._partition(access, query, (plan.entity,), plan) for query in queries])
        if len(streams) == 1:
            return streams[0]
        # stop the merge at one item more than a page; each stream has that many, if they exist
        merged = merge(*streams, key=lambda item: item.position, reverse=not queries[0].forward)
        return [item for item, _ in zip(merged, range(queries[0].limit), strict=False)]

    async def query_item_collection(self, access: Access, plan: QueryItemCollection) -> tuple[Item | None, list[Item]]:
        """Reads an item and members of its collection from one partition."""
        items = await self._partition(access, plan.query, (plan.root, plan.member))
        roots = [item for item in items if item.entity == plan.root]
        return (roots[0] if roots else None), [item for item in items if item.entity != plan.root]

    async def _partition(
        self, access: Access, plan: QueryPartition, entities: tuple[str, ...], listing: QueryMany | None = None
    ) -> list[Any]:
        _same_tenant(access, plan.tenant)
        if _is_foreign(access, plan):
            return []
        names = self._rows.stored_names(plan.attributes, plan.index, entities)
        return self._items_of(plan, await self._rows_of(access, plan, names.read, listing), entities, names)

    def _items_of(
        self, plan: QueryPartition, rows: list[Wire], entities: tuple[str, ...], names: StoredNames
    ) -> list[Any]:
        """Returns items, or entries if the index does not contain everything requested."""
        index = plan.index
        if index is not None and names.through is not None:
            return [self._rows.entry(plan.tenant, index, row) for row in rows]
        position = index.sk if index is not None else self._model.table.sk
        items: list[Item] = []
        for row in rows:
            kind = self._rows.kind(row)
            expected = kind if kind in entities else entities[0]
            item = self._rows.item(plan.tenant, row, expected, plan.attributes, position)
            if item is not None:
                items.append(item)
        return items

    async def _rows_of(
        self, access: Access, plan: QueryPartition, names: tuple[str, ...], listing: QueryMany | None
    ) -> list[Wire]:
        writes, index = access.own_writes, plan.index
        if writes is not None and index is None and writes.concern(None, plan.partition, plan.bounds):
            plan = replace(plan, strong=True)
        elif writes is not None and index is not None and listing is not None:
            return await self._lagging(access, plan, names, listing, writes)
        return await self._page(access, plan, names, listing)

    async def _page(
        self, access: Access, plan: QueryPartition, names: tuple[str, ...], listing: QueryMany | None
    ) -> list[Wire]:
        read = partial(self._read_page, names=names)
        staleness = listing.cached if listing is not None else None
        if self._cache is None or staleness is None:
            return await read(access, plan)
        return await self._cache.page(access, plan, ReadOptions(names, plan.strong, staleness), read)

    async def _lagging(
        self, access: Access, plan: QueryPartition, names: tuple[str, ...], listing: QueryMany, writes: OwnWrites
    ) -> list[Wire]:
        """Reads a page of an index; as usual, if none of the caller's own writes affects it."""
        assert plan.index is not None  # noqa: S101  the caller has checked; this tells the type checker
        if not writes.concern(plan.index.name, plan.partition, plan.bounds):
            rows = await self._page(access, plan, names, listing)
            if not writes.hold(set(map(self._rows.key, rows))):
                return rows
        stored = tuple(sorted({*names, plan.index.pk}))
        foreign = access.session.permissions.foreign

        async def items(keys: Set[ItemKey]) -> dict[ItemKey, Wire]:
            own_keys = tuple(sorted(key for key in keys if not foreign(None, key.pk)))
            items_by_key = await self._read_items(access, own_keys, names=stored, strong=True) if own_keys else {}
            return {key: row for key, row in items_by_key.items() if self._rows.live(row)}

        index = LaggingIndex(partial(self._read_page, access, names=names), items, self._rows.key, names)
        rows, complete = await index.read(plan, writes, listing.lag)
        if not complete:
            access.lags(listing.listing)
        return rows

    def _as_own(self, access: Access, plan: QueryPartition, listing: QueryMany) -> QueryPartition:
        """Adapts a filtered read to own writes: strong on the table; on an index, the list is marked as lagging."""
        writes, index = access.own_writes, plan.index
        if writes is None or not writes.concern(index.name if index is not None else None, plan.partition, plan.bounds):
            return plan
        if index is None:
            return replace(plan, strong=True)
        access.lags(listing.listing)
        return plan

    async def _read_page(
        self, access: Access, plan: QueryPartition, *, names: tuple[str, ...], via: Via | None = None
    ) -> list[Wire]:
        """Reads up to `limit` rows; follows pages, also if expired or foreign rows left a page short."""
        rows: list[Wire] = []
        unusable = 0
        start: dict[str, Any] | None = None
        while len(rows) < plan.limit:
            # add as many as were unusable so far; otherwise a thousand of them would take a thousand calls
            count = plan.limit - len(rows) + unusable
            body = wire.query(self._model.table, access.session.tenancy.table, plan, names, count)
            if start is not None:
                body["ExclusiveStartKey"] = start
            answer = await self.call(access, "Query", body, via)
            page_rows = wire.part(answer, "Items")
            usable = [row for row in self._rows.own(plan.tenant, plan.index, page_rows) if self._rows.live(row)]
            rows += usable
            unusable += len(page_rows) - len(usable)
            start = answer.get("LastEvaluatedKey")
            if start is None:
                break
        return rows[: plan.limit]

    def call(
        self, access: Access, operation: str, body: dict[str, Any], via: Via | None = None
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """INVARIANT: no request reaches DynamoDB that the session's policies do not allow."""
        if operation in READS:
            return self._send(access, operation, body, via or self._direct)
        return self._written(access, operation, body, via or self._direct)

    async def _written(self, access: Access, operation: str, body: dict[str, Any], via: Via) -> dict[str, Any]:
        try:
            if self._cache is None:
                answer = await self._send(access, operation, body, via)
            else:
                # INVARIANT: a write returns only after the cache entries that it made stale are dropped.
                with self._cache.writing(access.session, operation, body):
                    answer = await self._send(access, operation, body, via)
        except (Forbidden, TransactionCancelled):
            raise
        except Exception:
            # after a failure it is not known what was written
            access.has_written(written(self._model.table, operation, body))
            raise
        access.has_written(written(self._model.table, operation, body))
        return answer

    def forget_written(self, access: Access, keys: Sequence[ItemKey]) -> None:
        """Drops cache entries of items that another process may have written."""
        access.has_written(written_anywhere(self._model.table, keys))
        if self._cache is not None:
            self._cache.forget_written(access.session, keys)

    # used by lanes: the same path to the table, for requests and responses that are bytes

    def stored_names(self, attributes: Attributes, index: Index | None, entities: tuple[str, ...]) -> StoredNames:
        return self._rows.stored_names(attributes, index, entities)

    def staleness(self, declared: Staleness | None) -> Staleness | None:
        """Returns the declared staleness; None if there is no cache."""
        return None if self._cache is None else declared

    async def cached_items(self, access: Access, keys: tuple[ItemKey, ...], options: ReadOptions) -> dict[ItemKey, Any]:
        assert self._cache is not None  # noqa: S101  `staleness` returns None without a cache
        return await self._cache.items(access, keys, options, partial(self._read_items, names=options.names))

    async def cached_page(self, access: Access, plan: QueryPartition, options: ReadOptions) -> list[Any]:
        assert self._cache is not None  # noqa: S101  `staleness` returns None without a cache
        return await self._cache.page(access, plan, options, partial(self._read_page, names=options.names))

    def authorize(self, access: Access, operation: str, body: dict[str, Any]) -> Allow:
        return authorize(access, operation, body)

    def key_shapes(self, access: Access, operation: str, body: dict[str, Any]) -> tuple[KeyShape, ...]:
        return key_shapes(self._model, access.session.tenant, operation, body)

    async def exchange(self, access: Access, operation: str, content: bytes) -> bytes:
        """Sends an authorized request; its response is kept for the reference executor, in case the lane falls back."""
        session = access.session
        try:
            try:
                answer = await self._client.send(
                    operation,
                    content,
                    credentials=session.credentials,
                    target=session.tenancy.target,
                    deadline=access.deadline,
                )
            except CredentialsExpired:
                # once: the session was revoked or expired during the request
                await self._renewed(access, session)
                session = access.session
                answer = await self._sending(access, operation, content)
        except Exception as error:
            access.replay.append((operation, content, error))
            if isinstance(error, AccessDenied):
                _report_denied(session, operation, error)
            raise
        access.replay.append((operation, content, answer))
        return answer

    def _sending(self, access: Access, operation: str, content: bytes) -> Awaitable[bytes]:
        session = access.session
        return self._client.send(
            operation,
            content,
            credentials=session.credentials,
            target=session.tenancy.target,
            deadline=access.deadline,
        )

    async def _renewed(self, access: Access, refused: Session) -> None:
        """Renews the session once for all concurrent calls that were refused with it."""
        access.renewal = access.renewal or asyncio.Lock()
        async with access.renewal:
            if access.session is not refused:
                return
            session = await self._renew(refused)
            if (session.tenant, session.tenancy) != (refused.tenant, refused.tenancy):
                raise Unavailable("the tenant is being moved; try again")
            access.session = session

    async def _send(
        self, access: Access, operation: str, body: dict[str, Any], via: Via, *, again: bool = False
    ) -> dict[str, Any]:
        session = access.session
        verdict = authorize(access, operation, body)
        replayed = access.replayed(operation, orjson.dumps(body)) if access.replay else None
        if replayed is not None:
            return _replayed(replayed)
        started = monotonic()
        try:
            answer = await via.client.call(
                operation,
                body,
                credentials=session.credentials,
                target=session.tenancy.target,
                deadline=access.deadline,
            )
        except CredentialsExpired:
            if again:
                raise
            # once: the session was revoked or expired during the request
            await self._renewed(access, session)
            return await self._send(access, operation, body, via, again=True)
        except Exception as error:
            if access.code_reads:
                access.replay.append((operation, orjson.dumps(body), error))
            if isinstance(error, AccessDenied):
                _report_denied(session, operation, error)
            raise
        if access.code_reads:
            access.replay.append((operation, orjson.dumps(body), orjson.dumps(answer)))
        items, capacity = items_in(answer), units_of(answer.get("ConsumedCapacity"))
        access.calls.append(
            Call(
                operation=operation,
                index=body.get("IndexName"),
                items=items,
                capacity=capacity,
                seconds=monotonic() - started,
                statements=verdict.statements,
                key_shapes=key_shapes(self._model, session.tenant, operation, body) if access.explained else (),
                started=started,
                source=via.source,
            )
        )
        if operation in READS and ((capacity > 1 and capacity > items) or self.sizes.known):
            self.sizes.learn(session.tenant, operation, body, answer)
        return answer


def _settled(make: Callable[[], Found]) -> Found | Exception:
    try:
        return make()
    except IsolationBreach:
        # INVARIANT: nothing of an answer with a row of another tenant is used.
        raise
    except Exception as error:  # of this page alone
        return error


def _replayed(outcome: bytes | Exception) -> dict[str, Any]:
    if isinstance(outcome, Exception):
        raise outcome
    answer: dict[str, Any] = orjson.loads(outcome)
    return answer


def _report_denied(session: Session, operation: str, error: AccessDenied) -> None:
    """Logs that AWS refused what the gateway's own evaluation has just allowed, which raises an alarm."""
    fields = {
        "tenant": session.tenant,
        "role": session.role,
        "dynamodb_operation": operation,
        "aws_code": error.said.code,
        "aws_request_id": error.said.request_id,
    }
    _DENIED_BY_AWS.warning("aws denied what the gateway's evaluation had allowed", extra={"fields": fields})


def _same_tenant(access: Access, tenant: TenantId) -> None:
    # INVARIANT: a plan is run with its own tenant's session and with no other.
    if access.session.tenant != tenant:
        raise IsolationBreach("a plan of one tenant met the session of another")


def _is_foreign(access: Access, plan: QueryPartition) -> bool:
    """Whether the rows belong to another subject; they count as missing: no request is sent, and both look the same."""
    return access.session.permissions.foreign(plan.index.name if plan.index is not None else None, plan.partition)


class Patience:
    """Limits the retries of unprocessed keys: with full jitter, up to the deadline."""

    __slots__ = ("_attempt", "_give_up")

    def __init__(self, deadline: float | None) -> None:
        self._give_up = asyncio.get_running_loop().time() + _PATIENCE if deadline is None else deadline
        self._attempt = 0

    async def wait(self, left: int) -> None:
        """Waits before a retry; raises an error if there is no time left, so that nothing is silently dropped."""
        now = asyncio.get_running_loop().time()
        delay = full_jitter(self._attempt, _FIRST_PAUSE, _LONGEST_PAUSE)
        if now + delay >= self._give_up:
            error = Throttled if self._give_up > now else DeadlineExceeded
            raise error(f"{left} items could not be read in time; try again")
        self._attempt += 1
        await asyncio.sleep(delay)
