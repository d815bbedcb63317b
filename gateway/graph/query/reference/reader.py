"""How one request reads: loaders made for it alone, so that equal questions are asked once and together."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from aiodataloader import DataLoader

from gateway.errors import LimitExceeded
from gateway.graph.query.paging import page_window
from gateway.graph.query.reference.field_access import FieldAccess
from gateway.graph.query.reference.item_loader import Found, ItemLoader, RequestTasks, weak_method
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.patterns import ItemCollection, Listing, Lookup, parameters
from gateway.model.tenant import TenantId
from gateway.store.access import Access, gather_settled, shared
from gateway.store.cursor import Cursors
from gateway.store.plan import Attributes, ReadLimits, Window, plan_item_collection, plan_listing, windowed
from gateway.store.rows import Item
from gateway.store.table import Page, Table

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Asked:
    listing: str
    arguments: tuple[tuple[str, Any], ...]
    window: Window
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class _ItemCollectionRead:
    """An item with the first members of one of its collections."""

    pattern: ItemCollection
    values: tuple[tuple[str, Any], ...]
    window: Window | None
    attributes: Attributes
    members: Attributes


class Reader:
    """INVARIANT: made per request with that request's session; it is never shared between requests or tenants."""

    def __init__(self, model: Model, table: Table, access: Access, cursors: Cursors, limits: ReadLimits) -> None:
        self.model = model
        self.access = access
        self.limits = limits
        self._table = table
        self._cursors = cursors
        self._field_access = FieldAccess(model, access)
        self._tasks = RequestTasks()
        self._joined: dict[_ItemCollectionRead, asyncio.Task[Item | None]] = {}
        self._queries = 0

    # loaders are made when something is loaded: most mutations need none

    @cached_property
    def _items(self) -> ItemLoader:
        return ItemLoader(self._table, self.access, self._field_access, self._tasks)

    @cached_property
    def _pages(self) -> "DataLoader[_Asked, Page]":
        load: Any = weak_method(self._load_pages)  # it may answer failures among the pages
        return DataLoader(load)

    def close(self) -> None:
        """Ends what still runs below: loaders work in tasks of their own, which a cancelled request leaves behind."""
        self._tasks.close()
        # what failed holds on to the frames that it passed, and they to the reader
        self.forget()

    def changed(self, item: Item | None) -> Item | None:
        """What a mutation answers, as a read would show it; what was loaded before it is forgotten."""
        self.forget()
        if item is not None:
            self._field_access.refuse_written(item)
        return item

    def forget(self) -> None:
        self.__dict__.pop("_items", None)
        self.__dict__.pop("_pages", None)
        self._joined.clear()

    @property
    def tenant(self) -> TenantId:
        return self.access.session.tenant

    async def item(self, lookup: Lookup, values: Arguments, attributes: Attributes) -> Item | None:
        key = item_key(self.tenant, self.model.entities[lookup.entity], values)
        return (await self.items_at(lookup, (key,), attributes))[key]

    async def items(self, lookup: Lookup, wanted: list[Arguments], attributes: Attributes) -> list[Item | None]:
        entity = self.model.entities[lookup.entity]
        keys = tuple(item_key(self.tenant, entity, values) for values in wanted)
        found = await self.items_at(lookup, keys, attributes)
        return [found[key] for key in keys]

    def items_at(self, lookup: Lookup, keys: tuple[ItemKey, ...], attributes: Attributes) -> Coroutine[Any, Any, Found]:
        """Items by their keys; whatever is asked for in the same turn of the loop is read together."""
        return self._items.items_at(lookup, keys, attributes)

    async def page(self, listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> Page:
        return await shared(self._pages.load(_asked(listing, arguments, window, attributes)))

    async def item_with(
        self,
        pattern: ItemCollection,
        values: Arguments,
        window: Window | None,
        attributes: Attributes,
        members: Attributes,
    ) -> Item | None:
        """An item and the first members of a collection from one Query; the members wait in the loaders."""
        joined = _ItemCollectionRead(pattern, tuple(sorted(values.items())), window, attributes, members)
        task = self._joined.get(joined)
        if task is None:
            task = self._joined[joined] = asyncio.ensure_future(self._read_item_collection(joined))
            self._tasks.track(task)
        return await shared(task)

    async def _read_item_collection(self, asked: "_ItemCollectionRead") -> Item | None:
        pattern, window, attributes, members = asked.pattern, asked.window, asked.attributes, asked.members
        plan = plan_item_collection(
            self.model,
            pattern,
            self.tenant,
            dict(asked.values),
            window.limit if window is not None else None,
            self._field_access.readable(attributes | members, "Query"),
        )
        root, found = await self._table.query_item_collection(self.access, plan)
        relation = self.model.entities[pattern.entity].relation[pattern.collection]
        if root is None:
            return None
        for item in (root, *found):
            self._field_access.refuse(item, attributes | members, "Query")
        served = self.model.patterns[relation.pattern]
        if isinstance(served, Listing) and window is not None:
            names = {name: root.values.get(relation.bind.get(name, name)) for name in parameters(self.model, served)}
            page = Page(tuple(found[: window.limit]), more=len(found) > window.limit)
            self._pages.prime(_asked(served, names, window, members), page)
        elif isinstance(served, Lookup):
            for item in found:
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
        """Relay's four arguments as a window, or `BadUserInput`."""
        return page_window(self._cursors, self.tenant, self.limits, listing, arguments, first, after, last, before)

    def cursor(self, listing: Listing, arguments: Arguments, item: Item) -> str:
        return self._cursors.seal(self.tenant, listing.name, arguments, item.position)

    async def _load_pages(self, asked: list[_Asked]) -> list[Page | Exception]:
        """What fails is remembered by the loader and is the failure of that page alone."""
        self._tasks.track(asyncio.current_task())
        self._queries += len(asked)
        if self._queries > self.limits.queries:
            raise LimitExceeded(
                f"the operation needs more than {self.limits.queries} queries; a list in a list costs one for each item"
            )
        return await gather_settled([self._read_page(each) for each in asked])

    async def _read_page(self, asked: _Asked) -> Page:
        listing = self.model.listing(asked.listing)
        attributes = self._field_access.readable(asked.attributes, "Query")
        arguments = windowed(listing, dict(asked.arguments), datetime.now(UTC))
        plan = plan_listing(self.model, listing, self.tenant, arguments, asked.window, attributes)
        page = await self._table.query(self.access, plan)
        for item in page.items:
            self._field_access.refuse(item, asked.attributes, "Query")
        return page

    def parameters(self, listing: Listing) -> tuple[str, ...]:
        return parameters(self.model, listing)


def _asked(listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> _Asked:
    given = tuple(sorted((name, value) for name, value in arguments.items() if value is not None))
    return _Asked(listing.name, given, window, attributes)
