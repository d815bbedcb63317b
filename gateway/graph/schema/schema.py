"""The GraphQL schema, built from the model."""

from collections.abc import Iterator, Sequence
from typing import Any

import strawberry
from graphql import GraphQLSchema
from strawberry.schema.config import StrawberryConfig
from strawberry.types.field import StrawberryField
from strawberry.types.scalar import ScalarDefinition

from gateway.graph.mutation.mutation import Mutation
from gateway.graph.query.reference import resolvers
from gateway.graph.schema.annotations import Annotations, optional
from gateway.graph.schema.fields import Types, argument, basic, bind_resolvers, object_type, resolved
from gateway.graph.schema.mutations import mutation_type
from gateway.iam.policies.policies import generated
from gateway.iam.policies.visibility import visibility
from gateway.model.entity import Attribute, Collection, Entity, Reference, Relation, Total
from gateway.model.key_docs import length_words
from gateway.model.model import Model
from gateway.model.patterns import AccessPattern, Listing, Lookup, parameters
from gateway.store.plan import LAST_HOURS
from gateway.store.rows import Item

_PAGING = (
    argument("first", int, "Return at most this many items, from the start of the list.", required=False),
    argument("after", str, "Return items after this cursor.", required=False),
    argument("last", int, "Return at most this many items, from the end of the list.", required=False),
    argument("before", str, "Return items before this cursor.", required=False),
)


_ID_DESCRIPTION = "The global id: unique across all types and valid for one tenant."


@strawberry.interface(description="An object with a global id.")
class Node:
    id: strawberry.ID = strawberry.field(description=_ID_DESCRIPTION)

    @classmethod
    def resolve_type(cls, item: Item, info: resolvers.Info, kind: Any) -> str:
        return item.entity


def build_schema(model: Model, mutations: Sequence[Mutation] = ()) -> strawberry.Schema:
    build = _Build(model)
    schema = strawberry.Schema(
        query=build.query(),
        mutation=build.mutation(mutations) if mutations else None,
        config=StrawberryConfig(auto_camel_case=False, scalar_map=build.scalars),
    )
    bind_resolvers(core_schema(schema), resolvers.attribute)
    return schema


def core_schema(schema: strawberry.Schema) -> GraphQLSchema:
    """The schema as graphql-core executes it."""
    core: GraphQLSchema = schema._schema  # noqa: SLF001  strawberry has no public name for it
    return core


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
        for entity in self._model.entities.values():
            self._entity(entity)
        fields = [field for pattern in self._model.patterns.values() for field in self._root(pattern)]
        return object_type(self._types, "Query", "All read operations.", [*self._nodes(), *fields])

    def mutation(self, mutations: Sequence[Mutation]) -> Any:
        description = f"All write operations.{self._visibility.of_writes()}"
        return mutation_type(self._types, self._annotations, mutations, description)

    def _page_info(self) -> None:
        fields = [
            basic(
                self._types, "has_next_page", bool, "Whether the list continues after this page.", alias="hasNextPage"
            ),
            basic(
                self._types,
                "has_previous_page",
                bool,
                "Whether the list has items before this page.",
                alias="hasPreviousPage",
            ),
            basic(
                self._types,
                "start_cursor",
                str | None,
                "The cursor of the first item on the page.",
                alias="startCursor",
            ),
            basic(self._types, "end_cursor", str | None, "The cursor of the last item on the page.", alias="endCursor"),
        ]
        object_type(self._types, "PageInfo", "The position of a page in its list.", fields)

    def _entity(self, entity: Entity) -> None:
        # an entity without a lookup by its key cannot be a node
        is_node = entity.name in self._lookups
        version_description = "Increases with every change; send it with an update to detect concurrent changes."
        version = basic(self._types, "version", int, version_description)
        attributes = [self._attribute(attribute) for attribute in entity.attributes]
        relations = [self._relation(entity, relation) for relation in entity.relations]
        object_type(
            self._types,
            entity.name,
            entity.description,
            [*([self._identity(entity)] if is_node else []), *attributes, version, *relations],
            interfaces=(Node,) if is_node else (),
        )
        self._connection(entity)

    def _identity(self, entity: Entity) -> StrawberryField:
        return resolved(self._types, "id", strawberry.ID, _ID_DESCRIPTION, resolvers.item_id(entity))

    def _attribute(self, attribute: Attribute) -> StrawberryField:
        # some role may not read personal information: were the field non-null, the refusal would null the whole item
        required = attribute.required and not attribute.personal
        annotation = optional(self._annotations.output(attribute.type), required)
        description = attribute.description + (" Personal information." if attribute.personal else "")
        description += self._visibility.of_attribute(attribute.name)
        return basic(self._types, attribute.name, annotation, description, deprecated=attribute.deprecated)

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
            basic(self._types, "page_info", "PageInfo", "The position of the page in the list.", alias="pageInfo"),
        ]
        object_type(self._types, f"{name}Connection", f"One page of a list of {name}.", fields)

    def _relation(self, entity: Entity, relation: Relation) -> StrawberryField:
        target = self._model.patterns[relation.pattern].entity
        description = relation.description + self._visibility.of_pattern(relation.pattern)
        if isinstance(relation, Reference):
            resolver = resolvers.reference(self._model, relation)
            kind = f"{target} | None"
            return resolved(self._types, relation.name, kind, description, resolver, deprecated=relation.deprecated)
        if isinstance(relation, Total):
            summed = self._annotations.output(self._model.entities[target].attribute[relation.attribute].type)
            resolver = resolvers.total(self._model, relation)
            return resolved(self._types, relation.name, summed, description, resolver, deprecated=relation.deprecated)
        return self._collection(entity, relation, target, description)

    def _collection(self, entity: Entity, relation: Collection, target: str, description: str) -> StrawberryField:
        name, deprecated = relation.name, relation.deprecated
        if relation.each is not None:
            resolver = resolvers.collection_each(self._model, entity, relation)
            return resolved(self._types, name, f"list[{target}]", description, resolver, deprecated=deprecated)
        resolver = resolvers.collection_page(self._model, relation)
        arguments = [*self._range(self._model.listing(relation.pattern)), *_PAGING]
        kind = f"{target}Connection"
        return resolved(self._types, name, kind, description, resolver, arguments, deprecated=deprecated)

    def _range(self, listing: Listing) -> Iterator[Any]:
        if listing.between is not None:
            attribute = self._model.entities[listing.entity].attribute[listing.between]
            kind = self._annotations.range(attribute.type)
            description = f"Return only items whose `{listing.between}` is in this range"
            if listing.window is not None:
                description += f"; the default is the last {length_words(listing.window)}"
                hours = f"Return only items of the last so many hours; replaces a range of `{listing.between}`."
                yield argument(LAST_HOURS, int, hours, required=False)
            yield argument(listing.between, kind, f"{description}.", required=False)

    def _parameters(self, pattern: AccessPattern) -> list[Any]:
        entity = self._model.entities[pattern.entity]
        return [
            argument(
                name,
                self._annotations.argument(entity.attribute[name].type),
                entity.attribute[name].description,
                required=True,
            )
            for name in parameters(self._model, pattern)
        ]

    def _query_field(
        self, pattern: Lookup | Listing, name: str, kind: str, resolver: resolvers.Resolver, arguments: list[Any]
    ) -> StrawberryField:
        """`name` is the pattern's own, or its name for many items."""
        description = pattern.description + self._visibility.of_pattern(pattern.name)
        return resolved(self._types, name, kind, description, resolver, arguments, deprecated=pattern.deprecated)

    def _root(self, pattern: AccessPattern) -> Iterator[StrawberryField]:
        match pattern:
            case Lookup():
                yield from self._root_lookup(pattern)
            case Listing(single=True):
                yield self._root_single(pattern)
            case Listing():
                arguments = [*self._parameters(pattern), *self._range(pattern), *_PAGING]
                resolver = resolvers.listing_page(pattern)
                kind = f"{pattern.entity}Connection"
                yield self._query_field(pattern, pattern.name, kind, resolver, arguments)

    def _root_lookup(self, lookup: Lookup) -> Iterator[StrawberryField]:
        required = self._parameters(lookup)
        resolver = resolvers.lookup_one()
        yield self._query_field(lookup, lookup.name, f"{lookup.entity} | None", resolver, required)
        if lookup.many is not None:
            name = required[0].name
            description = "The ids. The result has the same order, with null for each item that does not exist."
            plural = argument(f"{name}s", list[strawberry.ID], description, required=True)
            many = resolvers.lookup_many(lookup, name, plural.name)
            yield self._query_field(lookup, lookup.many, f"list[{lookup.entity} | None]", many, [plural])

    def _root_single(self, listing: Listing) -> StrawberryField:
        entity = self._model.entities[listing.entity]
        relation = entity.relation.get(listing.follow or "")
        target = self._model.patterns[relation.pattern].entity if relation else listing.entity
        resolver = resolvers.listing_single(self._model, listing)
        arguments = self._parameters(listing)
        return self._query_field(listing, listing.name, f"{target} | None", resolver, arguments)

    def _nodes(self) -> Iterator[StrawberryField]:
        by_id = argument("id", strawberry.ID, "A global id.", required=True)
        one = "The object with this global id; null if there is none."
        yield resolved(self._types, "node", "Node | None", one, resolvers.node, [by_id])
        by_ids = argument("ids", list[strawberry.ID], "Global ids.", required=True)
        many = "The objects with these global ids, in the same order; null for each id without an object."
        yield resolved(self._types, "nodes", "list[Node | None]", many, resolvers.nodes, [by_ids])
