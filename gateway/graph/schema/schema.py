"""The GraphQL schema, made from the model: nothing about an entity is written twice."""

from collections.abc import Iterator, Sequence
from typing import Any

import strawberry
from graphql import GraphQLSchema
from strawberry.schema.config import StrawberryConfig
from strawberry.types.field import StrawberryField
from strawberry.types.scalar import ScalarDefinition

from gateway.errors import BadUserInput
from gateway.graph.mutation.mutation import Mutation
from gateway.graph.query.reference import nodes, resolvers
from gateway.graph.query.reference.resolvers import total
from gateway.graph.schema.annotations import Annotations, optional
from gateway.graph.schema.fields import Types, argument, basic, bind_resolvers, object_type, resolved
from gateway.graph.schema.mutations import mutation_type
from gateway.iam.policies.policies import generated
from gateway.iam.policies.visibility import visibility
from gateway.model.entity import Attribute, Collection, Entity, Reference, Relation, Total
from gateway.model.key_docs import length_words
from gateway.model.model import Model
from gateway.model.patterns import AccessPattern, Listing, Lookup, parameters
from gateway.store.access import gather_settled
from gateway.store.plan import LAST_HOURS
from gateway.store.rows import Item

_PAGING = (
    argument("first", int, "How many from the start.", required=False),
    argument("after", str, "Only what comes after this cursor.", required=False),
    argument("last", int, "How many from the end.", required=False),
    argument("before", str, "Only what comes before this cursor.", required=False),
)


@strawberry.interface(description="Anything that has a global id.")
class Node:
    id: strawberry.ID = strawberry.field(description="Global id: unique over all types, bound to the tenant.")

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
        # what a role can never read or ask is told by the same policies that refuse it
        self._seen = visibility(model, generated(model))
        self._lookups = {pattern.entity: pattern for pattern in model.patterns.values() if isinstance(pattern, Lookup)}

    @property
    def scalars(self) -> dict[object, ScalarDefinition]:
        return self._annotations.scalars

    def query(self) -> Any:
        self._page_info()
        for entity in self._model.entities.values():
            self._entity(entity)
        fields = [field for pattern in self._model.patterns.values() for field in self._root(pattern)]
        return object_type(self._types, "Query", "What can be read.", [*self._nodes(), *fields])

    def mutation(self, mutations: Sequence[Mutation]) -> Any:
        words = f"What can be changed.{self._seen.of_writes()}"
        return mutation_type(self._types, self._annotations, mutations, words)

    def _page_info(self) -> None:
        fields = [
            basic(self._types, "has_next_page", bool, "Whether there is a page after this one.", alias="hasNextPage"),
            basic(
                self._types, "has_previous_page", bool, "Whether there is a page before it.", alias="hasPreviousPage"
            ),
            basic(self._types, "start_cursor", str | None, "Cursor of the first item.", alias="startCursor"),
            basic(self._types, "end_cursor", str | None, "Cursor of the last item.", alias="endCursor"),
        ]
        object_type(self._types, "PageInfo", "Where a page lies in its list.", fields)

    def _entity(self, entity: Entity) -> None:
        # only what can be looked up by its key can be a node and has a global id
        is_node = entity.name in self._lookups
        version = basic(self._types, "version", int, "Counts the changes of the item; give it back to update safely.")
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
        words = "Global id: unique over all types, bound to the tenant."
        return resolved(self._types, "id", strawberry.ID, words, nodes.item_id(entity))

    def _attribute(self, attribute: Attribute) -> StrawberryField:
        # what some role may not read must be able to be null, or one refused field would take its whole item along
        required = attribute.required and not attribute.personal
        annotation = optional(self._annotations.output(attribute.type), required)
        words = attribute.description + (" Personal information." if attribute.personal else "")
        words += self._seen.of_attribute(attribute.name)
        return basic(self._types, attribute.name, annotation, words, deprecated=attribute.deprecated)

    def _connection(self, entity: Entity) -> None:
        name = entity.name
        edge = [
            basic(self._types, "node", name, "The item."),
            basic(self._types, "cursor", str, "Where it lies in the list; give it back to read on from here."),
        ]
        object_type(self._types, f"{name}Edge", f"One {name} of a list.", edge)
        fields = [
            basic(self._types, "edges", f"list[{name}Edge]", "The page, with cursors."),
            basic(self._types, "nodes", f"list[{name}]", "The page, without cursors."),
            basic(self._types, "page_info", "PageInfo", "Where the page lies in the list.", alias="pageInfo"),
        ]
        object_type(self._types, f"{name}Connection", f"A page of a list of {name}.", fields)

    def _relation(self, entity: Entity, relation: Relation) -> StrawberryField:
        target = self._model.patterns[relation.pattern].entity
        words = relation.description + self._seen.of_pattern(relation.pattern)
        if isinstance(relation, Reference):
            resolver = resolvers.reference(self._model, relation)
            kind = f"{target} | None"
            return resolved(self._types, relation.name, kind, words, resolver, deprecated=relation.deprecated)
        if isinstance(relation, Total):
            summed = self._annotations.output(self._model.entities[target].attribute[relation.attribute].type)
            resolver = total(self._model, relation)
            return resolved(self._types, relation.name, summed, words, resolver, deprecated=relation.deprecated)
        return self._collection(entity, relation, target, words)

    def _collection(self, entity: Entity, relation: Collection, target: str, words: str) -> StrawberryField:
        if relation.each is not None:
            resolver = resolvers.collection_each(self._model, entity, relation)
            kind = f"list[{target}]"
            return resolved(self._types, relation.name, kind, words, resolver, deprecated=relation.deprecated)
        listing = self._model.listing(relation.pattern)
        resolver = resolvers.collection_page(self._model, relation)
        arguments = [*self._span(listing), *_PAGING]
        kind = f"{target}Connection"
        return resolved(self._types, relation.name, kind, words, resolver, arguments, deprecated=relation.deprecated)

    def _span(self, listing: Listing) -> Iterator[Any]:
        if listing.between is not None:
            attribute = self._model.entities[listing.entity].attribute[listing.between]
            kind = self._annotations.span(attribute.type)
            words = f"Only this range of `{listing.between}`"
            if listing.window is not None:
                words += f"; without it, the last {length_words(listing.window)}"
                hours = f"Only so many hours up to now, instead of a range of `{listing.between}`."
                yield argument(LAST_HOURS, int, hours, required=False)
            yield argument(listing.between, kind, f"{words}.", required=False)

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

    def _asked(
        self, pattern: Lookup | Listing, name: str, kind: str, resolver: resolvers.Resolver, arguments: list[Any]
    ) -> StrawberryField:
        """A field of Query; `name` is the pattern's own or the one for many."""
        words = pattern.description + self._seen.of_pattern(pattern.name)
        return resolved(self._types, name, kind, words, resolver, arguments, deprecated=pattern.deprecated)

    def _root(self, pattern: AccessPattern) -> Iterator[StrawberryField]:
        match pattern:
            case Lookup():
                yield from self._root_lookup(pattern)
            case Listing(single=True):
                yield self._root_single(pattern)
            case Listing():
                arguments = [*self._parameters(pattern), *self._span(pattern), *_PAGING]
                resolver = resolvers.listing_page(pattern)
                kind = f"{pattern.entity}Connection"
                yield self._asked(pattern, pattern.name, kind, resolver, arguments)

    def _root_lookup(self, lookup: Lookup) -> Iterator[StrawberryField]:
        required = self._parameters(lookup)
        resolver = resolvers.lookup_one()
        yield self._asked(lookup, lookup.name, f"{lookup.entity} | None", resolver, required)
        if lookup.many is not None:
            name = required[0].name
            words = "Their ids; the answer has the same order, with null for what does not exist."
            plural = argument(f"{name}s", list[strawberry.ID], words, required=True)
            many = resolvers.lookup_many(lookup, name, plural.name)
            yield self._asked(lookup, lookup.many, f"list[{lookup.entity} | None]", many, [plural])

    def _root_single(self, listing: Listing) -> StrawberryField:
        entity = self._model.entities[listing.entity]
        relation = entity.relation.get(listing.follow or "")
        target = self._model.patterns[relation.pattern].entity if relation else listing.entity
        resolver = resolvers.listing_single(self._model, listing)
        arguments = self._parameters(listing)
        return self._asked(listing, listing.name, f"{target} | None", resolver, arguments)

    def _nodes(self) -> Iterator[StrawberryField]:
        async def one(root: None, info: resolvers.Info, **arguments: Any) -> Item | None:
            field = info.context.field(info)
            return await nodes.find_node(info.context, field, arguments["id"])

        async def many(root: None, info: resolvers.Info, **arguments: Any) -> list[Item | Exception | None]:
            ids, limit = arguments["ids"], info.context.reader.limits.page
            if len(ids) > limit:
                raise BadUserInput(f"`ids` has {len(ids)} members, at most {limit} are allowed")
            field = info.context.field(info)
            # one that fails is an error in its place, and the others are answered
            return await gather_settled([nodes.find_node(info.context, field, each) for each in ids])

        by_id = argument("id", strawberry.ID, "A global id.", required=True)
        yield resolved(self._types, "node", "Node | None", "Anything by its global id, or null.", one, [by_id])
        by_ids = argument("ids", list[strawberry.ID], "Global ids.", required=True)
        yield resolved(self._types, "nodes", "list[Node | None]", "Many by their global ids.", many, [by_ids])
