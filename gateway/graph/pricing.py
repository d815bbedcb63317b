"""Prices of operations, made from their documents and the model: page sizes, shards, buckets, declared item sizes.

An estimate is what an operation takes where every page is full and every reference leads to another item. What several
fields ask for in common is read once but counted each time, so an operation mostly takes less than its estimate.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphql import (
    FragmentDefinitionNode,
    GraphQLInterfaceType,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    value_from_ast_untyped,
)

from gateway.graph.arguments import Variables, argument_value, length
from gateway.graph.cost import MakePrice, Price, Reads
from gateway.graph.documents import Document
from gateway.graph.mutation import Mutation
from gateway.graph.page_price import Pages, page_price
from gateway.graph.reader import ReadLimits
from gateway.graph.selected import Group, Selected
from gateway.graph.write_price import write_price
from gateway.model.entity import Collection, Entity, Reference, Relation, Total
from gateway.model.model import Model
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import Listing, Lookup, Together
from gateway.model.units import query_units, read_units

_MEMBERS = 10  # of a collection by keys about which the model says nothing


def pricing(model: Model, schema: GraphQLSchema, limits: ReadLimits, mutations: Sequence[Mutation]) -> MakePrice:
    known = {mutation.name: mutation for mutation in mutations}

    def price(document: Document, operation: OperationDefinitionNode) -> Price:
        definitions = document.ast.definitions if document.ast is not None else ()
        fragments = {node.name.value: node for node in definitions if isinstance(node, FragmentDefinitionNode)}
        return _Pricing(model, schema, limits, fragments).operation(operation, known)

    return price


class _Pricing:
    def __init__(
        self,
        model: Model,
        schema: GraphQLSchema,
        limits: ReadLimits,
        fragments: Mapping[str, FragmentDefinitionNode],
    ) -> None:
        self._model = model
        self._schema = schema
        self._limits = limits
        self._selected = Selected(fragments)
        lookups = [each for each in model.patterns.values() if isinstance(each, Lookup)]
        self._lookups = {each.entity: each for each in lookups}
        self._plural = {each.many: each for each in lookups if each.many is not None}

    def operation(self, node: OperationDefinitionNode, mutations: Mapping[str, Mutation]) -> Price:
        defaults = {
            each.variable.name.value: value_from_ast_untyped(each.default_value)
            for each in node.variable_definitions or ()
            if each.default_value is not None
        }
        is_query = node.operation is OperationType.QUERY
        owner = self._schema.query_type if is_query else self._schema.mutation_type
        reads: list[Reads] = []
        for group in self._selected.groups([node.selection_set], owner) if owner is not None else ():
            made = self._root(group) if is_query else self._change(group, mutations)
            reads += [Reads(made.each, made.below, group.conditions)] if made is not None else []
        return Price(tuple(reads), defaults)

    def _root(self, group: Group) -> Reads | None:
        name = group.name
        if name in ("node", "nodes"):
            return self._any(group, "ids" if name == "nodes" else None)
        if name in self._plural:
            lookup = self._plural[name]
            return self._many(group, lookup, f"{parameters(self._model, lookup)[0]}s")
        match self._model.patterns.get(name):
            case Lookup() as lookup:
                return self._looked_up(group, lookup)
            case Listing(single=True) as listing:
                return self._single(group, listing)
            case Listing() as listing:
                return self._page(group, listing)
        return None

    def _change(self, group: Group, mutations: Mapping[str, Mutation]) -> Reads | None:
        mutation = mutations.get(group.name)
        if mutation is None:
            return None
        entity = self._model.entities[mutation.returns]
        payload = self._schema.type_map[f"{group.name[0].upper()}{group.name[1:]}Payload"]
        own = entity.name[0].lower() + entity.name[1:]
        below: list[Reads] = []
        for item in self._selected.groups(group.sets, payload):
            below += self._entity(item, entity) if item.name == own else ()
        return Reads(write_price(self._model, mutation, group.node), (tuple(below),))

    def _any(self, group: Group, plural: str | None) -> Reads:
        """By global id: of the types that it may name, the dearest."""
        node = self._schema.type_map["Node"]
        kinds = self._schema.get_possible_types(node) if isinstance(node, GraphQLInterfaceType) else ()
        entities = [self._model.entities[kind.name] for kind in kinds]
        unit = max((_item_units(self._lookups[entity.name]) for entity in entities), default=0.5)
        below = tuple(self._entity(group, entity) for entity in entities)
        return self._counted(group, unit, plural, below)

    def _many(self, group: Group, lookup: Lookup, plural: str) -> Reads:
        below = self._entity(group, self._model.entities[lookup.entity])
        return self._counted(group, _item_units(lookup), plural, (below,))

    def _counted(self, group: Group, unit: float, plural: str | None, below: tuple[tuple[Reads, ...], ...]) -> Reads:
        if plural is None:
            return Reads(lambda _: (unit, 1), below)
        ids, most = argument_value(group.node, plural), self._limits.page

        def each(variables: Variables) -> tuple[float, float]:
            count = min(length(ids(variables)), most)  # more are refused when it runs
            return count * unit, count

        return Reads(each, below)

    def _looked_up(self, group: Group, lookup: Lookup) -> Reads:
        """One item; with the members of a collection where one Query answers both."""
        entity = self._model.entities[lookup.entity]
        groups = self._selected.groups(group.sets, self._type(entity))
        shared = None if lookup.strong else self._shared(entity, groups)
        if shared is None:
            unit = _item_units(lookup)
            return Reads(lambda _: (unit, 1), (self._entity(group, entity),))
        pattern, member = shared
        found = self._relation(member, entity, entity.relation[member.name])
        size = max(lookup.traffic.item_bytes, pattern.traffic.item_bytes)
        free = Reads(lambda variables: (0, found.each(variables)[1]), found.below)
        rest = self._relations([each for each in groups if each is not member], entity)
        # the item itself, and one more member that tells whether there is a next page
        return Reads(lambda variables: (query_units(found.each(variables)[1] + 2, size), 1), ((free, *rest),))

    def _shared(self, entity: Entity, groups: Sequence[Group]) -> tuple[Together, Group] | None:
        for group in groups:
            pattern = self._model.together.get((entity.name, group.name))
            same = [each for each in groups if each.name == group.name]
            plain = all(argument.name.value == "first" for argument in group.node.arguments or ())
            if pattern is not None and len(same) == 1 and plain and not group.conditions:
                return pattern, group
        return None

    def _single(self, group: Group, listing: Listing) -> Reads:
        entity = self._model.entities[listing.entity]
        unit = query_units(2, listing.traffic.item_bytes, strong=listing.strong)
        relation = entity.relation.get(listing.follow or "")
        if not isinstance(relation, Reference):
            return Reads(lambda _: (unit, 1), (self._entity(group, entity),))
        followed = self._looked_up(group, self._model.lookup(relation.pattern))
        return Reads(lambda _: (unit, 1), ((followed,),))

    def _page(self, group: Group, listing: Listing) -> Reads:
        entity = self._model.entities[listing.entity]
        connection = self._selected.groups(group.sets, self._schema.type_map[f"{listing.entity}Connection"])
        below: list[Reads] = []
        probed = False
        for part in connection:
            if part.name == "nodes":
                below += self._entity(part, entity)
            elif part.name == "edges":
                for edge in self._selected.groups(part.sets, self._schema.type_map[f"{listing.entity}Edge"]):
                    below += self._entity(edge, entity) if edge.name == "node" else ()
            probed = probed or part.name == "pageInfo"
        return Reads(page_price(Pages(self._model, listing, self._limits, probed), group.node), (tuple(below),))

    def _entity(self, group: Group, entity: Entity) -> tuple[Reads, ...]:
        return tuple(self._relations(self._selected.groups(group.sets, self._type(entity)), entity))

    def _relations(self, groups: Sequence[Group], entity: Entity) -> Iterator[Reads]:
        for group in groups:
            relation = entity.relation.get(group.name)
            if relation is not None:
                made = self._relation(group, entity, relation)
                yield Reads(made.each, made.below, group.conditions)

    def _relation(self, group: Group, entity: Entity, relation: Relation) -> Reads:
        if isinstance(relation, Collection) and relation.each is None:
            return self._page(group, self._model.listing(relation.pattern))
        lookup = self._model.lookup(relation.pattern)
        unit, below = _item_units(lookup), (self._entity(group, self._model.entities[lookup.entity]),)
        match relation:
            case Total(count=count):
                return Reads(lambda _: (count * unit, 0))
            case Collection():
                together = self._model.together.get((entity.name, relation.name))
                members = together.traffic.items if together is not None else _MEMBERS
                return Reads(lambda _: (members * unit, members), below)
        return Reads(lambda _: (unit, 1), below)

    def _type(self, entity: Entity) -> Any:
        return self._schema.type_map[entity.name]


def _item_units(lookup: Lookup) -> float:
    return read_units(lookup.traffic.item_bytes, strong=lookup.strong)
