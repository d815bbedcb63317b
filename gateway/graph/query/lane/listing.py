"""Listings: how a lane reads a partition of the table or an index, and pages over all shards and time buckets."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from heapq import merge
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec
import orjson

from gateway.errors import BadUserInput, GatewayError
from gateway.graph.query.lane.fallback import FallBack, Reason
from gateway.graph.query.lane.items import IndexedItems, ItemsRead
from gateway.graph.query.lane.request import NO_KEY, LaneRequest
from gateway.graph.query.lane.rows import RowType, check_row, converted, entry_type, is_expired
from gateway.graph.query.lane.source import LaneTable, compact, escaped, pieces, query_answer
from gateway.model.filters import FILTER
from gateway.model.keys import ItemKey
from gateway.model.patterns import Listing, searched_by
from gateway.model.staleness import Staleness
from gateway.model.table import TableSpec
from gateway.model.tenant import TenantId
from gateway.store import wire
from gateway.store.filters import Reading, Stretch, merged_stretches
from gateway.store.key_ranges import KeyRange, starting_with
from gateway.store.own_writes import OwnWrites
from gateway.store.plan import Attributes, QueryMany, QueryPartition, Window, plan_listing, windowed
from gateway.store.table import PARALLEL_GROUPS

_EXAMPLE = TenantId("any")
_EXAMPLE_BOUNDS = KeyRange()
_PK, _LOW, _HIGH = "~pk~", "~low~", "~high~"


class RowPage(NamedTuple):
    rows: list[Any]
    more: bool
    reached: str | None = None  # the position where a filtered page stopped, if it read as much as it may


class QueryTexts:
    """The request bodies of Query on one placement, for each combination of bounds."""

    marker = '":pk":{"S":"'

    def __init__(self, spec: TableSpec, table: str, plan: QueryPartition, names: tuple[str, ...]) -> None:
        self._spec = spec
        self._table = table
        self._plan = plan
        self._names = names
        self._forms: dict[tuple[bool, bool, bool, bool], list[str]] = {}

    def example(self, bounds: KeyRange, *, forward: bool) -> dict[str, Any]:
        plan = self._plan
        example = QueryPartition(_EXAMPLE, plan.index, _PK, bounds, forward, 1, plan.attributes, plan.strong)
        return wire.query(self._spec, self._table, example, self._names, 1)

    def text(self, partition: str, bounds: KeyRange, *, forward: bool, limit: int, start: str | None = None) -> str:
        prefix, low, high = bounds.prefix, bounds.low, bounds.high
        form = (prefix is not None, low is not None, high is not None, forward)
        template = self._forms.get(form) or self._add_form(form)
        bounded = ""
        if prefix is not None or low is not None or high is not None:
            ends = [end for end in ((prefix,) if prefix is not None else (low, high)) if end is not None]
            bounded = "".join([before + escaped(end) for before, end in zip(template[1:], ends, strict=False)])
        if limit > wire.LARGEST_PAGE:
            limit = wire.LARGEST_PAGE
        text = f"{template[0]}{escaped(partition)}{bounded}{template[-2]}{limit}{template[-1]}"
        return text if start is None else f'{text[:-1]},"ExclusiveStartKey":{start}}}'

    def _add_form(self, form: tuple[bool, bool, bool, bool]) -> list[str]:
        template = self._forms[form] = self._made(*form)
        return template

    def _made(self, prefix: bool, low: bool, high: bool, forward: bool) -> list[str]:
        bounds = KeyRange(_LOW if low else None, _HIGH if high else None, _LOW if prefix else None)
        marks = [_LOW] if prefix else [mark for mark, given in ((_LOW, low), (_HIGH, high)) if given]
        parts = pieces(self.example(bounds, forward=forward), _PK, *marks)
        before, _, behind = parts[-1].partition('"Limit":1,')
        return [*parts[:-1], f'{before}"Limit":', f",{behind}"]


class PartitionRead:
    """Reads rows of one partition between two sort keys, page by page until there are enough."""

    def __init__(
        self,
        source: LaneTable,
        plan: QueryPartition,
        rows: RowType,
        staleness: Staleness | None = None,
        tail: str = "",
    ) -> None:
        """`tail` follows the tenant's prefix in the keys of all its partitions."""
        self.rows = rows
        self.remembers = False  # whether another read of the operation may request the same rows
        self._plan = replace(plan, attributes=plan.attributes - rows.denied)
        index = plan.index
        entities = tuple(entity.name for entity in rows.entities)
        names, self.through = source.table.stored_names(self._plan.attributes, index, entities)
        self._names = names
        self.type = entry_type(rows.model, index) if index is not None and self.through is not None else rows.type
        self._texts = QueryTexts(rows.model.table, source.session.tenancy.table, self._plan, names)
        example = self._texts.example(starting_with("any"), forward=True)
        name = index.name if index is not None else None
        self._table = source.session.tenancy.table
        form = None if len(entities) > 1 else source.table.sizes.form(entities[0], name, "Query", strong=plan.strong)
        self._call = source.call(
            "Query", name, QueryTexts.marker, query_answer(self.type), example, plan.attributes, form, tail
        )
        # rows that a filter removes are billed, too
        self._filtered_call = replace(self._call, permission=None, form=None)
        self._cached = source.cached(names, self._plan.strong, staleness, self._call, self.type)
        self._rows: Any = list[self.type]  # type: ignore[name-defined]  # created at run time

    async def shared(
        self, request: LaneRequest, partition: str, bounds: KeyRange, limit: int, *, forward: bool
    ) -> list[Any]:
        """Does the same as `read`, once for all equal reads of the operation."""
        if not self.remembers:
            return await self.read(request, partition, bounds, limit, forward=forward)
        key = (self._names, partition, bounds, limit, forward)
        rows = await request.once(key, lambda: self.read(request, partition, bounds, limit, forward=forward))
        return [converted(row, self.type) for row in rows]

    async def read(
        self, request: LaneRequest, partition: str, bounds: KeyRange, limit: int, *, forward: bool
    ) -> list[Any]:
        """Returns up to `limit` rows that have not expired."""
        writes = request.access.own_writes
        if writes is not None and writes.concern(self._call.index, partition, bounds):
            raise FallBack(Reason.OWN_WRITE)
        rows: list[Any] = []
        if self._cached is not None:
            rows = await self._through_cache(request, partition, bounds, limit, forward=forward)
        expired, start = 0, None
        while self._cached is None and len(rows) < limit:
            # expect as many expired rows to follow as were found so far; otherwise a thousand of them take a thousand
            # calls
            count = limit - len(rows) + expired
            text = self._texts.text(partition, bounds, forward=forward, limit=count, start=start)
            answer = await request.call(self._call, text, 1)
            page_rows = answer.Items
            if self.rows.expires:
                live = [row for row in page_rows if not is_expired(row, request.now)]
                expired += len(page_rows) - len(live)
                page_rows = live
            rows = rows + page_rows if rows else page_rows
            if answer.LastEvaluatedKey is NO_KEY or len(rows) >= limit:
                break
            start = compact(answer.LastEvaluatedKey)
        if writes is not None and self._call.index is not None:
            _check_unwritten(writes, rows)
        return rows[:limit] if len(rows) > limit else rows

    async def stretch(self, request: LaneRequest, query: QueryPartition) -> Stretch[Any]:
        """Reads the rows that a filter keeps, up to the read limit; authorized on each call, because filters vary."""
        assert query.filter is not None  # noqa: S101  the caller has checked; this tells the type checker
        rows: list[Any] = []
        if request.access.own_writes is not None:
            raise FallBack(Reason.OWN_WRITE)
        reading, start = Reading(query.limit, query.filter.reads), None
        while (count := reading.next()) and len(rows) < query.limit:
            body = wire.query(self.rows.model.table, self._table, query, self._names, count)
            if start is not None:
                body["ExclusiveStartKey"] = start
            answer = await request.call(self._filtered_call, orjson.dumps(body).decode(), 1)
            rows += [row for row in answer.Items if not self.rows.expires or not is_expired(row, request.now)]
            reading.read(count if answer.ScannedCount is None else answer.ScannedCount)
            start = None if answer.LastEvaluatedKey is NO_KEY else orjson.loads(bytes(answer.LastEvaluatedKey))
            if start is None:
                break
        position = query.index.sk if query.index is not None else self.rows.model.table.sk
        return Stretch(rows, None if start is None else start[position]["S"])

    async def _through_cache(
        self, request: LaneRequest, partition: str, bounds: KeyRange, limit: int, *, forward: bool
    ) -> list[Any]:
        assert self._cached is not None  # noqa: S101  the caller has checked; this tells the type checker
        plan = replace(
            self._plan, tenant=request.tenant, partition=partition, bounds=bounds, limit=limit, forward=forward
        )
        request.access.refusals += self._call.refusals
        try:
            rows: list[Any] = msgspec.convert(
                await request.table.cached_page(request.access, plan, self._cached), self._rows
            )
            return rows
        except GatewayError as error:
            raise FallBack(Reason.FAILED_CALL) from error
        except msgspec.MsgspecError as error:
            raise FallBack(Reason.ROW) from error


def _check_unwritten(writes: OwnWrites, rows: list[Any]) -> None:
    """Falls back if an index may still show an item as it was before the caller's own write."""
    if writes.hold({ItemKey(row.pk.S, row.sk.S) for row in rows}):
        raise FallBack(Reason.OWN_WRITE)


def _with_items(page: RowPage, items: Mapping[ItemKey, Any], place_of: Callable[[Any], Any], backward: bool) -> RowPage:
    """Replaces entries by the current items of the table; omits those that are gone or have moved in the index."""
    rows = []
    for entry in page.rows:
        row = items.get(ItemKey(entry.pk.S, entry.sk.S))
        rows.append(row if row is not None and place_of(row) == place_of(entry) else None)
    last = 0 if backward else -1
    reached = page.reached
    if reached is None and page.more and rows and rows[last] is None:
        reached = page.rows[last].position.S
    return RowPage([row for row in rows if row is not None], page.more, reached)


class ListingRead:
    """Reads pages of a listing, over all its shards and time buckets."""

    def __init__(self, source: LaneTable, listing: Listing, rows: RowType, requested: Attributes) -> None:
        model = rows.model
        self.listing = listing
        self.rows = rows
        self._model = model
        self.remembers = False  # whether another read of the operation may request the same page
        self._attributes = requested - rows.denied
        named = frozenset((*listing.where, *((listing.between,) if listing.between is not None else ())))
        self._unsearched = source.denied(named)
        self._position = attrgetter(f"{rows.position}.S")
        place = model.place(listing)
        index = model.table.index(place.index)
        plan = QueryPartition(_EXAMPLE, index, "", _EXAMPLE_BOUNDS, True, 1, requested, listing.strong)
        self._partition = PartitionRead(source, plan, rows, listing.cached, place.pk.prefix({}))
        self.items: ItemsRead | None = None  # reads the table, if the index lacks some requested attributes
        if index is not None and self._partition.through is not None:
            self._place_of = attrgetter("pk" if index.local else "partition", "position")
            [entity] = rows.entities
            indexed = IndexedItems(index.name, self._partition.through, entity.cached or listing.cached)
            self.items = ItemsRead(source, entity, rows, self._attributes, strong=False, indexed=indexed)
        # if the listing is a whole partition, only its path and its size change from request to request
        self._plain = not listing.where and place.bucket is None and place.shards is None and not place.pk.holes
        self._path = place.pk.text if self._plain else ""
        self._bounds = starting_with(place.sk.prefix({}))

    async def page(self, request: LaneRequest, arguments: Mapping[str, Any], window: Window) -> RowPage:
        """Reads a page, once for all equal reads of the operation."""
        if not self.remembers:
            return await self.own_page(request, arguments, window)
        key = (self.listing.name, self.listing.strong, self._attributes, window, tuple(sorted(arguments.items())))
        page: RowPage = await request.once(key, lambda: self.own_page(request, arguments, window))
        return page._replace(rows=[converted(row, self._partition.type) for row in page.rows])

    async def own_page(self, request: LaneRequest, arguments: Mapping[str, Any], window: Window) -> RowPage:
        request.queries += 1
        if request.queries > request.limits.queries:
            raise FallBack(Reason.LIMIT)
        if self._unsearched and not self._unsearched.isdisjoint(searched_by(self.listing, arguments)):
            raise FallBack(Reason.REFUSED)
        limit = window.limit
        if self._plain and not arguments and window.after is None and window.before is None:
            rows = await self._partition.read(
                request,
                request.own + self._path,
                self._bounds,
                limit + 1,
                forward=self.listing.newest_first is window.backward,  # an order that the caller chooses is an argument
            )
        else:
            if FILTER in arguments:
                return await self._filtered(request, arguments, window)
            rows = await self._planned(request, arguments, window)
        more = len(rows) > limit
        if more:
            # the extra row, which only shows that there is a next page, is checked, too
            if not all(row.pk.S.startswith(request.own) for row in rows[limit:]):
                raise FallBack(Reason.FOREIGN_ROW)
            if not self.rows.expires and any(row.ttl is not None for row in rows[limit:]):
                raise FallBack(Reason.EXPIRY)
            rows = rows[:limit]
        return RowPage(rows[::-1] if window.backward else rows, more)

    async def fetched(self, request: LaneRequest, pages: list[RowPage], windows: list[Window]) -> list[RowPage]:
        """Reads the items of index entries from the table, for all pages together."""
        if self.items is None:
            return pages
        entries = [entry for page in pages for entry in page.rows]
        # INVARIANT: an item is only requested by a key of the tenant, whatever an index returns.
        if not all(entry.pk.S.startswith(request.own) for entry in entries):
            raise FallBack(Reason.FOREIGN_ROW)
        items = await self.items.read(request, [ItemKey(entry.pk.S, entry.sk.S) for entry in entries])
        return [
            _with_items(page, items, self._place_of, window.backward)
            for page, window in zip(pages, windows, strict=True)
        ]

    def _plan(self, request: LaneRequest, arguments: Mapping[str, Any], window: Window) -> QueryMany:
        try:
            values = windowed(self.listing, arguments, request.access.now())
            return plan_listing(self._model, self.listing, request.tenant, values, window, self._attributes)
        except BadUserInput as error:
            raise FallBack(Reason.ARGUMENT) from error

    async def _filtered(self, request: LaneRequest, arguments: Mapping[str, Any], window: Window) -> RowPage:
        plan = self._plan(request, arguments, window)
        if not plan.groups:
            return RowPage([], False)
        [queries] = plan.groups
        stretches = await request.run_all([self._partition.stretch(request, query) for query in queries])
        for row in (row for stretch in stretches for row in stretch.rows if self.items is None):
            check_row(row, self.rows.entities[0], request.own)
        merged = merged_stretches(stretches, self._position, forward=queries[0].forward, limit=window.limit)
        return RowPage(merged.rows[::-1] if window.backward else merged.rows, merged.more, merged.reached)

    async def _planned(self, request: LaneRequest, arguments: Mapping[str, Any], window: Window) -> list[Any]:
        plan = self._plan(request, arguments, window)
        rows: list[Any] = []
        for start in range(0, len(plan.groups), PARALLEL_GROUPS):
            wave = plan.groups[start : start + PARALLEL_GROUPS]
            for group in await request.run_all([self._group(request, queries) for queries in wave]):
                rows += group
            if len(rows) > window.limit:
                break
        return rows

    async def _group(self, request: LaneRequest, queries: tuple[QueryPartition, ...]) -> list[Any]:
        streams = await request.run_all(
            [
                self._partition.read(request, query.partition, query.bounds, query.limit, forward=query.forward)
                for query in queries
            ]
        )
        if len(streams) == 1:
            return streams[0]
        # stop the merge at one item more than a page; each stream has that many, if they exist
        merged = merge(*streams, key=self._position, reverse=not queries[0].forward)
        return [row for row, _ in zip(merged, range(queries[0].limit), strict=False)]

    def position(self, row: Any) -> str:
        text: str = self._position(row)
        return text
