"""How one request reads: loaders made for it alone, so that equal questions are asked once and together."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from aiodataloader import DataLoader

from gateway.errors import BadUserInput, Forbidden, LimitExceeded
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import Listing, Lookup, Together
from gateway.model.tenant import TenantId, partition
from gateway.store.access import Access, Refusal, together
from gateway.store.cursor import Cursors
from gateway.store.plan import Attributes, GetItems, Window, plan_listing, plan_together
from gateway.store.rows import Item
from gateway.store.table import Page, Table

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Wanted:
    key: ItemKey
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class _Asked:
    listing: str
    arguments: tuple[tuple[str, Any], ...]
    window: Window
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class ReadLimits:
    page: int = 100
    default_page: int = 20
    queries: int = 100


class Reader:
    """INVARIANT: made per request with that request's session; it is never shared between requests or tenants."""

    def __init__(self, model: Model, table: Table, access: Access, cursors: Cursors, limits: ReadLimits) -> None:
        self.model = model
        self.access = access
        self.limits = limits
        self._table = table
        self._cursors = cursors
        self._items: dict[tuple[str, bool], DataLoader[_Wanted, Item | None]] = {}
        self._pages: DataLoader[_Asked, Page] = DataLoader(self._load_pages)
        self._queries = 0
        self._known_denied: dict[Attributes, Attributes] = {}
        self._loading: set[asyncio.Task[Any]] = set()

    def close(self) -> None:
        """Ends what still runs below: loaders work in tasks of their own, which a cancelled request leaves behind."""
        for task in self._loading:
            task.cancel()

    def changed(self, item: Item | None) -> Item | None:
        """What a mutation answers, as a read would show it; what was loaded before it is forgotten."""
        self._items.clear()
        self._pages.clear_all()
        if item is not None:
            self._refuse(item, frozenset(item.values))
        return item

    def _track(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._loading.add(task)
            task.add_done_callback(self._loading.discard)

    @property
    def tenant(self) -> TenantId:
        return self.access.session.tenant

    async def item(self, lookup: Lookup, values: Arguments, attributes: Attributes) -> Item | None:
        key = item_key(self.tenant, self.model.entities[lookup.entity], values)
        return await self._loader(lookup).load(_Wanted(key, attributes))

    async def items(self, lookup: Lookup, wanted: list[Arguments], attributes: Attributes) -> list[Item | None]:
        entity, loader = self.model.entities[lookup.entity], self._loader(lookup)
        return await loader.load_many([_Wanted(item_key(self.tenant, entity, values), attributes) for values in wanted])

    async def page(self, listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> Page:
        return await self._pages.load(_asked(listing, arguments, window, attributes))

    async def item_with(
        self, pattern: Together, values: Arguments, window: Window | None, attributes: Attributes, members: Attributes
    ) -> Item | None:
        """An item and the first members of a collection from one Query; the members wait in the loaders."""
        plan = plan_together(
            self.model,
            pattern,
            self.tenant,
            values,
            window.limit if window is not None else None,
            self._readable(attributes | members),
        )
        root, found = await self._table.query_together(self.access, plan)
        relation = self.model.entities[pattern.entity].relation[pattern.collection]
        if root is None:
            return None
        for item in (root, *found):
            self._refuse(item, attributes | members)
        served = self.model.patterns[relation.pattern]
        if isinstance(served, Listing) and window is not None:
            names = {name: root.values.get(relation.bind.get(name, name)) for name in parameters(self.model, served)}
            page = Page(tuple(found[: window.limit]), more=len(found) > window.limit)
            self._pages.prime(_asked(served, names, window, members), page)
        elif isinstance(served, Lookup):
            loader = self._loader(served)
            for item in found:
                key = ItemKey(plan.query.partition, item.position)
                loader.prime(_Wanted(key, members), item)
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
        if first is not None and last is not None:
            raise BadUserInput("give either `first` or `last`, not both")
        limit = first if first is not None else last if last is not None else self.limits.default_page
        if not 0 <= limit <= self.limits.page:
            raise BadUserInput(f"`{'last' if last is not None else 'first'}` lies between 0 and {self.limits.page}")
        return Window(
            limit=limit,
            after=self._position(listing, arguments, after),
            before=self._position(listing, arguments, before),
            backward=last is not None,
        )

    def _position(self, listing: Listing, arguments: Arguments, cursor: str | None) -> str | None:
        return None if cursor is None else self._cursors.open(self.tenant, listing.name, arguments, cursor)

    def cursor(self, listing: Listing, arguments: Arguments, item: Item) -> str:
        return self._cursors.seal(self.tenant, listing.name, arguments, item.position)

    def _loader(self, lookup: Lookup) -> "DataLoader[_Wanted, Item | None]":
        key = (lookup.entity, lookup.strong)
        loader = self._items.get(key)
        if loader is None:
            loader = self._items[key] = DataLoader(partial(self._load_items, *key))
        return loader

    async def _load_items(self, entity: str, strong: bool, wanted: list[_Wanted]) -> list[Item | None]:
        """One read for all that were asked for in this turn, with the union of their attributes."""
        self._track()
        asked = frozenset[str]().union(*(each.attributes for each in wanted))
        keys = tuple(each.key for each in wanted)
        plan = GetItems(self.tenant, entity, keys, self._readable(asked), strong)
        items = await self._table.get(self.access, plan)
        for item in items:
            self._refuse(item, asked)
        return items

    async def _load_pages(self, asked: list[_Asked]) -> list[Page]:
        self._track()
        self._queries += len(asked)
        if self._queries > self.limits.queries:
            raise LimitExceeded(
                f"the operation needs more than {self.limits.queries} queries; a list in a list costs one for each item"
            )
        return await together([self._load_page(each) for each in asked])

    async def _load_page(self, asked: _Asked) -> Page:
        listing = self.model.listing(asked.listing)
        attributes = self._readable(asked.attributes)
        plan = plan_listing(self.model, listing, self.tenant, dict(asked.arguments), asked.window, attributes)
        page = await self._table.query(self.access, plan)
        for item in page.items:
            self._refuse(item, asked.attributes)
        return page

    def _readable(self, attributes: Attributes) -> Attributes:
        return attributes - self._denied(attributes)

    def _denied(self, attributes: Attributes) -> Attributes:
        """Those that the role may not read, by the same policies that AWS enforces."""
        denied = self._known_denied.get(attributes)
        if denied is None:
            session = self.access.session
            refused = session.permissions.attributes_denied(
                attributes, "GetItem", session.tenancy.table, leading_key=partition(session.tenant, "ANY")
            )
            self.access.refusals += [Refusal(name, verdict.reason) for name, verdict in refused.items()]
            denied = self._known_denied[attributes] = frozenset(refused)
        return denied

    def _refuse(self, item: Item | None, asked: Attributes) -> None:
        """What the role may not read is an error on its field; the rest of the item is answered."""
        if item is None:
            return
        for name in self._denied(asked):
            if name in self.model.entities[item.entity].attribute:
                item.values[name] = Forbidden(f"the role `{self.access.session.role}` may not read `{name}`")


def _asked(listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> _Asked:
    given = tuple(sorted((name, value) for name, value in arguments.items() if value is not None))
    return _Asked(listing.name, given, window, attributes)
