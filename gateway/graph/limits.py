"""Limits on a document, in one pass: what a fragment costs is counted once and remembered.

Counting what a document expands to, instead of what it says, is what makes a fragment bomb cheap to refuse.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
    SelectionSetNode,
    TokenKind,
)

from gateway.errors import BadUserInput, LimitExceeded

# no value of the schema has as many, and Python refuses to read more than 4,300
_DIGITS = 400


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    depth: int = 12
    aliases: int = 50
    root_fields: int = 50
    fields: int = 2_000
    directives: int = 50
    chars: int = 65_536  # of the document's text
    tokens: int = 5_000
    token_bytes: int = 16_384  # of one token, such as a string, in UTF-8
    members: int = 1_000  # of one list or object in the variables
    values: int = 20_000  # in all variables together


@dataclass(frozen=True, slots=True)
class Weight:
    """What a selection expands to."""

    depth: int = 0
    aliases: int = 0
    root_fields: int = 0
    fields: int = 0
    directives: int = 0

    def beside(self, other: "Weight") -> "Weight":
        return Weight(
            max(self.depth, other.depth),
            self.aliases + other.aliases,
            self.root_fields + other.root_fields,
            self.fields + other.fields,
            self.directives + other.directives,
        )


_UNITS = {
    "depth": "levels",
    "aliases": "aliases",
    "root_fields": "root fields",
    "fields": "fields",
    "directives": "directives",
}


def faults(document: DocumentNode, limits: DocumentLimits) -> list[str]:
    """What is too much in any operation of the document, in words for the caller."""
    scale = _Scale(document)
    found: list[str] = []
    for definition in document.definitions:
        if isinstance(definition, OperationDefinitionNode):
            weight = scale.operation(definition)
            found += [
                f"the operation has {min(value, 10**9)} {unit}, at most {limit} are allowed"
                for name, unit in _UNITS.items()
                if (value := getattr(weight, name)) > (limit := getattr(limits, name))
            ]
    return found


def check_text(text: str, limits: DocumentLimits) -> None:
    """Before it is parsed, which takes time for every character."""
    if len(text) > limits.chars:
        raise LimitExceeded(
            f"the document has {len(text)} characters, at most {limits.chars} are allowed; send values as variables"
        )


def check_tokens(document: DocumentNode, text: str, limits: DocumentLimits) -> None:
    token = document.loc.start_token if document.loc is not None else None
    while token is not None:
        size = token.end - token.start
        if 4 * size > limits.token_bytes and len(text[token.start : token.end].encode()) > limits.token_bytes:
            raise LimitExceeded(
                f"a token of the document has more than {limits.token_bytes} bytes; send long values as variables"
            )
        if token.kind is TokenKind.INT and size > _DIGITS:
            raise BadUserInput(f"an integer of the document has {size} digits, at most {_DIGITS} are allowed")
        token = token.next


def check_variables(variables: dict[str, Any], limits: DocumentLimits) -> None:
    """Before they are coerced: graphql-core would word an error for each of a million wrong values."""
    pending: list[Any] = [variables]
    values = 0
    while pending:
        value = pending.pop()
        if not isinstance(value, list | dict):
            continue
        values += len(value)
        if len(value) > limits.members:
            raise LimitExceeded(f"a variable has {len(value)} members, at most {limits.members} are allowed")
        if values > limits.values:
            raise LimitExceeded(f"the variables have more than {limits.values} values")
        pending.extend(value if isinstance(value, list) else value.values())


class _Scale:
    def __init__(self, document: DocumentNode) -> None:
        definitions = (each for each in document.definitions if isinstance(each, FragmentDefinitionNode))
        self._fragments = {each.name.value: each for each in definitions}
        self._known: dict[str, Weight] = {}

    def operation(self, node: OperationDefinitionNode) -> Weight:
        return _directives(node.directives).beside(self._selections(node.selection_set))

    def _selections(self, node: SelectionSetNode | None) -> Weight:
        weight = Weight()
        for selection in node.selections if node is not None else ():
            weight = weight.beside(_directives(selection.directives))
            if isinstance(selection, FieldNode):
                weight = weight.beside(self._field(selection))
            elif isinstance(selection, FragmentSpreadNode):
                weight = weight.beside(self._fragment(selection.name.value))
            else:
                weight = weight.beside(self._selections(selection.selection_set))  # type: ignore[attr-defined]
        return weight

    def _field(self, node: FieldNode) -> Weight:
        below = self._selections(node.selection_set)
        return Weight(
            # tools ask for the schema in 15 levels; it is no data, and a rule of GraphQL's own bounds how it nests
            depth=1 if node.name.value in ("__schema", "__type") else below.depth + 1,
            aliases=below.aliases + (node.alias is not None),
            root_fields=1,
            fields=below.fields + 1,
            directives=below.directives,
        )

    def _fragment(self, name: str) -> Weight:
        known = self._known.get(name)
        if known is None:
            # a fragment that spreads itself is refused by validation; here it counts nothing
            self._known[name] = Weight()
            node = self._fragments.get(name)
            known = self._known[name] = self._selections(node.selection_set if node is not None else None)
        return known


def _directives(nodes: Iterable[object] | None) -> Weight:
    return Weight(directives=sum(1 for _ in nodes or ()))
