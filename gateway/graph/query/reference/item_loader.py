"""Items by their keys, for one request: those that are asked for in the same turn of the loop are read together."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from weakref import WeakMethod

from aiodataloader import DataLoader

from gateway.graph.query.reference.field_access import FieldAccess
from gateway.model.keys import ItemKey
from gateway.model.patterns import Lookup
from gateway.store.access import Access
from gateway.store.plan import Attributes, GetItems
from gateway.store.rows import Item
from gateway.store.table import Table

T = TypeVar("T")
Found = dict[ItemKey, Item | None]


class RequestTasks:
    """The tasks in which a request's loaders work: they end with the request, also with one that was cancelled."""

    __slots__ = ("_closed", "_tasks")

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def track(self, task: "asyncio.Task[Any] | None") -> None:
        if self._closed:
            # asked for in the last turn: nobody waits any more
            raise asyncio.CancelledError
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()


def weak_method(load: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """The method, as long as its object lives.

    A loader that held its reader would keep both, and all that was read, for the collector.
    """
    held = WeakMethod(load)

    async def loaded(*wanted: Any) -> T:
        alive = held()
        if alive is None:
            raise asyncio.CancelledError
        return await alive(*wanted)

    return loaded


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """What one field needs: for all its parents at once, so that loading costs by fields and not by items."""

    keys: tuple[ItemKey, ...]
    attributes: Attributes


class _EntityItems:
    """What was read of one entity in this request, and what failed."""

    __slots__ = ("failure", "items", "loader")

    def __init__(self, load: Callable[[list[_Wanted]], Coroutine[Any, Any, list[Found]]]) -> None:
        self.loader: DataLoader[_Wanted, Found] = DataLoader(load, cache=False)
        self.items: dict[ItemKey, tuple[Attributes, Item | None]] = {}
        self.failure: Exception | None = None

    def lacks(self, wanted: _Wanted) -> list[ItemKey]:
        known = self.items
        return [key for key in wanted.keys if key not in known or not wanted.attributes <= known[key][0]]


class ItemLoader:
    def __init__(self, table: Table, access: Access, field_access: FieldAccess, tasks: RequestTasks) -> None:
        self._table = table
        self._access = access
        self._field_access = field_access
        self._tasks = tasks
        self._known: dict[tuple[str, bool], _EntityItems] = {}

    def clear(self) -> None:
        self._known.clear()

    async def items_at(self, lookup: Lookup, keys: tuple[ItemKey, ...], attributes: Attributes) -> Found:
        entity_items = self._of(lookup)
        wanted = _Wanted(keys, attributes)
        if entity_items.failure is None and not entity_items.lacks(wanted):
            return {key: entity_items.items[key][1] for key in keys}
        return await entity_items.loader.load(wanted)

    def put(self, lookup: Lookup, key: ItemKey, attributes: Attributes, item: Item) -> None:
        """What was read in another way, with these attributes of it."""
        self._of(lookup).items[key] = (attributes, item)

    def _of(self, lookup: Lookup) -> _EntityItems:
        key = (lookup.entity, lookup.strong)
        entity_items = self._known.get(key)
        if entity_items is None:
            entity_items = self._known[key] = _EntityItems(partial(weak_method(self._load), *key))
        return entity_items

    async def _load(self, entity: str, strong: bool, wanted: list[_Wanted]) -> list[Found]:
        """One read for all that were asked for in this turn, with the union of their attributes."""
        self._tasks.track(asyncio.current_task())
        entity_items = self._known[entity, strong]
        if entity_items.failure is not None:
            raise entity_items.failure
        keys = tuple(dict.fromkeys(key for each in wanted for key in entity_items.lacks(each)))
        # with what is known of them: it will be replaced, and more attributes cost no more
        known = (entity_items.items[key][0] for key in keys if key in entity_items.items)
        asked = frozenset[str]().union(*(each.attributes for each in wanted), *known)
        if keys:
            operation = "GetItem" if len(keys) == 1 else "BatchGetItem"
            readable = self._field_access.readable(asked, operation)
            plan = GetItems(self._access.session.tenant, entity, keys, readable, strong)
            try:
                items = await self._table.get(self._access, plan)
            except Exception as error:
                # asked again, it would most likely fail again, and cost AWS and the caller more time
                entity_items.failure = error
                raise
            for key, item in zip(keys, items, strict=True):
                self._field_access.refuse(item, asked, operation)
                entity_items.items[key] = (asked, item)
        return [{key: entity_items.items[key][1] for key in each.keys} for each in wanted]
