"""What an operation asks of an item: the attributes to read, found in the selection before anything is loaded."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphql import FieldNode, FragmentDefinitionNode, FragmentSpreadNode, GraphQLResolveInfo, SelectionSetNode

from gateway.model.entity import Collection, Entity
from gateway.model.model import Model
from gateway.model.relation_checks import bound_attribute, own_parameters
from gateway.store.plan import Attributes

Fragments = Mapping[str, FragmentDefinitionNode]
ID, VERSION = "id", "version"


def children(nodes: Iterable[FieldNode], fragments: Fragments) -> Iterator[FieldNode]:
    """The fields right below these, through fragments; each fragment is entered once."""
    seen: set[str] = set()
    pending: list[SelectionSetNode] = [node.selection_set for node in nodes if node.selection_set is not None]
    while pending:
        for selection in pending.pop().selections:
            if isinstance(selection, FieldNode):
                yield selection
            elif isinstance(selection, FragmentSpreadNode):
                name = selection.name.value
                if name not in seen and name in fragments:
                    seen.add(name)
                    pending.append(fragments[name].selection_set)
            else:
                pending.append(selection.selection_set)  # type: ignore[attr-defined]  # an inline fragment


def named(nodes: Iterable[FieldNode], fragments: Fragments, *path: str) -> list[FieldNode]:
    """The fields at the end of a path of field names below these."""
    found = list(nodes)
    for name in path:
        found = [child for child in children(found, fragments) if child.name.value == name]
    return found


def item_nodes(nodes: Iterable[FieldNode], fragments: Fragments) -> list[FieldNode]:
    """Where a connection's items are selected."""
    return [*named(nodes, fragments, "nodes"), *named(nodes, fragments, "edges", "node")]


class Selections:
    """Answers for one operation, remembered: fifty orders ask the same of their users."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._known: dict[tuple[int, str, bool], Attributes] = {}

    def of_item(self, info: GraphQLResolveInfo[Any], entity: Entity) -> Attributes:
        return self._remembered(info, entity, connection=False)

    def of_connection(self, info: GraphQLResolveInfo[Any], entity: Entity) -> Attributes:
        return self._remembered(info, entity, connection=True)

    def _remembered(self, info: GraphQLResolveInfo[Any], entity: Entity, *, connection: bool) -> Attributes:
        key = (id(info.field_nodes[0]), entity.name, connection)
        known = self._known.get(key)
        if known is None:
            nodes = item_nodes(info.field_nodes, info.fragments) if connection else info.field_nodes
            known = self._known[key] = self.attributes(nodes, info.fragments, entity)
        return known

    def attributes(self, nodes: Iterable[FieldNode], fragments: Fragments, entity: Entity) -> Attributes:
        wanted: set[str] = set()
        for node in children(nodes, fragments):
            wanted |= self._needed(entity, node.name.value)
        return frozenset(wanted)

    def _needed(self, entity: Entity, field: str) -> set[str]:
        if field in entity.attribute or field == VERSION:
            return {field}
        if field == ID:
            return set(entity.key_names)
        relation = entity.relation.get(field)
        if relation is None:
            return set()
        bound = {bound_attribute(relation, name) for name in own_parameters(self._model, relation)}
        each = {relation.each} if isinstance(relation, Collection) and relation.each else set()
        return {name for name in bound if name in entity.attribute} | each
