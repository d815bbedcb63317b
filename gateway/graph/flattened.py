"""The fields that a query selects, through its fragments; what carries a directive is left to graphql-core."""

from collections.abc import Iterator, Mapping
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    SelectionSetNode,
)


class Unsupported(Exception):
    """The operation uses something that only graphql-core runs."""


class Flattened:
    def __init__(self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._schema = schema
        self._fragments = fragments

    def of(self, sets: list[SelectionSetNode], owner: GraphQLObjectType) -> dict[str, list[FieldNode]]:
        """Fields by response key, through fragments, in the order in which the answer has them."""
        groups: dict[str, list[FieldNode]] = {}
        seen: set[str] = set()
        for node in self._walk(sets, owner, seen):
            groups.setdefault(node.alias.value if node.alias else node.name.value, []).append(node)
        return groups

    def below(self, nodes: list[FieldNode], owner: GraphQLObjectType) -> dict[str, list[FieldNode]]:
        return self.of([node.selection_set for node in nodes if node.selection_set is not None], owner)

    def _walk(self, sets: list[SelectionSetNode], owner: GraphQLObjectType, seen: set[str]) -> Iterator[FieldNode]:
        for selections in sets:
            for node in selections.selections:
                if node.directives:
                    raise Unsupported
                if isinstance(node, FieldNode):
                    yield node
                    continue
                spread = isinstance(node, FragmentSpreadNode)
                fragment: Any = self._fragments[node.name.value] if isinstance(node, FragmentSpreadNode) else node
                if spread and fragment.name.value in seen:
                    continue
                if spread:
                    seen.add(fragment.name.value)
                if self._applies(fragment.type_condition, owner):
                    yield from self._walk([fragment.selection_set], owner, seen)

    def _applies(self, condition: Any, owner: GraphQLObjectType) -> bool:
        if condition is None or condition.name.value == owner.name:
            return True
        named = self._schema.type_map.get(condition.name.value)
        return isinstance(named, GraphQLInterfaceType) and named in owner.interfaces
