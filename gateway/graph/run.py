"""Runs a `Program`: level by level, each field for all its parents at once.

It answers what graphql-core would, or raises `Abnormal`: then graphql-core runs the operation and words the errors.
What was read until then waits in the request's reader, so nothing is read twice.
"""

from collections.abc import Coroutine
from enum import Enum
from typing import Any, TypeVar

from graphql import GraphQLEnumType, GraphQLSchema, get_nullable_type
from graphql.execution.values import get_argument_values, get_variable_values

from gateway.graph.connection import Connection
from gateway.graph.item_out import item_out
from gateway.graph.page_out import Out, item_shapes, page_out
from gateway.graph.reader import Arguments, Reader
from gateway.graph.shape import (
    Asked,
    ConnectionShape,
    Constant,
    Each,
    Load,
    One,
    Pages,
    Program,
    Root,
    RootMany,
    RootOne,
    RootSingle,
    Shape,
    Sum,
    Target,
)
from gateway.graph.totals import members, summed
from gateway.graph.writing import Abnormal
from gateway.model.keys import ItemKey, item_key
from gateway.model.patterns import Listing
from gateway.model.relation_checks import bound_attribute
from gateway.store.access import settled
from gateway.store.plan import Range, Window
from gateway.store.rows import Item

T = TypeVar("T")
_PAGING = ("first", "after", "last", "before")


async def run_program(program: Program, schema: GraphQLSchema, reader: Reader, given: dict[str, Any]) -> Out:
    variables = get_variable_values(schema, program.variables, given, max_errors=1)
    # where the role may not read something, graphql-core words the error of each field; nothing has been read yet
    if isinstance(variables, list) or reader.denied(program.attributes):
        raise Abnormal
    return await _Run(reader, variables).roots(program.roots)


class _Run:
    def __init__(self, reader: Reader, variables: Any) -> None:
        self._reader = reader
        self._variables = variables

    async def roots(self, roots: tuple[Root, ...]) -> Out:
        found = await _all([self._root(root) for root in roots])
        return {root.key: value for root, value in zip(roots, found, strict=True)}

    async def _root(self, root: Root) -> Any:
        match root:
            case Constant():
                return root.value
            case RootOne():
                item = await self._looked_up(root.target, self._arguments(root.asked))
                return await self._shaped_one(root.target.shape, item)
            case RootMany():
                return await self._many(root)
            case RootSingle():
                return await self._shaped_one(root.shape, await self._single(root))
            case Pages():
                [page] = await self._pages(root, [self._arguments(root.asked)])
                return page

    async def _looked_up(self, target: Target, values: Arguments) -> Item | None:
        attributes = target.shape.attributes
        if target.together is None:
            return await self._reader.item(target.lookup, values, attributes)
        pattern, load = target.together
        if isinstance(load, Pages):
            first = self._arguments(load.asked).get("first")
            window = self._reader.window(load.listing, {}, first, None, None, None)
            return await self._reader.item_with(pattern, values, window, attributes, load.connection.attributes)
        return await self._reader.item_with(pattern, values, None, attributes, load.shape.attributes)

    async def _many(self, root: RootMany) -> list[Out | None]:
        [wanted] = self._arguments(root.asked).values()
        if len(wanted) > self._reader.limits.page:
            raise Abnormal
        items = await self._reader.items(
            root.lookup, [{root.parameter: each} for each in wanted], root.shape.attributes
        )
        present = [item for item in items if item is not None]
        shaped = iter(await self._shaped(root.shape, present))
        return [None if item is None else next(shaped) for item in items]

    async def _single(self, root: RootSingle) -> Item | None:
        names = root.names if root.follow is not None else root.shape.attributes
        page = await self._reader.page(root.listing, self._arguments(root.asked), Window(1), names)
        if not page.items or root.follow is None:
            return page.items[0] if page.items else None
        relation, target = root.follow
        names_of = self._reader.model.entities[target.lookup.entity].key_names
        values = {name: page.items[0].values.get(bound_attribute(relation, name)) for name in names_of}
        return await self._looked_up(target, values)

    async def _shaped_one(self, shape: Shape, item: Item | None) -> Out | None:
        return None if item is None else (await self._shaped(shape, [item]))[0]

    async def _shaped(self, shape: Shape, items: list[Item]) -> list[Out]:
        """The answers for these items; loads run for all of them at once."""
        tenant = self._reader.tenant
        outs = [item_out(shape, item, tenant) for item in items]
        loads = shape.loads
        if loads and items:
            await _all([self._load(load, items, outs) for load in loads])
        return outs

    async def _load(self, load: Load, items: list[Item], outs: list[Out]) -> None:
        match load:
            case One():
                await self._one(load, items, outs)
            case Each():
                await self._each(load, items, outs)
            case Sum():
                await self._sum(load, items, outs)
            case Pages():
                arguments = [self._bound(load, item) for item in items]
                for out, page in zip(outs, await self._pages(load, arguments), strict=True):
                    out[load.key] = page

    async def _one(self, load: One, items: list[Item], outs: list[Out]) -> None:
        keys = [self._key(load.lookup.entity, item, load.relation.bind) for item in items]
        shaped = await self._by_key(load, {key for key in keys if key is not None})
        for out, key in zip(outs, keys, strict=True):
            out[load.key] = None if key is None else shaped.get(key)

    async def _each(self, load: Each, items: list[Item], outs: list[Out]) -> None:
        entity = self._reader.model.entities[load.lookup.entity]
        lists: list[list[ItemKey]] = []
        for item in items:
            shared = {name: item.values.get(bound_attribute(load.relation, name)) for name in load.fixed}
            members = item.values.get(load.relation.each or "") or ()
            lists.append([item_key(self._reader.tenant, entity, {**shared, load.free: member}) for member in members])
        shaped = await self._by_key(load, {key for keys in lists for key in keys})
        for out, keys in zip(outs, lists, strict=True):
            out[load.key] = [shaped[key] for key in keys if key in shaped]

    async def _sum(self, load: Sum, items: list[Item], outs: list[Out]) -> None:
        relation, attributes = load.relation, frozenset({load.relation.attribute})
        tenant, entity = self._reader.tenant, self._reader.model.entities[load.lookup.entity]
        lists = [[item_key(tenant, entity, each) for each in members(relation, load.own, item)] for item in items]
        found = await self._reader.items_at(load.lookup, tuple(key for keys in lists for key in keys), attributes)
        for out, keys in zip(outs, lists, strict=True):
            value = summed(relation, [found[key] for key in keys])
            out[load.key] = value if load.write is None else load.write(value)

    async def _by_key(self, load: One | Each, keys: set[ItemKey]) -> dict[ItemKey, Out]:
        """Each item is read and shaped once, however many parents lead to it."""
        if not keys:
            return {}
        found = await self._reader.items_at(load.lookup, tuple(sorted(keys, key=_order)), load.shape.attributes)
        present = [(key, item) for key, item in found.items() if item is not None]
        shaped = await self._shaped(load.shape, [item for _, item in present])
        return {key: out for (key, _), out in zip(present, shaped, strict=True)}

    def _key(self, entity: str, item: Item, bind: Any) -> ItemKey | None:
        known = self._reader.model.entities[entity]
        values = {name: item.values.get(bind.get(name, name)) for name in known.key_names}
        if any(value is None for value in values.values()):
            return None
        return item_key(self._reader.tenant, known, values)

    def _bound(self, load: Pages, item: Item) -> dict[str, Any]:
        if load.relation is None:
            raise Abnormal
        arguments = self._arguments(load.asked)
        for name in self._reader.parameters(load.listing):
            arguments[name] = item.values.get(bound_attribute(load.relation, name))
        return arguments

    async def _pages(self, load: Pages, wanted: list[dict[str, Any]]) -> list[Out]:
        shape = load.connection
        connections = await _all([self._connection(load.listing, shape, arguments) for arguments in wanted])
        items = [item for connection in connections for item in connection.page.items]
        shaped = await _all([self._shaped(each, items) for each in item_shapes(shape)])
        columns = [iter(column) for column in shaped]
        return [await page_out(shape, connection, columns) for connection in connections]

    async def _connection(self, listing: Listing, shape: ConnectionShape, arguments: dict[str, Any]) -> Connection:
        span = arguments.get(listing.between or "")
        if span is not None and listing.between is not None:
            arguments[listing.between] = Range(span.get("from"), span.get("to"))
        paging = [arguments.pop(name, None) for name in _PAGING]
        window = self._reader.window(listing, arguments, *paging)
        page = await self._reader.page(listing, arguments, window, shape.attributes)
        return Connection(self._reader, listing, arguments, window, page)

    def _arguments(self, asked: Asked) -> dict[str, Any]:
        values = get_argument_values(asked.definition, asked.node, self._variables)
        for name, value in values.items():
            kind = get_nullable_type(asked.definition.args[name].type)
            if isinstance(kind, GraphQLEnumType) and value is not None and not isinstance(value, Enum):
                raise Abnormal
        return {name: value for name, value in values.items() if value is not None}


async def _all(jobs: list[Coroutine[Any, Any, T]]) -> list[T]:
    """Where one fails the others still end, so that graphql-core finds what they have read."""
    if len(jobs) == 1:
        return [await jobs[0]]
    found: list[T] = []
    for each in await settled(jobs):
        if isinstance(each, Exception):
            raise each
        found.append(each)
    return found


def _order(key: ItemKey) -> tuple[str, str]:
    return key.pk, key.sk
