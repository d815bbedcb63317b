"""The fields of an operation, expanded once through its fragments, within the limits on documents.

This is the only code that walks the syntax tree of a document; everything else uses its result. The walk stops as
soon as a limit is exceeded, so a fragment bomb costs no more than a large document.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from graphql import (
    BooleanValueNode,
    DirectiveNode,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLObjectType,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
)

from gateway.errors import LimitExceeded
from gateway.graph.background import checkpoint
from gateway.graph.query.limits import DocumentLimits

_CONDITIONS = {"include": True, "skip": False}
# tools request the schema in 15 levels; it is not data, and a rule of GraphQL itself limits its nesting
_INTROSPECTION, _SCHEMA_DEPTH = frozenset({"__schema", "__type"}), -1_000


@dataclass(frozen=True, slots=True)
class IncludeCondition:
    """`@include` or `@skip` on a variable; constant conditions are decided during the expansion."""

    variable: str
    wanted: bool


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """One field of a document in one place; `on` are the type conditions of the fragments around it."""

    node: FieldNode
    on: tuple[str, ...]
    conditions: tuple[IncludeCondition, ...]
    children: tuple["Selected", ...]

    @property
    def key(self) -> str:
        return self.node.alias.value if self.node.alias is not None else self.node.name.value

    @property
    def name(self) -> str:
        return self.node.name.value


def expand(document: DocumentNode, operation: OperationDefinitionNode, limits: DocumentLimits) -> tuple[Selected, ...]:
    """Returns the fields of one operation; raises `LimitExceeded` if it exceeds a limit."""
    definitions = (node for node in document.definitions if isinstance(node, FragmentDefinitionNode))
    expansion = _Expansion({node.name.value: node for node in definitions}, limits)
    expansion.directives(operation.directives)
    return tuple(expansion.fields(operation.selection_set, 1, (), ()))


class _Expansion:
    def __init__(self, fragments: Mapping[str, FragmentDefinitionNode], limits: DocumentLimits) -> None:
        self._fragments = fragments
        self._limits = limits
        self._entered: set[str] = set()
        self._counts = dict.fromkeys(("aliases", "root_fields", "fields", "directives", "fragments"), 0)

    def fields(
        self, selections: SelectionSetNode, depth: int, on: tuple[str, ...], above: tuple[IncludeCondition, ...]
    ) -> Iterator[Selected]:
        for node in selections.selections:
            self.directives(node.directives)
            own = _conditions(node)
            if isinstance(node, FieldNode):
                children = self._field(node, depth)
                if own is not None:
                    yield Selected(node, on, (*above, *own), children)
            else:
                inner = self._fragment(node, depth, on, (*above, *(own or ())))
                if own is not None:
                    yield from inner
                else:
                    _exhaust(inner)  # it is never included, but it counts

    def directives(self, nodes: Iterable[DirectiveNode] | None) -> None:
        for _ in nodes or ():
            self._count("directives", self._limits.directives)

    def _field(self, node: FieldNode, depth: int) -> tuple[Selected, ...]:
        checkpoint()
        self._count("fields", self._limits.fields)
        if node.alias is not None:
            self._count("aliases", self._limits.aliases)
        if depth == 1:
            self._count("root_fields", self._limits.root_fields, "root fields")
        if depth > self._limits.depth:
            raise LimitExceeded(f"the operation is more than {self._limits.depth} levels deep, which is the limit")
        if node.selection_set is None:
            return ()
        inner = _SCHEMA_DEPTH if node.name.value in _INTROSPECTION else depth + 1
        return tuple(self.fields(node.selection_set, inner, (), ()))

    def _fragment(
        self, node: SelectionNode, depth: int, on: tuple[str, ...], above: tuple[IncludeCondition, ...]
    ) -> Iterator[Selected]:
        # a fragment without fields of its own still costs work
        self._count("fragments", self._limits.fields)
        if isinstance(node, InlineFragmentNode):
            inner = on if node.type_condition is None else (*on, node.type_condition.name.value)
            yield from self.fields(node.selection_set, depth, inner, above)
        elif isinstance(node, FragmentSpreadNode):
            name = node.name.value
            fragment = self._fragments.get(name)
            # validation refuses a fragment that is missing or spreads itself
            if fragment is not None and name not in self._entered:
                self._entered.add(name)
                yield from self.fields(fragment.selection_set, depth, (*on, fragment.type_condition.name.value), above)
                self._entered.discard(name)

    def _count(self, what: str, limit: int, words: str = "") -> None:
        self._counts[what] += 1
        if self._counts[what] > limit:
            raise LimitExceeded(f"the operation has more than {limit} {words or what}, which is the limit")


def _exhaust(fields: Iterator[Selected]) -> None:
    for _ in fields:
        pass


def _conditions(node: SelectionNode) -> tuple[IncludeCondition, ...] | None:
    """Returns the conditions that decide whether the node is included; None if it never is."""
    conditions: list[IncludeCondition] = []
    for directive in node.directives or ():
        included_if = _CONDITIONS.get(directive.name.value)
        value = next((argument.value for argument in directive.arguments or () if argument.name.value == "if"), None)
        if included_if is not None and isinstance(value, BooleanValueNode):
            if value.value is not included_if:
                return None
        elif included_if is not None and isinstance(value, VariableNode):
            conditions.append(IncludeCondition(value.name.value, included_if))
    return tuple(conditions)


Holds = Callable[[IncludeCondition], bool]


def grouped(selected: Iterable[Selected], owner: GraphQLObjectType, holds: Holds) -> dict[str, list[Selected]]:
    """Returns the fields of one object by response key, in the order of the response."""
    types = {owner.name, *(interface.name for interface in owner.interfaces)}
    groups: dict[str, list[Selected]] = {}
    for selection in selected:
        if all(map(holds, selection.conditions)) and types.issuperset(selection.on):
            groups.setdefault(selection.key, []).append(selection)
    return groups


def below(group: list[Selected]) -> list[Selected]:
    return [child for selection in group for child in selection.children]


def argument_variables(selected: Iterable[Selected], name: str) -> frozenset[str]:
    """Returns the variables that are the value of an argument of this name, of any field."""
    checkpoint()
    names: set[str] = set()
    for selection in selected:
        value = argument_value(selection, name)
        names |= {value.name.value} if isinstance(value, VariableNode) else set()
        names |= argument_variables(selection.children, name)
    return frozenset(names)


def argument_value(selected: Selected, name: str) -> ValueNode | None:
    return next((argument.value for argument in selected.node.arguments or () if argument.name.value == name), None)


def condition_variables(selected: Iterable[Selected]) -> frozenset[str]:
    """Returns the variables that decide which fields are included."""
    checkpoint()
    names: set[str] = set()
    for selection in selected:
        names |= {condition.variable for condition in selection.conditions}
        names |= condition_variables(selection.children)
    return frozenset(names)
