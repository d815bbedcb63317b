"""Limits on a document and its variables."""

from dataclasses import dataclass
from typing import Any

from graphql import (
    ArgumentNode,
    ASTValidationRule,
    GraphQLError,
    KnownArgumentNamesRule,
    NoUndefinedVariablesRule,
    NoUnusedVariablesRule,
    OverlappingFieldsCanBeMergedRule,
    Token,
    TokenKind,
    ValidationContext,
    VariablesInAllowedPositionRule,
    specified_rules,
)

from gateway.errors import BadUserInput, LimitExceeded
from gateway.graph.background import checkpoint
from gateway.model.patterns import CONSISTENT

# no value of the schema needs more, and Python refuses to parse more than 4,300
_DIGITS = 400
_NESTED = frozenset((list, dict))  # of the values of JSON


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


class _Merging(OverlappingFieldsCanBeMergedRule):
    """Compares fields of the same name with each other: the only rule whose work grows with the square of a document.

    A hundred fields of one name in one place are within its budget; graphql-core's own rule would block the loop for
    seconds.
    """

    _BUDGET = 20_000

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rule_context.remaining_complexity_budget = self._BUDGET


class _KnownArguments(KnownArgumentNamesRule):
    """Says why a field cannot be read consistently, and what to do instead."""

    def enter_argument(self, arg_node: ArgumentNode, *args: Any) -> None:
        if arg_node.name.value != CONSISTENT or self.context.get_argument() or not self.context.get_field_def():
            super().enter_argument(arg_node, *args)
            return
        self.report_error(
            GraphQLError(
                f"'{self.context.get_parent_type()}.{args[3][-1].name.value}' cannot be read consistently: it reads an"
                f" index, or does not declare it. Leave out '{CONSISTENT}', and send the consistency token of a change"
                " to see that change.",
                arg_node,
            )
        )


class _Checkpoints(ASTValidationRule):
    """Lets the event loop run between two nodes."""

    def enter(self, *_args: Any) -> None:
        checkpoint()


_REPLACED = (OverlappingFieldsCanBeMergedRule, KnownArgumentNamesRule)
# they visit a whole operation at once, for which there is no checkpoint
_ABOUT_VARIABLES = (NoUndefinedVariablesRule, NoUnusedVariablesRule, VariablesInAllowedPositionRule)
_RULES = (*(rule for rule in specified_rules if rule not in _REPLACED), _Merging, _KnownArguments, _Checkpoints)
_RULES_WITHOUT_VARIABLES = tuple(rule for rule in _RULES if rule not in _ABOUT_VARIABLES)


def rules_for(text: str) -> tuple[type[ASTValidationRule], ...]:
    """Returns the rules for a document; rules about variables are left out if it has none."""
    return _RULES if "$" in text else _RULES_WITHOUT_VARIABLES


def check_text(text: str, limits: DocumentLimits) -> None:
    """Runs before parsing, which takes time for every character."""
    if len(text) > limits.chars:
        raise LimitExceeded(
            f"the document has {len(text)} characters, at most {limits.chars} are allowed; send values as variables"
        )


def check_tokens(first: Token, text: str, limits: DocumentLimits) -> None:
    token: Token | None = first
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
    """Runs before coercion: graphql-core would word an error for each of a million wrong values."""
    pending: list[Any] = [variables]
    values = 0
    while pending:
        value = pending.pop()
        values += len(value)
        if len(value) > limits.members:
            raise LimitExceeded(f"a variable has {len(value)} members, at most {limits.members} are allowed")
        if values > limits.values:
            raise LimitExceeded(f"the variables have more than {limits.values} values")
        members = value if isinstance(value, list) else value.values()
        if not _NESTED.isdisjoint(map(type, members)):
            pending += [member for member in members if type(member) in _NESTED]
