"""From a validated query to a `Program`; what it does not know is left to graphql-core, which runs everything."""

from functools import partial
from typing import Any

from cachetools import LRUCache
from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    GraphQLObjectType,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    get_named_type,
)

from gateway.graph.compile_pages import connection_shape
from gateway.graph.documents import Document
from gateway.graph.flattened import Flattened, Unsupported
from gateway.graph.selection import ID, VERSION, Selections
from gateway.graph.shape import (
    Asked,
    Cell,
    ConnectionShape,
    Constant,
    Each,
    GlobalId,
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
from gateway.graph.writing import writer
from gateway.model.entity import Collection, Entity, Reference, Total
from gateway.model.model import Model
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import Listing, Lookup
from gateway.model.relation_checks import bound_attribute, open_parameters, own_parameters


def compiled(model: Model, schema: GraphQLSchema, document: Document, name: str | None) -> Program | None:
    operation = document.operation(name)
    if operation is None or document.ast is None or operation.operation is not OperationType.QUERY:
        return None
    fragments = {node.name.value: node for node in document.ast.definitions if isinstance(node, FragmentDefinitionNode)}
    try:
        return _Compiler(model, schema, fragments).program(operation)
    except Unsupported:
        return None


class Programs:
    """Programs by document and operation, remembered; None where graphql-core has to run it."""

    def __init__(self, model: Model, schema: GraphQLSchema) -> None:
        self._model = model
        self._schema = schema
        self._known: LRUCache[tuple[str, str | None], Program | None] = LRUCache(1_000)

    def get(self, document: Document, name: str | None) -> Program | None:
        key = (document.hash, name)
        if key not in self._known:
            self._known[key] = compiled(self._model, self._schema, document, name)
        return self._known[key]


class _Compiler:
    def __init__(self, model: Model, schema: GraphQLSchema, fragments: dict[str, FragmentDefinitionNode]) -> None:
        self._model = model
        self._schema = schema
        self._fragments = fragments
        self._flattened = Flattened(schema, fragments)
        self._selections = Selections(model)
        self._attributes: set[str] = set()
        self._lookups = {
            name: (lookup, many)
            for lookup in model.patterns.values()
            if isinstance(lookup, Lookup)
            for name, many in ((lookup.name, False), (lookup.many, True))
            if name is not None
        }

    def program(self, operation: OperationDefinitionNode) -> Program:
        query = self._schema.query_type
        if operation.directives or query is None:
            raise Unsupported
        groups = self._flattened.of([operation.selection_set], query)
        roots = tuple(self._root(query, key, nodes) for key, nodes in groups.items())
        return Program(roots, tuple(operation.variable_definitions or ()), frozenset(self._attributes))

    def _root(self, query: GraphQLObjectType, key: str, nodes: list[FieldNode]) -> Root:
        name = nodes[0].name.value
        if name == "__typename":
            return Constant(key, query.name)
        if name not in query.fields or name.startswith("__"):
            raise Unsupported
        asked = Asked(query.fields[name], nodes[0])
        owner = get_named_type(asked.definition.type)
        if not isinstance(owner, GraphQLObjectType):
            raise Unsupported
        if name in self._lookups:
            lookup, many = self._lookups[name]
            return self._root_lookup(key, lookup, many, asked, nodes, owner)
        listing = self._model.patterns.get(name)
        if not isinstance(listing, Listing):
            raise Unsupported
        if listing.single:
            return self._root_single(key, listing, asked, nodes, owner)
        return Pages(key, None, listing, asked, self._connection(listing, nodes, owner))

    def _root_lookup(
        self, key: str, lookup: Lookup, many: bool, asked: Asked, nodes: list[FieldNode], owner: GraphQLObjectType
    ) -> RootOne | RootMany:
        entity = self._model.entities[lookup.entity]
        shape = self._shape(entity, nodes, owner)
        if many:
            return RootMany(key, lookup, parameters(self._model, lookup)[0], asked, shape)
        return RootOne(key, asked, self._target(lookup, shape))

    def _target(self, lookup: Lookup, shape: Shape) -> Target:
        return Target(lookup, shape, None if lookup.strong else self._together(shape.entity, shape))

    def _together(self, entity: Entity, shape: Shape) -> Any:
        for load in shape.loads:
            same = [each for each in shape.loads if each.relation is load.relation]
            pattern = self._model.together.get((entity.name, load.relation.name)) if load.relation else None
            if pattern is None or len(same) != 1:
                continue
            plain = not isinstance(load, Pages) or all(
                argument.name.value == "first" for argument in load.asked.node.arguments or ()
            )
            if plain:
                return pattern, load
        return None

    def _root_single(
        self, key: str, listing: Listing, asked: Asked, nodes: list[FieldNode], owner: GraphQLObjectType
    ) -> RootSingle:
        entity = self._model.entities[listing.entity]
        follow = entity.relation.get(listing.follow or "")
        if not isinstance(follow, Reference):
            return RootSingle(key, listing, asked, self._shape(entity, nodes, owner))
        lookup = self._model.lookup(follow.pattern)
        names = frozenset(bound_attribute(follow, name) for name in parameters(self._model, lookup))
        shape = self._shape(self._model.entities[lookup.entity], nodes, owner)
        return RootSingle(key, listing, asked, shape, (follow, self._target(lookup, shape)), names)

    def _shape(self, entity: Entity, nodes: list[FieldNode], owner: GraphQLObjectType) -> Shape:
        groups = self._flattened.below(nodes, owner)
        fields = tuple(self._field(entity, owner, key, found) for key, found in groups.items())
        attributes = self._selections.attributes(nodes, self._fragments, entity)
        self._attributes |= attributes
        return Shape(entity, attributes, fields)

    def _field(self, entity: Entity, owner: GraphQLObjectType, key: str, nodes: list[FieldNode]) -> Any:
        name = nodes[0].name.value
        if name == "__typename":
            return Constant(key, owner.name)
        if name == ID:
            return GlobalId(key)
        if name == VERSION:
            return Cell(key, name, None, True)
        attribute = entity.attribute.get(name)
        if attribute is not None:
            write = writer(attribute.type, nodes, owner.fields[name].type, self._flattened.below)
            return Cell(key, name, write, attribute.required and not attribute.personal)
        return self._relation(entity, owner, key, nodes)

    def _relation(self, entity: Entity, owner: GraphQLObjectType, key: str, nodes: list[FieldNode]) -> Any:
        relation = entity.relation.get(nodes[0].name.value)
        definition = owner.fields[nodes[0].name.value]
        if isinstance(relation, Total):
            lookup = self._model.lookup(relation.pattern)
            kind = self._model.entities[lookup.entity].attribute[relation.attribute].type
            write = writer(kind, nodes, definition.type, self._flattened.below)
            return Sum(key, relation, lookup, own_parameters(self._model, relation), write)
        target = get_named_type(definition.type)
        if not isinstance(target, GraphQLObjectType):
            raise Unsupported
        match relation:
            case Reference():
                lookup = self._model.lookup(relation.pattern)
                return One(key, relation, lookup, self._shape(self._model.entities[lookup.entity], nodes, target))
            case Collection(each=str()):
                lookup = self._model.lookup(relation.pattern)
                (free,) = open_parameters(self._model, entity, relation)
                fixed = tuple(name for name in parameters(self._model, lookup) if name != free)
                shape = self._shape(self._model.entities[lookup.entity], nodes, target)
                return Each(key, relation, lookup, shape, free, fixed)
            case Collection():
                listing = self._model.listing(relation.pattern)
                asked = Asked(definition, nodes[0])
                return Pages(key, relation, listing, asked, self._connection(listing, nodes, target))
        raise Unsupported

    def _connection(self, listing: Listing, nodes: list[FieldNode], owner: GraphQLObjectType) -> ConnectionShape:
        entity = self._model.entities[listing.entity]
        return connection_shape(self._flattened.below, partial(self._shape, entity), nodes, owner)
