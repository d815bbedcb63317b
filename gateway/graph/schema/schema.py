"""The GraphQL schema, built from the model."""

from collections.abc import Iterator, Sequence
from typing import Any

import strawberry
from graphql import GraphQLSchema
from strawberry.schema.config import StrawberryConfig
from strawberry.types.field import StrawberryField
from strawberry.types.scalar import ScalarDefinition

from gateway.graph.query.reference import code_resolvers, resolvers
from gateway.graph.schema.annotations import Annotations, optional
from gateway.graph.schema.fields import Types, argument, basic, bind_resolvers, object_type, resolved
from gateway.graph.schema.mutations import mutation_type
from gateway.graph.schema.prices import listing_cost, lookup_cost, query_cost
from gateway.iam.policies.policies import generated
from gateway.iam.policies.visibility import visibility
from gateway.model.code import Computed, CustomQuery, Loaded
from gateway.model.docs.keys import length_words
from gateway.model.entity import Attribute, Collection, Entity, Reference, Relation, Total
from gateway.model.filters import FILTER
from gateway.model.model import Model
from gateway.model.patterns import (
    CONSISTENT,
    LAST_HOURS,
    ORDER,
    AccessPattern,
    Choice,
    ItemCollection,
    ListChangeKind,
    Listing,
    ListOrder,
    Lookup,
    Watch,
    listing_arguments,
    parameters,
    watched_patterns,
)
from gateway.model.types import EnumOf, Field
from gateway.store.plan import ReadLimits
from gateway.store.rows import Item

# the defaults of the settings: a gateway may allow other sizes
_LIMITS = ReadLimits()
_SIZES = f"{_LIMITS.default_page} if neither `first` nor `last` is given, by default at most {_LIMITS.page}"
_PAGING = (
    argument("first", int, f"Return at most this many items, from the start of the list: {_SIZES}.", required=False),
    argument("after", str, "Return items after this cursor.", required=False),
    argument(
        "last",
        int,
        f"Return at most this many items, from the end of the list: by default at most {_LIMITS.page}.",
        required=False,
    ),
    argument("before", str, "Return items before this cursor.", required=False),
)


_CONSISTENT = argument(
    CONSISTENT,
    bool,
    "Read the latest state. Costs twice as much and bypasses every cache.",
    required=False,
)
_BY_DEFAULT = "By default the token's subject."
_NOT_WATCHED = frozenset({"after", "last", "before", CONSISTENT})  # arguments of a list that its watch does not have
_ID_DESCRIPTION = "The global id: unique across all types and valid for one tenant."


@strawberry.interface(description="An object with a global id.")
class Node:
    id: strawberry.ID = strawberry.field(description=_ID_DESCRIPTION)

    @classmethod
    def resolve_type(cls, item: Item, info: resolvers.Info, kind: Any) -> str:
        return item.entity


def build_schema(model: Model) -> strawberry.Schema:
    build = _Build(model)
    schema = strawberry.Schema(
        query=build.query(),
        mutation=build.mutation() if model.mutations else None,
        subscription=build.subscription() if model.watches else None,
        config=StrawberryConfig(auto_camel_case=False, scalar_map=build.scalars),
    )
    bind_resolvers(core_schema(schema), resolvers.attribute)
    return schema


def core_schema(schema: strawberry.Schema) -> GraphQLSchema:
    """The schema as graphql-core executes it."""
    core: GraphQLSchema = schema._schema  # noqa: SLF001  strawberry has no public name for it
    return core


_Declared = Computed | Loaded | CustomQuery | Relation | Choice | Watch


class _Build:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._types: Types = {"Node": Node, "list": list}
        self._annotations = Annotations(self._types)
        # descriptions say which roles are refused, by the same policies that refuse them
        self._visibility = visibility(model, generated(model))
        self._lookups = {pattern.entity: pattern for pattern in model.patterns.values() if isinstance(pattern, Lookup)}

    @property
    def scalars(self) -> dict[object, ScalarDefinition]:
        return self._annotations.scalars

    def query(self) -> Any:
        self._page_info()
        shown = {name: entity for name, entity in self._model.entities.items() if not entity.internal}
        for entity in shown.values():
            self._entity(entity)
        patterns = {name: pattern for name, pattern in self._model.patterns.items() if pattern.entity in shown}
        own = [pattern for name, pattern in patterns.items() if name not in self._model.choice_of]
        fields = [field for pattern in own for field in self._root(pattern)]
        fields += [self._choice(choice) for choice in self._model.choices.values()]
        custom = [self._custom_query(query) for query in self._model.queries.values()]
        return object_type(self._types, "Query", "All read operations.", [*self._nodes(), *fields, *custom])

    def subscription(self) -> Any:
        fields = [self._watch(watch) for watch in self._model.watches.values()]
        return object_type(self._types, "Subscription", "All items and lists that clients can subscribe to.", fields)

    def _watch(self, watch: Watch) -> StrawberryField:
        pattern = self._model.patterns[watch.pattern]
        assert not isinstance(pattern, ItemCollection)  # noqa: S101  checked with the model
        needed = sorted(watched_patterns(self._model, watch))
        description = watch.description + "".join(dict.fromkeys(map(self._visibility.of_pattern, needed)))
        if isinstance(pattern, Listing):
            kind, resolver = self._list_event(watch, pattern), resolvers.watched_list()
            narrowed = [filter_ for filter_ in self._narrowed(pattern) if filter_.name not in _NOT_WATCHED]
            arguments = [*self._parameters(pattern), *narrowed]
        else:
            kind, resolver, arguments = pattern.entity, resolvers.lookup_one(), self._parameters(pattern)
        return self._field(watch, f"{kind} | None", description, resolver, arguments)

    def _list_event(self, watch: Watch, listing: Listing) -> str:
        name, change = f"{watch.name[0].upper()}{watch.name[1:]}Event", f"{listing.entity}ListChange"
        if change not in self._types:
            self._list_change(change, listing.entity)
        page = "The current list, in the first event and when single changes are not available; otherwise null."
        changes = "The changes since the last event; beside a `page`, recent changes that it may not show yet."
        fields = [
            resolved(self._types, "page", f"{self._page_type(listing)} | None", page, resolvers.watched_page()),
            resolved(self._types, "changes", f"list[{change}]", changes, resolvers.watched_changes()),
        ]
        object_type(self._types, name, f"An event of `{watch.name}`.", fields)
        return name

    def _list_change(self, name: str, entity: str) -> None:
        kinds = self._annotations.output(EnumOf(ListChangeKind))
        fields = [
            basic(self._types, "kind", kinds, "What happened to the item."),
            # not `id`: caches of clients keep every object with an `id` under it, and this is not the item
            basic(self._types, "node_id", strawberry.ID, "The global id of the item."),
            basic(self._types, "node", f"{entity} | None", "The current item; null if it is no longer in the list."),
        ]
        object_type(self._types, name, f"A change in a watched list of {entity}.", fields)

    def mutation(self) -> Any:
        description = f"All write operations.{self._visibility.of_writes()}"
        return mutation_type(self._types, self._annotations, self._model, description)

    def _page_info(self) -> None:
        fields = [
            basic(self._types, "has_next_page", bool, "Whether the list continues after this page."),
            basic(self._types, "has_previous_page", bool, "Whether the list has items before this page."),
            basic(self._types, "start_cursor", str | None, "The cursor of the first item on the page."),
            basic(self._types, "end_cursor", str | None, "The cursor of the last item on the page."),
        ]
        object_type(self._types, "PageInfo", "The position of a page in its list.", fields)

    def _entity(self, entity: Entity) -> None:
        # an entity without a lookup by its key cannot be a node
        is_node = entity.name in self._lookups
        version_description = "Increases with every change; send it with an update to detect concurrent changes."
        version = basic(self._types, "version", int, version_description)
        attributes = [self._attribute(attribute) for attribute in entity.attributes]
        derived = [self._derived(entity, field) for field in entity.derived.values()]
        relations = [self._relation(entity, relation) for relation in entity.relations]
        fields = [*attributes, *derived, version, *relations]
        if is_node:
            fields.insert(0, resolved(self._types, "id", strawberry.ID, _ID_DESCRIPTION, resolvers.global_id(entity)))
        interfaces = (Node,) if is_node else ()
        object_type(self._types, entity.name, entity.description, fields, interfaces=interfaces)
        self._connection(entity)

    def _attribute(self, attribute: Attribute) -> StrawberryField:
        # some role may not read personal information: were the field non-null, the refusal would null the whole item
        required = attribute.required and not attribute.personal
        annotation = optional(self._annotations.output(attribute.type), required)
        description = attribute.description + (" Personal information." if attribute.personal else "")
        description += self._visibility.of_attribute(attribute.name)
        return basic(self._types, attribute.name, annotation, description, deprecated=attribute.deprecated)

    def _derived(self, entity: Entity, declared: Computed | Loaded) -> StrawberryField:
        # as nullable as the attributes that it needs
        required = declared.required and not any(entity.attribute[name].personal for name in declared.needs)
        annotation = optional(self._annotations.output(declared.type), required)
        description = declared.description + self._visibility.of_attributes(declared.needs)
        if isinstance(declared, Computed):
            resolver = code_resolvers.computed(entity, declared)
        else:
            resolver = code_resolvers.loaded(entity, declared)
        return self._field(declared, annotation, description, resolver, self._arguments(declared.arguments))

    def _field(
        self,
        declared: _Declared,
        kind: Any,
        description: str,
        resolver: resolvers.Resolver,
        arguments: Sequence[Any] = (),
    ) -> StrawberryField:
        deprecated = declared.deprecated
        return resolved(self._types, declared.name, kind, description, resolver, arguments, deprecated=deprecated)

    def _custom_query(self, query: CustomQuery) -> StrawberryField:
        # nullable, so that a failure does not remove the results of other fields
        if isinstance(query.returns, str):
            kind: Any = f"list[{query.returns}] | None" if query.many else f"{query.returns} | None"
        else:
            output = self._annotations.output(query.returns)
            kind = list[output] | None if query.many else output | None  # type: ignore[valid-type]  # made at run time
        resolver, arguments = code_resolvers.custom_query(query), self._arguments(query.arguments)
        return self._field(query, kind, query.description + query_cost(query), resolver, arguments)

    def _arguments(self, fields: tuple[Field, ...]) -> list[Any]:
        return [
            argument(field.name, self._annotations.argument(field.type), field.description, required=field.required)
            for field in fields
        ]

    def _connection(self, entity: Entity) -> None:
        name = entity.name
        edge = [
            basic(self._types, "node", name, "The item."),
            basic(self._types, "cursor", str, "The position of the item in the list, for `after` and `before`."),
        ]
        object_type(self._types, f"{name}Edge", f"An item of a list of {name}.", edge)
        fields = [
            basic(self._types, "edges", f"list[{name}Edge]", "The items of the page, with their cursors."),
            basic(self._types, "nodes", f"list[{name}]", "The items of the page."),
            basic(self._types, "page_info", "PageInfo", "The position of the page in the list."),
        ]
        object_type(self._types, f"{name}Connection", f"One page of a list of {name}.", fields)
        if any(listing.total_count is not None for listing in self._model.counted.get(entity.name, ())):
            count = "How many items the list has, regardless of ranges, filters and pages."
            total = basic(self._types, "total_count", int, count)
            described = f"One page of a list of {name} whose items are counted."
            object_type(self._types, f"Counted{name}Connection", described, [*fields, total])

    def _page_type(self, listing: Listing) -> str:
        """Only a list whose items are counted has a `totalCount`."""
        return f"{'Counted' if listing.total_count is not None else ''}{listing.entity}Connection"

    def _relation(self, entity: Entity, relation: Relation) -> StrawberryField:
        target = self._model.patterns[relation.pattern].entity
        description = relation.description + self._visibility.of_pattern(relation.pattern)
        if isinstance(relation, Reference):
            return self._field(relation, f"{target} | None", description, resolvers.reference(self._model, relation))
        if isinstance(relation, Total):
            summed = self._annotations.output(self._model.entities[target].attribute[relation.attribute].type)
            return self._field(relation, summed, description, resolvers.total(self._model, relation))
        return self._collection(entity, relation, target, description)

    def _collection(self, entity: Entity, relation: Collection, target: str, description: str) -> StrawberryField:
        if relation.each is not None:
            resolver = resolvers.collection_each(self._model, entity, relation)
            return self._field(relation, f"list[{target}]", description, resolver)
        listing, resolver = self._model.listing(relation.pattern), resolvers.collection_page(self._model, relation)
        return self._field(relation, self._page_type(listing), description, resolver, [*self._narrowed(listing)])

    def _narrowed(self, listing: Listing) -> Iterator[Any]:
        """The optional arguments of a list."""
        yield from self._range(listing)
        if listing.reversible:
            own = ListOrder.NEWEST_FIRST if listing.newest_first else ListOrder.OLDEST_FIRST
            description = f"The order of the list; the default is `{own.name}`. A cursor belongs to one order."
            yield argument(ORDER, self._annotations.output(EnumOf(ListOrder)), description, required=False)
        if listing.filter:
            yield self._filter(listing)
        yield from _consistent(listing)
        yield from _PAGING

    def _filter(self, listing: Listing) -> Any:
        entity = self._model.entities[listing.entity]
        name = f"{listing.name[0].upper()}{listing.name[1:]}Filter"
        kind = self._annotations.filter(
            name, f"A filter for `{listing.name}`.", [entity.attribute[attribute] for attribute in listing.filter]
        )
        description = (
            f"Return only items that match. A page reads at most {listing.max_read} items: it may have fewer than "
            "requested, or none, while `hasNextPage` is true; continue from `endCursor`."
        )
        return argument(FILTER, kind, description, required=False)

    def _range(self, listing: Listing) -> Iterator[Any]:
        if listing.between is not None:
            attribute = self._model.entities[listing.entity].attribute[listing.between]
            kind = self._annotations.range(attribute.type)
            description = f"Return only items whose `{listing.between}` is in this range"
            if listing.window is not None:
                description += f"; the default is the last {length_words(listing.window)}"
                hours = f"Return only items of this many last hours; replaces a range of `{listing.between}`."
                yield argument(LAST_HOURS, int, hours, required=False)
            elif self._model.place(listing).bucket is not None:
                description += "; both of its ends are required"
            yield argument(listing.between, kind, f"{description}.", required=False)

    def _parameters(self, pattern: Lookup | Listing, needed: set[str] | None = None) -> list[Any]:
        """`needed` are the required ones; by default, all without a default value."""
        attribute = self._model.entities[pattern.entity].attribute
        return [
            argument(
                name,
                self._annotations.argument(attribute[name].type),
                attribute[name].description + (f" {_BY_DEFAULT}" if name in pattern.defaults else ""),
                required=name not in pattern.defaults and (needed is None or name in needed),
            )
            for name in parameters(self._model, pattern)
        ]

    def _query_field(
        self, pattern: Lookup | Listing, name: str, kind: str, resolver: resolvers.Resolver, arguments: list[Any]
    ) -> StrawberryField:
        """`name` is the pattern's own, or its name for many items."""
        if isinstance(pattern, Lookup):
            cost = lookup_cost(pattern, many=name == pattern.many)
        else:
            cost = listing_cost(self._model, pattern)
        description = pattern.description + cost + self._visibility.of_pattern(pattern.name)
        return resolved(self._types, name, kind, description, resolver, arguments, deprecated=pattern.deprecated)

    def _root(self, pattern: AccessPattern) -> Iterator[StrawberryField]:
        """Nullable, like every field of the query, so that a failure does not remove the results of other fields."""
        match pattern:
            case Lookup():
                yield from self._root_lookup(pattern)
            case Listing(single=True):
                yield self._root_single(pattern)
            case Listing():
                arguments = [*self._parameters(pattern), *self._narrowed(pattern)]
                kind = f"{self._page_type(pattern)} | None"
                yield self._query_field(pattern, pattern.name, kind, resolvers.listing_page(), arguments)

    def _choice(self, choice: Choice) -> StrawberryField:
        """The arguments of all its listings; only those that every listing needs are required."""
        listings = [self._model.listing(name) for name in choice.patterns]
        needed = set.intersection(*(set(parameters(self._model, listing)) for listing in listings))
        by_name: dict[str, Any] = {}
        declared = [parameter for listing in listings for parameter in self._parameters(listing, needed)]
        for parameter in (*declared, *(narrowed for listing in listings for narrowed in self._narrowed(listing))):
            by_name.setdefault(parameter.name, parameter)
        ways = " Asked by " + "; or by ".join(self._way(listing) for listing in listings) + "."
        costs = dict.fromkeys(listing_cost(self._model, listing) for listing in listings)
        refused = {self._visibility.of_pattern(listing.name) for listing in listings}
        description = choice.description + ways + "".join(costs) + "".join(sorted(refused))
        kind, resolver = f"{self._page_type(listings[0])} | None", resolvers.listing_page()
        return self._field(choice, kind, description, resolver, list(by_name.values()))

    def _way(self, listing: Listing) -> str:
        taken = listing_arguments(self._model, listing)
        more = f", optionally {', '.join(f'`{name}`' for name in sorted(taken.optional))}" if taken.optional else ""
        needed = (f"`{name}`" for name in parameters(self._model, listing) if name in taken.required)
        return (", ".join(needed) or "no argument") + more

    def _root_lookup(self, lookup: Lookup) -> Iterator[StrawberryField]:
        required, consistent = self._parameters(lookup), [*_consistent(lookup)]
        resolver = resolvers.lookup_one()
        yield self._query_field(lookup, lookup.name, f"{lookup.entity} | None", resolver, [*required, *consistent])
        if lookup.subject is not None:
            yield self._subject(lookup, consistent)
        if lookup.many is not None:
            name = required[0].name
            description = "The ids. The result has the same order, with null for each item that does not exist."
            plural = argument(f"{name}s", list[strawberry.ID], description, required=True)
            many = resolvers.lookup_many(name, plural.name)
            yield self._query_field(
                lookup, lookup.many, f"list[{lookup.entity} | None] | None", many, [plural, *consistent]
            )

    def _subject(self, lookup: Lookup, consistent: list[Any]) -> StrawberryField:
        entity, refused = lookup.entity, self._visibility.of_pattern(lookup.name)
        words = f"The {entity} whose id is the token's subject, or null.{lookup_cost(lookup)}{refused}"
        resolver, deprecated = resolvers.lookup_one(), lookup.deprecated
        name = lookup.subject or ""
        return resolved(self._types, name, f"{entity} | None", words, resolver, consistent, deprecated=deprecated)

    def _root_single(self, listing: Listing) -> StrawberryField:
        entity = self._model.entities[listing.entity]
        relation = entity.relation.get(listing.follow or "")
        target = self._model.patterns[relation.pattern].entity if relation else listing.entity
        resolver = resolvers.listing_single(self._model)
        arguments = [*self._parameters(listing), *_consistent(listing)]
        return self._query_field(listing, listing.name, f"{target} | None", resolver, arguments)

    def _nodes(self) -> Iterator[StrawberryField]:
        by_id = argument("id", strawberry.ID, "A global id.", required=True)
        one = "The object with this global id, or null."
        yield resolved(self._types, "node", "Node | None", one, resolvers.node, [by_id])
        by_ids = argument("ids", list[strawberry.ID], "Global ids.", required=True)
        many = "The objects with these global ids, in the same order; null for each id without an object."
        yield resolved(self._types, "nodes", "list[Node | None] | None", many, resolvers.nodes, [by_ids])


def _consistent(pattern: Lookup | Listing) -> Iterator[Any]:
    if pattern.consistent:
        yield _CONSISTENT
