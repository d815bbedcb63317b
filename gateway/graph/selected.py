"""The fields that a selection leads to, as execution would group them: by response key, through fragments."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphql import (
    BooleanValueNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    SelectionSetNode,
    VariableNode,
)

from gateway.graph.cost import Condition

Conditions = tuple[Condition, ...]
_KINDS = {"include": True, "skip": False}


@dataclass(frozen=True, slots=True)
class Group:
    """The nodes that make one field of the answer; `conditions` are empty where any of them is always there."""

    nodes: tuple[FieldNode, ...]
    conditions: Conditions

    @property
    def node(self) -> FieldNode:
        return self.nodes[0]

    @property
    def name(self) -> str:
        return self.node.name.value

    @property
    def sets(self) -> list[SelectionSetNode]:
        return [node.selection_set for node in self.nodes if node.selection_set is not None]


class Selected:
    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode]) -> None:
        self._fragments = fragments

    def groups(self, sets: Sequence[SelectionSetNode], owner: Any) -> list[Group]:
        found: dict[str, list[tuple[FieldNode, Conditions]]] = {}
        seen: set[tuple[str, Conditions]] = set()
        for selections in sets:
            for node, conditions in self._walk(selections, owner, (), seen):
                key = node.alias.value if node.alias is not None else node.name.value
                found.setdefault(key, []).append((node, conditions))
        return [_group(nodes) for nodes in found.values()]

    def _walk(
        self, selections: SelectionSetNode, owner: Any, above: Conditions, seen: set[tuple[str, Conditions]]
    ) -> Iterator[tuple[FieldNode, Conditions]]:
        for node in selections.selections:
            conditions = (*above, *_conditions(node))
            if isinstance(node, FieldNode):
                yield node, conditions
                continue
            fragment: Any = node
            if isinstance(node, FragmentSpreadNode):
                if (node.name.value, conditions) in seen:
                    continue
                seen.add((node.name.value, conditions))
                fragment = self._fragments[node.name.value]
            if _applies(fragment.type_condition, owner):
                yield from self._walk(fragment.selection_set, owner, conditions, seen)


def _group(nodes: list[tuple[FieldNode, Conditions]]) -> Group:
    # several conditional nodes count as always there: either of them may be
    conditions = nodes[0][1] if len(nodes) == 1 else ()
    return Group(tuple(node for node, _ in nodes), conditions)


def _applies(condition: Any, owner: Any) -> bool:
    if condition is None or condition.name.value == owner.name:
        return True
    return isinstance(owner, GraphQLObjectType) and any(
        interface.name == condition.name.value for interface in owner.interfaces
    )


def _conditions(node: Any) -> Iterator[Condition]:
    for directive in node.directives or ():
        wanted = _KINDS.get(directive.name.value)
        value = next((each.value for each in directive.arguments or () if each.name.value == "if"), None)
        if wanted is not None and isinstance(value, BooleanValueNode):
            yield Condition(wanted, value=value.value)
        elif wanted is not None and isinstance(value, VariableNode):
            yield Condition(wanted, variable=value.name.value)
