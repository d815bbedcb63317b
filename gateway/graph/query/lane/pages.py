"""Pages in a lane: builds connections around the results of their items, for one parent or for many together."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from gateway.errors import BadUserInput
from gateway.graph.query.arguments import Arguments
from gateway.graph.query.lane.fallback import FallBack, Reason
from gateway.graph.query.lane.items import ItemsRead, Level, Parts
from gateway.graph.query.lane.listing import ListingRead, RowPage
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.lane.rows import Shape, check_row
from gateway.graph.query.lane.values import Read
from gateway.graph.query.paging import first_window, page_window, take_arguments
from gateway.graph.query.tree import (
    CursorField,
    EdgesField,
    NodesField,
    PageInfoField,
    PageInfoPart,
    PageSelection,
    TotalCountField,
    Typename,
)
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey, item_key
from gateway.model.patterns import Listing, counter_keys
from gateway.store.plan import Window


class RequestedPage(NamedTuple):
    """One requested page of a listing; its cursors are bound to `arguments`."""

    arguments: dict[str, Any]
    window: Window


def requested_page(request: LaneRequest, listing: Listing, given: dict[str, Any]) -> RequestedPage:
    """Returns the page that the arguments of a field request; modifies `given`, which must not be used again."""
    paging = take_arguments(listing, given)
    try:
        window = page_window(request.cursors, request.scope, request.limits, listing, given, *paging)
    except BadUserInput as error:
        raise FallBack(Reason.ARGUMENT) from error
    return RequestedPage(given, window)


@dataclass(frozen=True, slots=True)
class CountRead:
    """Reads the rows of a listing's counter; the rows for all pages of a level share batches."""

    listing: Listing
    entity: Entity
    read: ItemsRead
    numbers: Shape

    async def totals(self, request: LaneRequest, requested: list[RequestedPage]) -> list[int]:
        keys = [self._keys(request, page.arguments) for page in requested]
        rows = await self.read.read(request, chain.from_iterable(keys))
        numbers = dict(zip(rows, self.numbers(list(rows.values()), request.own, request.scope), strict=True))
        return [sum(numbers.get(key, 0) for key in page_keys) for page_keys in keys]

    def _keys(self, request: LaneRequest, arguments: Mapping[str, Any]) -> list[ItemKey]:
        try:
            rows = counter_keys(self.read.rows.model, self.listing, arguments)
            return [item_key(request.tenant, self.entity, values) for values in rows]
        except BadUserInput as error:
            raise FallBack(Reason.ARGUMENT) from error


_EMPTY = RowPage([], more=False)


@dataclass(frozen=True, slots=True)
class PageLevel:
    """The selection on a connection; `level` has the selections on its items, in the order of its fields."""

    selection: PageSelection
    read: ListingRead
    probe: ListingRead | None  # reads keys only, for `pageInfo`
    level: Level
    count: CountRead | None = None  # for `totalCount`

    async def answers(self, request: LaneRequest, requested: list[RequestedPage]) -> list[Any]:
        if self.selection.counts_only:
            return await self.connections(request, requested, [_EMPTY] * len(requested))
        pages = await request.run_all([self.read.page(request, page.arguments, page.window) for page in requested])
        if self.read.items is not None:
            pages = await self.read.fetched(request, pages, [page.window for page in requested])
        return await self.connections(request, requested, pages)

    async def connections(
        self, request: LaneRequest, requested: list[RequestedPage], pages: list[RowPage]
    ) -> list[Any]:
        rows = pages[0].rows if len(pages) == 1 else [row for page in pages for row in page.rows]
        columns = await self.level.answers(request, [rows] * len(self.level.shapes))
        if len(pages) == 1 and self.count is None and [*map(type, self.selection.fields)] == [NodesField]:
            return [{self.selection.fields[0].key: columns[0]}]
        connections, start = [], 0
        for page_request, page in zip(requested, pages, strict=True):
            end = start + len(page.rows)
            own = columns if len(pages) == 1 else [column[start:end] for column in columns]
            connections.append(await self._connection(request, page_request, page, own))
            start = end
        if self.count is not None:
            self._put_totals(connections, await self.count.totals(request, requested))
        return connections

    def _put_totals(self, connections: list[Any], totals: list[int]) -> None:
        keys = [field.key for field in self.selection.fields if isinstance(field, TotalCountField)]
        for out, total in zip(connections, totals, strict=True):
            out.update(dict.fromkeys(keys, total))

    async def _connection(
        self, request: LaneRequest, requested: RequestedPage, page: RowPage, columns: list[list[Any]]
    ) -> dict[str, Any]:
        out: dict[str, Any] = {}
        column = iter(columns)
        for field in self.selection.fields:
            match field:
                case NodesField():
                    out[field.key] = next(column)
                case EdgesField():
                    out[field.key] = self._edges(request, requested, page, field, column)
                case PageInfoField():
                    out[field.key] = await self._page_info(request, requested, page, field)
                case Typename():
                    out[field.key] = field.value
                case TotalCountField():
                    out[field.key] = 0  # reserves the place; the totals of all pages are read together
        if not self.level.shapes:
            for row in page.rows:
                check_row(row, self.read.rows.entities[0], request.own)
        return out

    def _edges(
        self, request: LaneRequest, requested: RequestedPage, page: RowPage, field: EdgesField, column: Any
    ) -> list[dict[str, Any]]:
        edges: list[dict[str, Any]] = [{} for _ in page.rows]
        for part in field.fields:
            match part:
                case NodesField():
                    values = next(column)
                case CursorField():
                    values = [self._cursor(request, requested, row) for row in page.rows]
                case Typename():
                    values = [part.value] * len(edges)
            for edge, value in zip(edges, values, strict=True):
                edge[part.key] = value
        return edges

    def _cursor(self, request: LaneRequest, requested: RequestedPage, row: Any) -> str:
        return self._cursor_at(request, requested, self.read.position(row))

    def _cursor_at(self, request: LaneRequest, requested: RequestedPage, position: str) -> str:
        return request.cursors.seal(request.scope, self.read.listing.name, requested.arguments, position)

    async def _page_info(
        self, request: LaneRequest, requested: RequestedPage, page: RowPage, field: PageInfoField
    ) -> dict[str, Any]:
        values: dict[str, Any] = {}
        out: dict[str, Any] = {}
        for part in field.fields:
            if isinstance(part, Typename):
                out[part.key] = part.value
                continue
            if part.name not in values:
                values[part.name] = await self._page_info_value(request, requested, page, part)
            out[part.key] = values[part.name]
        return out

    async def _page_info_value(
        self, request: LaneRequest, requested: RequestedPage, page: RowPage, part: PageInfoPart
    ) -> Any:
        rows, window = page.rows, requested.window
        match part.name:
            case "startCursor":
                if page.reached is not None and window.backward:
                    return self._cursor_at(request, requested, page.reached)
                return self._cursor(request, requested, rows[0]) if rows else None
            case "endCursor":
                if page.reached is not None and not window.backward:
                    return self._cursor_at(request, requested, page.reached)
                return self._cursor(request, requested, rows[-1]) if rows else None
            case "hasNextPage":
                if page.more and not window.backward:
                    return True
                after = self.read.position(rows[-1]) if rows else None
                return window.before is not None and await self._beyond(
                    request, requested, Window(0, after=after, reverse=window.reverse)
                )
        if page.more and window.backward:
            return True
        before = self.read.position(rows[0]) if rows else None
        beyond = Window(0, before=before, backward=True, reverse=window.reverse)
        return window.after is not None and await self._beyond(request, requested, beyond)

    async def _beyond(self, request: LaneRequest, requested: RequestedPage, window: Window) -> bool:
        """Reads whether there are items beyond an end of this page, which a cursor alone does not show."""
        assert self.probe is not None  # noqa: S101  it is created if `pageInfo` is selected
        return (await self.probe.page(request, requested.arguments, window)).more


@dataclass(frozen=True, slots=True)
class PagesLoad:
    """Reads a page for each parent, with a Query of its own, because DynamoDB has no batch form of Query."""

    part: int
    slot: str
    arguments: Arguments
    listing: Listing
    bound: Mapping[str, tuple[str, Read]]  # the parameters that the parent fills
    page: PageLevel

    async def fill(self, request: LaneRequest, rows: Parts, outs: Parts) -> None:
        requested = [self._requested_page(request, row) for row in rows[self.part]]
        for out, page in zip(outs[self.part], await self.page.answers(request, requested), strict=True):
            setattr(out, self.slot, page)

    def _requested_page(self, request: LaneRequest, row: Any) -> RequestedPage:
        arguments = self.arguments.values(request.variables)
        return requested_page(request, self.listing, {**arguments, **self.values(row)})

    def values(self, row: Any) -> dict[str, Any]:
        values = {}
        for name, (field, read) in self.bound.items():
            wire = getattr(row, field)
            if wire is None:
                # graphql-core reports the missing parameter
                raise FallBack(Reason.ARGUMENT)
            values[name] = read(wire)
        return values


@dataclass(frozen=True, slots=True)
class PageRoot:
    """A root field that returns a page of a listing."""

    number: int
    arguments: Arguments
    page: PageLevel

    async def answer(self, request: LaneRequest) -> list[tuple[int, Any]]:
        page_of, read = self.page, self.page.read
        arguments = self.arguments.values(request.variables, request.caller)
        first = arguments.get("first")
        if len(arguments) == 1 and first is not None and 0 <= first <= request.limits.page:
            requested = RequestedPage({}, first_window(first))
        else:
            requested = requested_page(request, read.listing, arguments)
        if page_of.count is not None or read.items is not None:
            return [(self.number, (await page_of.answers(request, [requested]))[0])]
        page = await (read.page if read.remembers else read.own_page)(request, requested.arguments, requested.window)
        [connection] = await page_of.connections(request, [requested], [page])
        return [(self.number, connection)]
