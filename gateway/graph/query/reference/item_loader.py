"""Loads items by key for one request: keys requested in one turn of the event loop are read in one batch."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar
from weakref import WeakMethod

from gateway.graph.query.reference.field_access import FieldAccess
from gateway.graph.query.reference.pieces import PieceLoader, Pieces
from gateway.model.keys import ItemKey
from gateway.model.patterns import Lookup
from gateway.store.access import Access
from gateway.store.plan import Attributes, GetItems
from gateway.store.rows import Item
from gateway.store.table import Table

T = TypeVar("T")


class ItemsByKey(dict[ItemKey, Item | Exception | None]):
    """Items by their keys. One that could not be read raises its failure when it is used; the others do not."""

    def __getitem__(self, key: ItemKey) -> Item | None:
        item = super().__getitem__(key)
        if isinstance(item, Exception):
            raise item
        return item


class RequestTasks:
    """The tasks of a request's loaders, which are cancelled when the request ends."""

    __slots__ = ("_closed", "_tasks")

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def track(self, task: "asyncio.Task[Any] | None") -> None:
        if self._closed:
            # the request has ended, so the result is not needed
            raise asyncio.CancelledError
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()


def weak_method(load: Callable[..., Coroutine[Any, Any, T]]) -> Callable[..., Coroutine[Any, Any, T]]:
    """Calls the method without keeping its object alive.

    With a strong reference, loader and reader would form a cycle that only the garbage collector frees.
    """
    reference = WeakMethod(load)

    async def call(*arguments: Any) -> T:
        method = reference()
        if method is None:
            raise asyncio.CancelledError
        return await method(*arguments)

    return call


@dataclass(frozen=True, slots=True, eq=False)
class _ItemsRequest:
    """The items that one field needs for all of its parents, so that the loader works per field, not per item."""

    keys: tuple[ItemKey, ...]
    attributes: Attributes


class _EntityItems:
    """The items of one entity that this request has read, or why they could not be read."""

    __slots__ = ("items", "loader")

    def __init__(
        self, load: Callable[[list[_ItemsRequest]], Coroutine[Any, Any, list[ItemsByKey]]], pieces: Pieces
    ) -> None:
        self.loader: PieceLoader[_ItemsRequest, ItemsByKey] = PieceLoader(load, pieces, cache=False)
        self.items: dict[ItemKey, tuple[Attributes, Item | Exception | None]] = {}

    def lacks(self, request: _ItemsRequest) -> list[ItemKey]:
        return [key for key in request.keys if not self._has(key, request.attributes)]

    def of(self, request: _ItemsRequest) -> ItemsByKey:
        return ItemsByKey((key, self.items[key][1]) for key in request.keys)

    def _has(self, key: ItemKey, attributes: Attributes) -> bool:
        if (item := self.items.get(key)) is None:
            return False
        # a second attempt would most likely fail too, and take more time
        return attributes <= item[0] or isinstance(item[1], Exception)


class ItemLoader:
    def __init__(
        self, table: Table, access: Access, field_access: FieldAccess, tasks: RequestTasks, pieces: Pieces
    ) -> None:
        self._table = table
        self._access = access
        self._field_access = field_access
        self._tasks = tasks
        self._pieces = pieces
        self._by_entity: dict[tuple[str, bool], _EntityItems] = {}

    async def items_at(self, lookup: Lookup, keys: tuple[ItemKey, ...], attributes: Attributes) -> ItemsByKey:
        entity_items = self._of(lookup)
        request = _ItemsRequest(keys, attributes)
        if not entity_items.lacks(request):
            return entity_items.of(request)
        return await entity_items.loader.load(request)

    def put(self, lookup: Lookup, key: ItemKey, attributes: Attributes, item: Item) -> None:
        """Adds an item that was read by other means, with these attributes."""
        self._of(lookup).items[key] = (attributes, item)

    def _of(self, lookup: Lookup) -> _EntityItems:
        key = (lookup.entity, lookup.strong)
        entity_items = self._by_entity.get(key)
        if entity_items is None:
            entity_items = self._by_entity[key] = _EntityItems(partial(weak_method(self._load), *key), self._pieces)
        return entity_items

    async def _load(self, entity: str, strong: bool, requests: list[_ItemsRequest]) -> list[ItemsByKey]:
        """Makes one read for all requests of this turn, with the union of their attributes."""
        self._tasks.track(asyncio.current_task())
        entity_items = self._by_entity[entity, strong]
        keys = tuple(dict.fromkeys(key for request in requests for key in entity_items.lacks(request)))
        # an item that is read again replaces the first one, so it needs the same attributes; they cost nothing
        earlier = (entity_items.items[key][0] for key in keys if key in entity_items.items)
        attributes = frozenset[str]().union(*(request.attributes for request in requests), *earlier)
        if keys:
            operation = "GetItem" if len(keys) == 1 else "BatchGetItem"
            readable = self._field_access.readable(attributes, operation)
            plan = GetItems(self._access.session.tenant, entity, keys, readable, strong)
            for key, item in zip(keys, await self._read(plan), strict=True):
                if not isinstance(item, Exception):
                    self._field_access.refuse(item, attributes, operation)
                entity_items.items[key] = (attributes, item)
        return [entity_items.of(request) for request in requests]

    async def _read(self, plan: GetItems) -> Sequence[Item | Exception | None]:
        try:
            return await self._table.get_each(self._access, plan)
        except Exception as error:
            return [error] * len(plan.keys)
