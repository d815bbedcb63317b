"""How one request reads: loaders made for it alone, so that equal questions are asked once and together."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiodataloader import DataLoader

from gateway.errors import BadUserInput, Forbidden, LimitExceeded
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import Listing, Lookup, Together
from gateway.model.tenant import TenantId, partition
from gateway.store.access import Access, Refusal, settled, shared
from gateway.store.cursor import Cursors
from gateway.store.plan import Attributes, GetItems, Window, plan_listing, plan_together
from gateway.store.rows import Item
from gateway.store.table import Page, Table
from gateway.store.window import windowed

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """What one field needs: for all its parents at once, so that loading costs by fields and not by items."""

    keys: tuple[ItemKey, ...]
    attributes: Attributes


Found = dict[ItemKey, Item | None]


class _Shelf:
    """What was read of one entity in this request, and what failed."""

    __slots__ = ("failure", "items", "loader")

    def __init__(self, load: Callable[[list[_Wanted]], Coroutine[Any, Any, list[Found]]]) -> None:
        self.loader: DataLoader[_Wanted, Found] = DataLoader(load, cache=False)
        self.items: dict[ItemKey, tuple[Attributes, Item | None]] = {}
        self.failure: Exception | None = None

    def lacks(self, wanted: _Wanted) -> list[ItemKey]:
        known = self.items
        return [key for key in wanted.keys if key not in known or not wanted.attributes <= known[key][0]]


@dataclass(frozen=True, slots=True)
class _Asked:
    listing: str
    arguments: tuple[tuple[str, Any], ...]
    window: Window
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class _Joined:
    """An item with the first members of one of its collections."""

    pattern: Together
    values: tuple[tuple[str, Any], ...]
    window: Window | None
    attributes: Attributes
    members: Attributes


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
        self._shelves: dict[tuple[str, bool], _Shelf] = {}
        self._pages: DataLoader[_Asked, Page] = DataLoader(self._load_pages)
        self._joined: dict[_Joined, asyncio.Task[Item | None]] = {}
        self._queries = 0
        self._known_denied: dict[Attributes, Attributes] = {}
        self._loading: set[asyncio.Task[Any]] = set()

    def close(self) -> None:
        """Ends what still runs below: loaders work in tasks of their own, which a cancelled request leaves behind."""
        for task in self._loading:
            task.cancel()

    def changed(self, item: Item | None) -> Item | None:
        """What a mutation answers, as a read would show it; what was loaded before it is forgotten."""
        self._shelves.clear()
        self._pages.clear_all()
        self._joined.clear()
        if item is not None:
            self._refuse(item, frozenset(item.values))
        return item

    def _track(self, task: "asyncio.Task[Any] | None") -> None:
        if task is not None:
            self._loading.add(task)
            task.add_done_callback(self._loading.discard)

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

    async def items_at(self, lookup: Lookup, keys: tuple[ItemKey, ...], attributes: Attributes) -> Found:
        """Items by their keys; whatever is asked for in the same turn of the loop is read together."""
        shelf = self._shelf(lookup)
        wanted = _Wanted(keys, attributes)
        if shelf.failure is None and not shelf.lacks(wanted):
            return {key: shelf.items[key][1] for key in keys}
        return await shelf.loader.load(wanted)

    async def page(self, listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> Page:
        return await shared(self._pages.load(_asked(listing, arguments, window, attributes)))

    async def item_with(
        self, pattern: Together, values: Arguments, window: Window | None, attributes: Attributes, members: Attributes
    ) -> Item | None:
        """An item and the first members of a collection from one Query; the members wait in the loaders."""
        joined = _Joined(pattern, tuple(sorted(values.items())), window, attributes, members)
        task = self._joined.get(joined)
        if task is None:
            task = self._joined[joined] = asyncio.ensure_future(self._read_together(joined))
            self._track(task)
        return await shared(task)

    async def _read_together(self, asked: "_Joined") -> Item | None:
        pattern, window, attributes, members = asked.pattern, asked.window, asked.attributes, asked.members
        plan = plan_together(
            self.model,
            pattern,
            self.tenant,
            dict(asked.values),
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
            shelf = self._shelf(served)
            for item in found:
                shelf.items[ItemKey(plan.query.partition, item.position)] = (members, item)
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

    def _shelf(self, lookup: Lookup) -> _Shelf:
        key = (lookup.entity, lookup.strong)
        shelf = self._shelves.get(key)
        if shelf is None:
            shelf = self._shelves[key] = _Shelf(partial(self._load_items, *key))
        return shelf

    async def _load_items(self, entity: str, strong: bool, wanted: list[_Wanted]) -> list[Found]:
        """One read for all that were asked for in this turn, with the union of their attributes."""
        self._track(asyncio.current_task())
        shelf = self._shelves[entity, strong]
        if shelf.failure is not None:
            raise shelf.failure
        asked = frozenset[str]().union(*(each.attributes for each in wanted))
        keys = tuple(dict.fromkeys(key for each in wanted for key in shelf.lacks(each)))
        if keys:
            plan = GetItems(self.tenant, entity, keys, self._readable(asked), strong)
            try:
                items = await self._table.get(self.access, plan)
            except Exception as error:
                # asked again, it would most likely fail again, and cost AWS and the caller more time
                shelf.failure = error
                raise
            for key, item in zip(keys, items, strict=True):
                self._refuse(item, asked)
                shelf.items[key] = (asked, item)
        return [{key: shelf.items[key][1] for key in each.keys} for each in wanted]

    async def _load_pages(self, asked: list[_Asked]) -> list[Page | Exception]:
        """What fails is remembered by the loader and is the failure of that page alone."""
        self._track(asyncio.current_task())
        self._queries += len(asked)
        if self._queries > self.limits.queries:
            raise LimitExceeded(
                f"the operation needs more than {self.limits.queries} queries; a list in a list costs one for each item"
            )
        return await settled([self._read_page(each) for each in asked])

    async def _read_page(self, asked: _Asked) -> Page:
        listing = self.model.listing(asked.listing)
        attributes = self._readable(asked.attributes)
        arguments = windowed(listing, dict(asked.arguments), datetime.now(UTC))
        plan = plan_listing(self.model, listing, self.tenant, arguments, asked.window, attributes)
        page = await self._table.query(self.access, plan)
        for item in page.items:
            self._refuse(item, asked.attributes)
        return page

    def parameters(self, listing: Listing) -> tuple[str, ...]:
        return parameters(self.model, listing)

    def _readable(self, attributes: Attributes) -> Attributes:
        return attributes - self.denied(attributes)

    def denied(self, attributes: Attributes) -> Attributes:
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
        for name in self.denied(asked):
            if name in self.model.entities[item.entity].attribute:
                item.values[name] = Forbidden(f"the role `{self.access.session.role}` may not read `{name}`")


def _asked(listing: Listing, arguments: Arguments, window: Window, attributes: Attributes) -> _Asked:
    given = tuple(sorted((name, value) for name, value in arguments.items() if value is not None))
    return _Asked(listing.name, given, window, attributes)
