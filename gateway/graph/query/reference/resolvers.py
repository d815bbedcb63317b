"""The few resolvers there are: each serves one kind of pattern or relation for every entity.

They are graphql-core's own: `info` and arguments come as it makes them, with nothing of strawberry in between.
"""

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

from graphql import GraphQLResolveInfo

from gateway.errors import BadUserInput
from gateway.graph.mutation.mutation import EXTRA
from gateway.graph.query.reference.connection import RelayConnection
from gateway.graph.query.reference.context import Context
from gateway.graph.query.reference.reader import Arguments
from gateway.graph.query.tree import (
    CollectionSelection,
    ItemTarget,
    LookupField,
    LookupManyField,
    MembersField,
    PageField,
    ReferenceField,
    SingleField,
)
from gateway.model.entity import Collection, Entity, Reference, Relation, Total
from gateway.model.model import Model
from gateway.model.patterns import Listing, Lookup, bound_attribute, open_parameters, own_parameters, parameters
from gateway.store.plan import Attributes, Range, Window
from gateway.store.rows import Item

Resolver = Callable[..., Any]
Info = GraphQLResolveInfo[Any]
_PAGING = ("first", "after", "last", "before")


def attribute(name: str) -> Resolver:
    """What a field without a resolver answers: an attribute of an item, of a struct, or of one of our objects."""
    extra = name.removeprefix(EXTRA) if name.startswith(EXTRA) else None

    def resolve(source: Any, info: Info) -> Any:
        if type(source) is Item:
            value = source.values.get(name)
            return sorted(value) if type(value) is frozenset else value
        if type(source) is dict:
            return source.get(name)
        return getattr(source, name) if extra is None else source.extras.get(extra)

    return resolve


def value_of(item: Item, name: str) -> Any:
    value = item.values.get(name)
    if isinstance(value, Exception):
        raise value
    return value


def given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def lookup_one() -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> Item | None:
        context: Context = info.context
        field: LookupField = context.field(info)
        return await fetch(context, field.target, arguments)

    return resolve


async def fetch(context: Context, target: ItemTarget, values: Arguments) -> Item | None:
    """One item; together with a collection of it where one Query answers both."""
    collection = target.collection
    if collection is not None and collection.applies(context.variables):
        asked = _members(context, collection)
        if asked is not None:
            window, members = asked
            return await context.reader.item_with(collection.pattern, values, window, target.item.attributes, members)
    return await context.reader.item(target.lookup, values, target.item.attributes)


def _members(context: Context, collection: CollectionSelection) -> tuple[Window | None, Attributes] | None:
    """The first page of a collection, or None where the operation asks for one that there is not."""
    member = collection.member
    if isinstance(member, MembersField):
        return None, member.item.attributes
    first = member.arguments.values(context.variables).get("first")
    try:
        window = context.reader.window(member.listing, {}, first, None, None, None)
    except BadUserInput:
        return None  # the collection's own field says what is wrong with it
    return window, member.page.attributes


def lookup_many(lookup: Lookup, parameter: str, plural: str) -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> list[Item | None]:
        context: Context = info.context
        wanted: list[str] = arguments[plural]
        if len(wanted) > context.reader.limits.page:
            raise BadUserInput(
                f"`{plural}` has {len(wanted)} members, at most {context.reader.limits.page} are allowed"
            )
        field: LookupManyField = context.field(info)
        return await context.reader.items(lookup, [{parameter: each} for each in wanted], field.item.attributes)

    return resolve


def listing_page(listing: Listing) -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> RelayConnection:
        return await _connection(listing, info, given(arguments))

    return resolve


async def _connection(listing: Listing, info: Info, arguments: dict[str, Any]) -> RelayConnection:
    context: Context = info.context
    field: PageField = context.field(info)
    span = arguments.get(listing.between or "")
    if span is not None and listing.between is not None:
        arguments[listing.between] = Range(span.get("from"), span.get("to"))
    paging = [arguments.pop(name, None) for name in _PAGING]
    window = context.reader.window(listing, arguments, *paging)
    page = await context.reader.page(listing, arguments, window, field.page.attributes)
    return RelayConnection(context.reader, listing, arguments, window, page)


def listing_single(model: Model, listing: Listing) -> Resolver:
    """The one item a listing finds, or what its reference leads to."""

    async def resolve(root: None, info: Info, **arguments: Any) -> Item | None:
        context: Context = info.context
        field: SingleField = context.field(info)
        page = await context.reader.page(listing, given(arguments), Window(1), field.needed)
        if not page.items or field.follow is None or field.target is None:
            return page.items[0] if page.items else None
        return await fetch(context, field.target, bound(model, field.follow, page.items[0]) or {})

    return resolve


def bound(model: Model, relation: Relation, item: Item) -> dict[str, Any] | None:
    """The parameters of a relation's pattern as this item fills them, or None where one is absent."""
    names = parameters(model, model.patterns[relation.pattern])
    values = {name: value_of(item, bound_attribute(relation, name)) for name in names}
    return None if any(value is None for value in values.values()) else values


def reference(model: Model, relation: Reference) -> Resolver:
    lookup = model.lookup(relation.pattern)

    async def resolve(root: Item, info: Info) -> Item | None:
        context: Context = info.context
        values = bound(model, relation, root)
        if values is None:
            return None
        field: ReferenceField = context.field(info)
        return await context.reader.item(lookup, values, field.item.attributes)

    return resolve


def collection_each(model: Model, owner: Entity, relation: Collection) -> Resolver:
    """A collection by keys: all keys of all parents go into the same batch."""
    lookup = model.lookup(relation.pattern)
    each = relation.each or ""
    (free,) = open_parameters(model, owner, relation)
    fixed = [name for name in parameters(model, lookup) if name != free]

    async def resolve(root: Item, info: Info) -> list[Item]:
        context: Context = info.context
        shared = {name: value_of(root, bound_attribute(relation, name)) for name in fixed}
        wanted: list[Arguments] = [{**shared, free: member} for member in value_of(root, each) or ()]
        field: MembersField = context.field(info)
        found = await context.reader.items(lookup, wanted, field.item.attributes)
        return [item for item in found if item is not None]

    return resolve


def collection_page(model: Model, relation: Collection) -> Resolver:
    listing = model.listing(relation.pattern)

    async def resolve(root: Item, info: Info, **arguments: Any) -> RelayConnection:
        values = bound(model, relation, root) or {}
        return await _connection(listing, info, {**given(arguments), **values})

    return resolve


# Sums over a fixed number of items, such as likes over the shards of their counter.


def members(relation: Total, own: tuple[str, ...], item: Item) -> list[dict[str, Any]]:
    """What finds the items to sum; `own` are the parameters that the item itself fills."""
    shared = {name: value_of(item, bound_attribute(relation, name)) for name in own}
    return [{**shared, **relation.fixed, relation.over: number} for number in range(relation.count)]


def summed(relation: Total, found: Iterable[Item | None]) -> int | Decimal:
    """What does not exist counts nothing."""
    return sum(value_of(item, relation.attribute) or 0 for item in found if item is not None)


def total(model: Model, relation: Total) -> Resolver:
    """The items of all parents go into the same batches."""
    lookup, own = model.lookup(relation.pattern), own_parameters(model, relation)

    async def resolve(root: Item, info: Info) -> int | Decimal:
        context: Context = info.context
        wanted = list[Any](members(relation, own, root))
        return summed(relation, await context.reader.items(lookup, wanted, frozenset({relation.attribute})))

    return resolve
