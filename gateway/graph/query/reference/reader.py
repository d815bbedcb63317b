"""The reads of one request, through its own loaders, which batch them and read nothing twice."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from gateway.errors import LimitExceeded
from gateway.graph.query.caller_reader import CallerReader
from gateway.graph.query.paging import page_window
from gateway.graph.query.reference.derived_loader import DerivedLoader
from gateway.graph.query.reference.field_access import FieldAccess
from gateway.graph.query.reference.item_loader import ItemLoader, ItemsByKey, RequestTasks, weak_method
from gateway.graph.query.reference.pieces import PieceLoader, Pieces
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.patterns import (
    ItemCollection,
    Listing,
    Lookup,
    counter_keys,
    counter_lookup,
    parameters,
    searched_by,
    sorted_by,
)
from gateway.model.tenant import TenantId
from gateway.store.access import Access, shared
from gateway.store.cursor import Cursors
from gateway.store.plan import (
    Attributes,
    QueryMany,
    ReadLimits,
    Window,
    plan_item_collection,
    plan_listing,
    windowed,
)
from gateway.store.read_through import Page
from gateway.store.rows import Item
from gateway.store.table import Table

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _PageRead:
    listing: str
    strong: bool
    arguments: tuple[tuple[str, Any], ...]
    window: Window
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class _ItemCollectionRead:
    """A read of an item with the first members of one of its collections."""

    pattern: ItemCollection
    values: tuple[tuple[str, Any], ...]
    window: Window | None
    attributes: Attributes
    members: Attributes


class Reader:
    """INVARIANT: a reader belongs to one request and its session; requests and tenants never share one."""

    def __init__(
        self,
        model: Model,
        table: Table,
        access: Access,
        cursors: Cursors,
        limits: ReadLimits,
    ) -> None:
        self.model = model
        self.access = access
        self.limits = limits
        self._table = table
        self.cursors = cursors
        self._field_access = FieldAccess(model, access)
        self._tasks = RequestTasks()
        self._item_collections: dict[_ItemCollectionRead, asyncio.Task[Item | None]] = {}
        self._queries = 0

    # loaders are created when they are first used: most mutations need none

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces(self._table.pacer, self.access.session.tenant)

    @cached_property
    def _items(self) -> ItemLoader:
        return ItemLoader(self._table, self.access, self._field_access, self._tasks, self.pieces)

    @cached_property
    def _pages(self) -> PieceLoader[_PageRead, Page]:
        load: Any = weak_method(self._load_pages)  # it may return errors among the pages
        return PieceLoader(load, self.pieces)

    @cached_property
    def caller(self) -> CallerReader:
        """The reader for a domain's own code."""
        return CallerReader(self)

    @cached_property
    def derived(self) -> DerivedLoader:
        return DerivedLoader(self.caller, self.access, self._tasks, self.pieces)

    def close(self) -> None:
        """Cancels the loaders' tasks, which do not end by themselves when the request is cancelled."""
        self._tasks.close()
        # a stored failure refers to its frames, and these refer to the reader
        self.forget()

    def changed(self, item: Item | None) -> Item | None:
        """Hides in a mutation's item what a read would hide, and drops everything that was loaded before."""
        self.forget()
        self.access.loaded = self.access.read_at = None
        if item is not None:
            self._field_access.refuse_written(item)
        return item

    def forget(self) -> None:
        created = self.__dict__
        if "pieces" in created or "caller" in created:
            # the last two refer to the reader
            for name in ("_items", "_pages", "derived", "caller"):
                created.pop(name, None)
        self._item_collections.clear()

    @property
    def tenant(self) -> TenantId:
        return self.access.session.tenant

    @property
    def scope(self) -> str:
        return self.access.session.scope

    async def item(self, lookup: Lookup, values: Arguments, attributes: Attributes) -> Item | None:
        key = item_key(self.tenant, self.model.entities[lookup.entity], values)
        return (await self.items_at(lookup, (key,), attributes))[key]

    async def items(self, lookup: Lookup, arguments: Sequence[Arguments], attributes: Attributes) -> list[Item | None]:
        entity = self.model.stored[lookup.entity]
        keys = tuple(item_key(self.tenant, entity, values) for values in arguments)
        items = await self.items_at(lookup, keys, attributes)
        return [items[key] for key in keys]

    def items_at(
        self, lookup: Lookup, keys: tuple[ItemKey, ...], attributes: Attributes
    ) -> Coroutine[Any, Any, ItemsByKey]:
        """Reads items by their keys; all keys that are requested in one turn of the event loop share a batch."""
        self._field_access.check_search(sorted_by(self.model.stored[lookup.entity].primary), "GetItem")
        return self._items.items_at(lookup, keys, attributes)

    def items_named(
        self, lookup: Lookup, keys: tuple[ItemKey, ...], attributes: Attributes
    ) -> Coroutine[Any, Any, ItemsByKey]:
        """Reads items by keys that come from global ids: an encrypted id cannot be made up to search for somebody."""
        if self.model.entities[lookup.entity].personal_key:
            return self._items.items_at(lookup, keys, attributes)
        return self.items_at(lookup, keys, attributes)

    def watched(
        self, lookup: Lookup, listing: Listing, keys: tuple[ItemKey, ...], attributes: Attributes
    ) -> Coroutine[Any, Any, ItemsByKey]:
        """Reads items of a watched list: those of an index by their own keys, others in place."""
        place = self.model.place(listing)
        if place.index is not None:
            return self.items_at(lookup, keys, attributes)
        self._field_access.check_search(sorted_by(place), "GetItem")
        return self._items.items_at(lookup, keys, attributes)

    async def page(self, listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> Page:
        return await shared(self._pages.load(_page_read(listing, arguments, window, attributes)))

    async def count(self, listing: Listing, arguments: Arguments) -> int:
        """Returns how many items the listing has for its parameters, regardless of ranges and filters."""
        lookup = counter_lookup(self.model.counters[listing.name], listing)
        keys = counter_keys(self.model, listing, arguments)
        rows = await self.items(lookup, keys, frozenset({self.model.table.counted}))
        return sum(row[self.model.table.counted] or 0 for row in rows if row is not None)

    async def item_collection(
        self,
        pattern: ItemCollection,
        values: Arguments,
        window: Window | None,
        attributes: Attributes,
        members: Attributes,
    ) -> Item | None:
        """Reads an item and the first members of a collection in one Query, and puts the members into the loaders."""
        read = _ItemCollectionRead(pattern, tuple(sorted(values.items())), window, attributes, members)
        task = self._item_collections.get(read)
        if task is None:
            task = self._item_collections[read] = asyncio.ensure_future(self._read_item_collection(read))
            self._tasks.track(task)
        return await shared(task)

    async def _read_item_collection(self, read: _ItemCollectionRead) -> Item | None:
        pattern, window, attributes, members = read.pattern, read.window, read.attributes, read.members
        self._field_access.check_search(sorted_by(self.model.entities[pattern.entity].primary), "Query")
        plan = plan_item_collection(
            self.model,
            pattern,
            self.tenant,
            dict(read.values),
            window.limit if window is not None else None,
            self._field_access.readable(attributes | members, "Query"),
        )
        root, member_items = await self._table.query_item_collection(self.access, plan)
        relation = self.model.entities[pattern.entity].relation[pattern.collection]
        if root is None:
            return None
        for item in (root, *member_items):
            self._field_access.refuse(item, attributes | members, "Query")
        served = self.model.patterns[relation.pattern]
        if isinstance(served, Listing) and window is not None:
            names = {name: root.values.get(relation.bind.get(name, name)) for name in parameters(self.model, served)}
            page = Page(tuple(member_items[: window.limit]), more=len(member_items) > window.limit)
            self._pages.prime(_page_read(served, names, window, members), page)
        elif isinstance(served, Lookup):
            for item in member_items:
                self._items.put(served, ItemKey(plan.query.partition, item.position), members, item)
        return root

    def window(
        self,
        listing: Listing,
        arguments: Arguments,
        first: int | None,
        after: str | None,
        last: int | None,
        before: str | None,
    ) -> Window:
        """Converts Relay's four arguments to a window; raises `BadUserInput` if they are invalid."""
        return page_window(self.cursors, self.scope, self.limits, listing, arguments, first, after, last, before)

    def cursor(self, listing: Listing, arguments: Arguments, position: str) -> str:
        return self.cursors.seal(self.scope, listing.name, arguments, position)

    async def _load_pages(self, reads: list[_PageRead]) -> list[Page | Exception]:
        """Reads pages; a failed read fails only its own page, and the loader keeps the error for equal reads."""
        self._tasks.track(asyncio.current_task())
        self._queries += len(reads)
        if self._queries > self.limits.queries:
            raise LimitExceeded(
                f"the operation needs more than {self.limits.queries} queries, which is the limit; "
                "a list inside a list needs one for each item"
            )
        plans = [self._plan(read) for read in reads]
        pages = iter(
            await self._table.query_each(self.access, [plan for plan in plans if not isinstance(plan, Exception)])
        )
        results = [plan if isinstance(plan, Exception) else next(pages) for plan in plans]
        for read, page in zip(reads, results, strict=True):
            for item in page.items if isinstance(page, Page) else ():
                self._field_access.refuse(item, read.attributes, "Query")
        return results

    def _plan(self, read: _PageRead) -> QueryMany | Exception:
        listing = self.model.listing(read.listing)
        if read.strong and not listing.strong:
            listing = replace(listing, strong=True)  # as the caller requested
        remaining = dict(read.arguments)
        try:
            self._field_access.check_search(searched_by(listing, remaining), "Query")
            attributes = self._field_access.readable(read.attributes, "Query")
            arguments = windowed(listing, remaining, self.access.now())
            return plan_listing(self.model, listing, self.tenant, arguments, read.window, attributes)
        except Exception as error:  # of this page alone
            return error


def _page_read(listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> _PageRead:
    present = tuple(sorted((name, value) for name, value in arguments.items() if value is not None))
    return _PageRead(listing.name, listing.strong, present, window, attributes)
