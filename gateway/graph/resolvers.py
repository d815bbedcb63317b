"""The few resolvers there are: each serves one kind of pattern or relation for every entity."""

from collections.abc import Awaitable, Callable
from typing import Any

from graphql import FieldNode, GraphQLObjectType, GraphQLResolveInfo, get_named_type
from graphql.execution.values import get_argument_values
from strawberry import UNSET, Info

from gateway.errors import BadUserInput
from gateway.graph.connection import Connection
from gateway.graph.context import Context
from gateway.graph.mutation import EXTRA
from gateway.graph.reader import Arguments
from gateway.graph.selection import children, item_nodes
from gateway.model.entity import Collection, Entity, Reference, Relation
from gateway.model.model import Model
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import Listing, Lookup, Together
from gateway.model.relation_checks import bound_attribute, open_parameters
from gateway.store.plan import Attributes, Range, Window
from gateway.store.rows import Item

Resolver = Callable[..., Awaitable[Any]]
_PAGING = ("first", "after", "last", "before")


def raw_info(info: Info) -> GraphQLResolveInfo[Any]:
    return info._raw_info  # noqa: SLF001  strawberry has no public name for it


def default_resolver(source: Any, name: str) -> Any:
    """What a field without a resolver answers: an attribute of an item, of a struct, or of one of our objects."""
    if type(source) is Item:
        value = source.values.get(name)
        return sorted(value) if type(value) is frozenset else value
    if type(source) is dict:
        return source.get(name)
    if name.startswith(EXTRA):
        return source.extras.get(name.removeprefix(EXTRA))
    return getattr(source, name)


def value_of(item: Item, name: str) -> Any:
    value = item.values.get(name)
    if isinstance(value, Exception):
        raise value
    return value


def given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not UNSET and value is not None}


def lookup_one(model: Model, lookup: Lookup) -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> Item | None:
        return await fetch(info.context, raw_info(info), lookup, arguments)

    return resolve


async def fetch(context: Context, info: GraphQLResolveInfo[Any], lookup: Lookup, values: Arguments) -> Item | None:
    """One item; together with a collection of it where one Query answers both."""
    entity = context.reader.model.entities[lookup.entity]
    attributes = context.selections.of_item(info, entity)
    if not lookup.strong:
        for (owner, name), pattern in context.reader.model.together.items():
            if owner == entity.name and (node := _only(info, name)) is not None:
                wanted = _members(context, info, entity, pattern, node)
                if wanted is not None:
                    window, members = wanted
                    return await context.reader.item_with(pattern, values, window, attributes, members)
    return await context.reader.item(lookup, values, attributes)


def _only(info: GraphQLResolveInfo[Any], name: str) -> FieldNode | None:
    """The one plain selection of a field, or None where there is none, or several, or a condition on it."""
    found = [node for node in children(info.field_nodes, info.fragments) if node.name.value == name]
    return found[0] if len(found) == 1 and not found[0].directives else None


def _members(
    context: Context, info: GraphQLResolveInfo[Any], entity: Entity, pattern: Together, node: FieldNode
) -> tuple[Window | None, Attributes] | None:
    """The first page of a collection as the operation asks for it, or None where it asks for another one."""
    model = context.reader.model
    served = model.patterns[entity.relation[pattern.collection].pattern]
    member = model.entities[served.entity]
    if isinstance(served, Lookup):
        return None, context.selections.attributes([node], info.fragments, member)
    owner = get_named_type(info.return_type)
    if not isinstance(owner, GraphQLObjectType) or not isinstance(served, Listing):
        return None
    arguments = get_argument_values(owner.fields[node.name.value], node, info.variable_values)
    if any(value is not None for name, value in arguments.items() if name != "first"):
        return None
    try:
        window = context.reader.window(served, {}, arguments.get("first"), None, None, None)
    except BadUserInput:
        return None  # the collection's own field says what is wrong with it
    selected = item_nodes([node], info.fragments)
    return window, context.selections.attributes(selected, info.fragments, member)


def lookup_many(model: Model, lookup: Lookup, parameter: str, plural: str) -> Resolver:
    entity = model.entities[lookup.entity]

    async def resolve(root: None, info: Info, **arguments: Any) -> list[Item | None]:
        context: Context = info.context
        wanted: list[str] = arguments[plural]
        if len(wanted) > context.reader.limits.page:
            raise BadUserInput(
                f"`{plural}` has {len(wanted)} members, at most {context.reader.limits.page} are allowed"
            )
        attributes = context.selections.of_item(raw_info(info), entity)
        return await context.reader.items(lookup, [{parameter: each} for each in wanted], attributes)

    return resolve


def listing_page(model: Model, listing: Listing) -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> Connection:
        return await _connection(model, listing, info, given(arguments))

    return resolve


async def _connection(model: Model, listing: Listing, info: Info, arguments: dict[str, Any]) -> Connection:
    context: Context = info.context
    span = arguments.get(listing.between or "")
    if span is not None and listing.between is not None:
        arguments[listing.between] = Range(_end(span.first), _end(span.last))
    paging = [arguments.pop(name, None) for name in _PAGING]
    window = context.reader.window(listing, arguments, *paging)
    attributes = context.selections.of_connection(raw_info(info), model.entities[listing.entity])
    page = await context.reader.page(listing, arguments, window, attributes)
    return Connection(context.reader, listing, arguments, window, page)


def _end(value: Any) -> Any:
    return None if value is UNSET else value


def listing_single(model: Model, listing: Listing) -> Resolver:
    """The one item a listing finds, or what its reference leads to."""
    entity = model.entities[listing.entity]
    relation = entity.relation.get(listing.follow or "")

    async def resolve(root: None, info: Info, **arguments: Any) -> Item | None:
        context: Context = info.context
        if not isinstance(relation, Reference):
            attributes = context.selections.of_item(raw_info(info), entity)
            page = await context.reader.page(listing, given(arguments), Window(1), attributes)
            return page.items[0] if page.items else None
        lookup = model.lookup(relation.pattern)
        names = frozenset(bound_attribute(relation, name) for name in parameters(model, lookup))
        page = await context.reader.page(listing, given(arguments), Window(1), names)
        if not page.items:
            return None
        return await fetch(context, raw_info(info), lookup, bound(model, relation, page.items[0]) or {})

    return resolve


def bound(model: Model, relation: Relation, item: Item) -> dict[str, Any] | None:
    """The parameters of a relation's pattern as this item fills them, or None where one is absent."""
    names = parameters(model, model.patterns[relation.pattern])
    values = {name: value_of(item, bound_attribute(relation, name)) for name in names}
    return None if any(value is None for value in values.values()) else values


def reference(model: Model, relation: Reference) -> Resolver:
    lookup = model.lookup(relation.pattern)
    entity = model.entities[lookup.entity]

    async def resolve(root: Item, info: Info) -> Item | None:
        context: Context = info.context
        values = bound(model, relation, root)
        if values is None:
            return None
        return await context.reader.item(lookup, values, context.selections.of_item(raw_info(info), entity))

    return resolve


def collection_each(model: Model, owner: Entity, relation: Collection) -> Resolver:
    """A collection by keys: all keys of all parents go into the same batch."""
    lookup = model.lookup(relation.pattern)
    entity, each = model.entities[lookup.entity], relation.each or ""
    (free,) = open_parameters(model, owner, relation)
    fixed = [name for name in parameters(model, lookup) if name != free]

    async def resolve(root: Item, info: Info) -> list[Item]:
        context: Context = info.context
        shared = {name: value_of(root, bound_attribute(relation, name)) for name in fixed}
        wanted: list[Arguments] = [{**shared, free: member} for member in value_of(root, each) or ()]
        attributes = context.selections.of_item(raw_info(info), entity)
        found = await context.reader.items(lookup, wanted, attributes)
        return [item for item in found if item is not None]

    return resolve


def collection_page(model: Model, relation: Collection) -> Resolver:
    listing = model.listing(relation.pattern)

    async def resolve(root: Item, info: Info, **arguments: Any) -> Connection:
        values = bound(model, relation, root) or {}
        return await _connection(model, listing, info, {**given(arguments), **values})

    return resolve
