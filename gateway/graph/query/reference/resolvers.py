"""The resolvers of the schema: one for each kind of access pattern and relation, shared by all entities.

graphql-core calls them directly, with its own `info` and arguments. Strawberry is not involved at run time.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec
from graphql import GraphQLResolveInfo

from gateway.errors import BadUserInput, Internal
from gateway.graph.global_id import identified, item_id
from gateway.graph.query.arguments import Arguments as FieldArguments
from gateway.graph.query.arguments import Variables
from gateway.graph.query.binder import Places
from gateway.graph.query.paging import take_arguments
from gateway.graph.query.reference.connection import RelayConnection
from gateway.graph.query.reference.reader import Arguments, Reader
from gateway.graph.query.tree import (
    CollectionSelection,
    ItemTarget,
    ListChangesField,
    LookupField,
    LookupManyField,
    MembersField,
    NodeField,
    PageField,
    ReferenceField,
    SingleField,
    WatchListField,
)
from gateway.identity.principal import subject_id
from gateway.model.entity import Collection, Entity, Reference, Relation, Total
from gateway.model.filters import FILTER, Filter
from gateway.model.keys import ItemKey, identity_of, key_parts
from gateway.model.model import Model
from gateway.model.patterns import ListChangeKind, bound_attribute, open_parameters, own_parameters, parameters
from gateway.store.access import gather_settled
from gateway.store.filters import passes
from gateway.store.plan import Attributes, Window
from gateway.store.read_through import Page
from gateway.store.rows import Item
from gateway.store.write.writer import Writer

Resolver = Callable[..., Any]
Info = GraphQLResolveInfo[Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a mutation that has run: its payload, or the error."""

    payload: Any = None
    error: Exception | None = None

    def get(self) -> Any:
        if self.error is not None:
            raise self.error
        return self.payload


class Context(msgspec.Struct, frozen=True):
    """The parts of a request that resolvers use."""

    reader: Reader
    writer: Writer
    places: Places
    variables: Variables
    event: "ListEvent | None" = None  # the event of a subscription to a list
    outcome: Outcome | None = None  # of the operation's only mutation, if it has already run

    def field(self, info: Info) -> Any:
        """Returns the field of the operation's tree that is being resolved."""
        path = tuple(key for key in info.path.as_list() if isinstance(key, str))
        return self.places[info.parent_type.name, path]

    def filled(self, arguments: FieldArguments, given: dict[str, Any]) -> dict[str, Any]:
        """Returns the arguments of a field, with the token's subject as a default."""
        left = [name for name in arguments.subjects if given.get(name) is None]
        return {**given, **dict.fromkeys(left, subject_id(self.reader.access.subject, "the field"))} if left else given


def attribute(name: str) -> Resolver:
    """Returns the resolver of a field without arguments, which reads an attribute of an item, struct or object."""

    def resolve(source: Any, info: Info) -> Any:
        if type(source) is Item:
            value = source.values.get(name)
            return sorted(value) if type(value) is frozenset else value
        if type(source) is dict:
            return source.get(name)
        return getattr(source, name)

    return resolve


_ATTRIBUTE = attribute("").__code__


def is_attribute(resolver: Resolver | None) -> bool:
    """Whether `attribute` created the resolver, which then only reads: it needs no `info`."""
    return getattr(resolver, "__code__", None) is _ATTRIBUTE


def _present(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _check_length(name: str, values: list[str], limit: int) -> None:
    if len(values) > limit:
        raise BadUserInput(f"`{name}` has {len(values)} members, at most {limit} are allowed")


# Lookups: items by their keys.


def lookup_one() -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> Item | None:
        context: Context = info.context
        field: LookupField = context.field(info)
        return await _fetch(context, field.target, context.filled(field.arguments, arguments))

    return resolve


async def _fetch(context: Context, target: ItemTarget, values: Arguments) -> Item | None:
    """Reads one item, together with one of its collections if a single Query returns both."""
    collection = target.collection
    if collection is not None and collection.applies(context.variables):
        first_page = _first_page(context, collection)
        if first_page is not None:
            window, members = first_page
            return await context.reader.item_collection(
                collection.pattern, values, window, target.item.attributes, members
            )
    return await context.reader.item(target.lookup, values, target.item.attributes)


def _first_page(context: Context, collection: CollectionSelection) -> tuple[Window | None, Attributes] | None:
    """Returns the window and attributes of the collection's first page, or None if its arguments are invalid."""
    member = collection.member
    if isinstance(member, MembersField):
        return None, member.item.attributes
    first = member.arguments.values(context.variables).get("first")
    try:
        window = context.reader.window(member.listing, {}, first, None, None, None)
    except BadUserInput:
        return None  # the collection's own field reports the error
    return window, member.page.attributes


def lookup_many(parameter: str, plural: str) -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> list[Item | None]:
        context: Context = info.context
        ids: list[str] = arguments[plural]
        _check_length(plural, ids, context.reader.limits.page)
        field: LookupManyField = context.field(info)
        values = [{parameter: item_id} for item_id in ids]
        return await context.reader.items(field.lookup, values, field.item.attributes)

    return resolve


# Listings: pages of items, or the first item of one.


def listing_page() -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> RelayConnection:
        context: Context = info.context
        field: PageField = context.field(info)
        return await _connection(context, field, context.filled(field.arguments, _present(arguments)))

    return resolve


async def _connection(context: Context, field: PageField, arguments: dict[str, Any]) -> RelayConnection:
    listing = field.listing
    paging = take_arguments(listing, arguments)
    window = context.reader.window(listing, arguments, *paging)
    if field.page.counts_only:
        return RelayConnection(context.reader, listing, arguments, window, Page((), more=False))
    page = await context.reader.page(listing, arguments, window, field.page.attributes)
    return RelayConnection(context.reader, listing, arguments, window, page)


def listing_single(model: Model) -> Resolver:
    """Reads the first item of a listing, or the item that its reference points to."""

    async def resolve(root: None, info: Info, **arguments: Any) -> Item | None:
        context: Context = info.context
        field: SingleField = context.field(info)
        present = context.filled(field.arguments, _present(arguments))
        take_arguments(field.listing, present)
        page = await context.reader.page(field.listing, present, Window(1), field.needed)
        if not page.items or field.follow is None or field.target is None:
            return page.items[0] if page.items else None
        return await _fetch(context, field.target, _bound(model, field.follow, page.items[0]) or {})

    return resolve


# Watched lists: the current page, or the changes.


@dataclass(frozen=True, slots=True)
class KeyChange:
    """An item of a watched list that may have changed: its key, and the texts that identify it.

    `shown` tells whether the subscriber may know the item, so that its removal must be reported.
    """

    key: ItemKey
    identity: tuple[str, ...]
    kind: ListChangeKind
    shown: bool


@dataclass(frozen=True, slots=True)
class ListEvent:
    """Reports changes, or the page with the recent changes that it may not show yet."""

    changes: tuple[KeyChange, ...] = ()
    page: bool = False


@dataclass(frozen=True, slots=True)
class ListChange:
    """A change as the caller sees it."""

    kind: ListChangeKind
    node_id: str
    node: Item | None


def watched_list() -> Resolver:
    async def resolve(root: None, info: Info, **arguments: Any) -> dict[str, Any]:
        context: Context = info.context
        field: WatchListField = context.field(info)
        filled = context.filled(field.arguments, _present(arguments))
        if not field.pages and (context.event is None or context.event.page):
            # INVARIANT: AWS authorizes the list itself before anything of it is reported, whether or not its page is
            # selected.
            listed = dict(filled)
            take_arguments(field.listing, listed)
            await context.reader.page(field.listing, listed, Window(1), frozenset())
        elif context.event is not None and context.event.page and context.event.changes:
            # INVARIANT: changes beside a page are read after it, so that they are never older. The loader keeps it.
            for page in field.pages:
                await _connection(context, page, dict(filled))
        return filled

    return resolve


def watched_page() -> Resolver:
    async def resolve(root: dict[str, Any], info: Info) -> RelayConnection | None:
        context: Context = info.context
        reports_page = context.event is None or context.event.page
        return await _connection(context, context.field(info), dict(root)) if reports_page else None

    return resolve


def watched_changes() -> Resolver:
    async def resolve(root: dict[str, Any], info: Info) -> list[ListChange]:
        context: Context = info.context
        changes = context.event.changes if context.event is not None else ()
        return await _list_changes(context, context.field(info), dict(root), changes) if changes else []

    return resolve


async def _list_changes(
    context: Context, field: ListChangesField, arguments: dict[str, Any], changes: tuple[KeyChange, ...]
) -> list[ListChange]:
    """Reads the items of the changes.

    INVARIANT: every item is read with the caller's session, even removed ones: AWS authorizes what is reported of each.
    """
    reader, entity = context.reader, context.reader.model.entities[field.listing.entity]
    take_arguments(field.listing, arguments)
    item_filter: Filter | None = arguments.get(FILTER)
    compared = (
        frozenset(comparison.attribute for comparison in item_filter.comparisons)
        if item_filter is not None
        else frozenset()
    )
    keys = tuple(change.key for change in changes)
    items = await reader.watched(field.lookup, field.listing, keys, field.attributes | compared)
    list_changes: list[ListChange] = []
    for change in changes:
        item, kind = items[change.key], change.kind
        if kind is not ListChangeKind.REMOVED and item is None:
            continue  # it was removed since; the note of its removal follows
        if item is not None and item_filter is not None and not passes(entity, item_filter, item.values):
            if not change.shown:
                continue
            kind = ListChangeKind.REMOVED
        node_id = item_id(reader.cursors, reader.scope, entity, change.identity)
        list_changes.append(ListChange(kind, node_id, None if kind is ListChangeKind.REMOVED else item))
    return list_changes


# Relations: the items that an item refers to.


def _bound(model: Model, relation: Relation, item: Item) -> dict[str, Any] | None:
    """Returns the parameters of the relation's pattern, filled from the item; None if the item lacks one."""
    names = parameters(model, model.patterns[relation.pattern])
    values = {name: item[bound_attribute(relation, name)] for name in names}
    return None if any(value is None for value in values.values()) else values


def reference(model: Model, relation: Reference) -> Resolver:
    lookup = model.lookup(relation.pattern)

    async def resolve(root: Item, info: Info) -> Item | None:
        context: Context = info.context
        values = _bound(model, relation, root)
        if values is None:
            return None
        field: ReferenceField = context.field(info)
        return await context.reader.item(lookup, values, field.item.attributes)

    return resolve


def collection_each(model: Model, owner: Entity, relation: Collection) -> Resolver:
    """Reads a collection whose keys are in its owner; the keys of all owners are read in one batch."""
    lookup = model.lookup(relation.pattern)
    key_attribute = relation.each or ""
    (member_parameter,) = open_parameters(model, owner, relation)
    own = [name for name in parameters(model, lookup) if name != member_parameter]

    async def resolve(root: Item, info: Info) -> list[Item]:
        context: Context = info.context
        shared = {name: root[bound_attribute(relation, name)] for name in own}
        keys: list[Arguments] = [{**shared, member_parameter: key} for key in root[key_attribute] or ()]
        field: MembersField = context.field(info)
        items = await context.reader.items(lookup, keys, field.item.attributes)
        return [item for item in items if item is not None]

    return resolve


def collection_page(model: Model, relation: Collection) -> Resolver:
    async def resolve(root: Item, info: Info, **arguments: Any) -> RelayConnection:
        values = _bound(model, relation, root) or {}
        context: Context = info.context
        return await _connection(context, context.field(info), {**_present(arguments), **values})

    return resolve


def total(model: Model, relation: Total) -> Resolver:
    """Sums over a fixed number of items, such as likes over the shards of a counter; one batch for all parents."""
    lookup, own = model.lookup(relation.pattern), own_parameters(model, relation)

    async def resolve(root: Item, info: Info) -> int | Decimal:
        context: Context = info.context
        shared = {name: root[bound_attribute(relation, name)] for name in own}
        keys: list[Arguments] = [
            {**shared, **relation.fixed, relation.over: number} for number in range(relation.count)
        ]
        return _sum(relation.attribute, await context.reader.items(lookup, keys, frozenset({relation.attribute})))

    return resolve


def _sum(name: str, items: Iterable[Item | None]) -> int | Decimal:
    return sum(item[name] or 0 for item in items if item is not None)


# Nodes: the global id of an item, and the item of a global id.


def global_id(entity: Entity) -> Resolver:
    def resolve(root: Item, info: Info) -> str:
        reader = info.context.reader
        if root.key is not None and not entity.id_needs:
            parts = identity_of(reader.tenant, entity, entity.primary, root.key)
            if parts is None:
                raise Internal(f"the key of a {entity.name} is not stored as it is declared")
        else:
            values = {name: root[name] for name in entity.key_names}
            texts = {**key_parts(entity, entity.primary.pk, values), **key_parts(entity, entity.primary.sk, values)}
            parts = tuple(texts[name] for name in entity.key_names)
        return item_id(reader.cursors, reader.scope, entity, parts)

    return resolve


async def node(root: None, info: Info, **arguments: Any) -> Item | None:
    return await _find_node(info.context, info.context.field(info), arguments["id"])


async def nodes(root: None, info: Info, **arguments: Any) -> list[Item | Exception | None]:
    context: Context = info.context
    ids: list[str] = arguments["ids"]
    _check_length("ids", ids, context.reader.limits.page)
    field: NodeField = context.field(info)
    # an invalid id is an error in its place, so that the others are still returned
    return await gather_settled([_find_node(context, field, text) for text in ids])


async def _find_node(context: Context, field: NodeField, text: str) -> Item | None:
    """Returns None for unknown, foreign and forged ids alike."""
    reader = context.reader
    named = identified(reader.cursors, reader.tenant, reader.scope, text, field.entity)
    if named is None:
        return None
    (lookup, item), key = field.items[named[0]], named[1]
    return (await reader.items_named(lookup, (key,), item.attributes))[key]
