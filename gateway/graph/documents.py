"""Documents, parsed, limited and validated once and then remembered by their text."""

import hashlib
from dataclasses import dataclass

from cachetools import LRUCache
from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    OverlappingFieldsCanBeMergedRule,
    ValidationContext,
    parse,
    specified_rules,
    validate,
)

from gateway.errors import BadUserInput
from gateway.graph.limits import DocumentLimits, check_text, check_tokens, faults

_REMEMBERED_BYTES = 8_000_000
MAX_ERRORS = 5  # that one answer tells of a document or its variables

# what graphql-core calls it when a document takes more work than it may
_GIVEN_UP = ("Validation aborted.", "Syntax Error: Document is nested too deeply. Parsing aborted.")
_TOO_DEEP = "the document is nested too deeply, or repeats the same fields too often"


@dataclass(frozen=True, slots=True)
class Document:
    """A document that may run, or the errors why not; `code` tells what kind they are."""

    hash: str
    size: int
    ast: DocumentNode | None = None
    errors: tuple[GraphQLError, ...] = ()
    code: str = ""

    def operation(self, name: str | None) -> OperationDefinitionNode | None:
        """The operation that will run, if the document leaves no doubt."""
        found = [
            node
            for node in (self.ast.definitions if self.ast is not None else ())
            if isinstance(node, OperationDefinitionNode) and (name is None or (node.name and node.name.value == name))
        ]
        return found[0] if len(found) == 1 else None

    def is_query(self, name: str | None) -> bool:
        operation = self.operation(name)
        return operation is None or operation.operation is OperationType.QUERY


class _Merging(OverlappingFieldsCanBeMergedRule):
    """Compares fields of the same name, each with each: the one rule whose work grows with the square of a document.

    A hundred of one name in one place are within its budget; graphql-core's own would keep the loop busy for seconds.
    """

    _BUDGET = 20_000

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rule_context.remaining_complexity_budget = self._BUDGET


_RULES = (*(each for each in specified_rules if each is not OverlappingFieldsCanBeMergedRule), _Merging)


class Documents:
    def __init__(self, schema: GraphQLSchema, limits: DocumentLimits, *, introspection: bool) -> None:
        self._schema = schema
        self.limits = limits
        # suggestions spell out the schema: they go where introspection goes
        self.discreet = not introspection
        self._rules = (*_RULES, *(() if introspection else (NoSchemaIntrospectionCustomRule,)))
        self._known: LRUCache[str, Document] = LRUCache(_REMEMBERED_BYTES, getsizeof=lambda each: 500 + 10 * each.size)

    def get(self, text: str) -> Document:
        known = self.known(text)
        if known is None:
            known = self.prepare(text)
            self.remember(text, known)
        return known

    def known(self, text: str) -> Document | None:
        return self._known.get(text)

    def remember(self, text: str, document: Document) -> None:
        if document.ast is not None and document.size < _REMEMBERED_BYTES // 100:
            self._known[text] = document

    def prepare(self, text: str) -> Document:
        """Changes nothing, so that it may run in another thread."""
        raw = text.encode(errors="replace")
        made = Document(hashlib.sha256(raw).hexdigest(), len(raw))
        try:
            check_text(text, self.limits)
            ast = parse(text, max_tokens=self.limits.tokens)
            check_tokens(ast, text, self.limits)
        except BadUserInput as error:
            return _refused(made, [GraphQLError(error.message)], error.code)
        except GraphQLSyntaxError as error:
            if error.message in _GIVEN_UP:
                return _too_deep(made)
            too_long = f"more than {self.limits.tokens} tokens" in error.message
            return _refused(made, [error], "LIMIT_EXCEEDED" if too_long else "GRAPHQL_PARSE_FAILED")
        try:
            too_much = faults(ast, self.limits)
            if too_much:
                return _refused(made, [GraphQLError(fault) for fault in too_much], "LIMIT_EXCEEDED")
            errors = validate(self._schema, ast, self._rules, MAX_ERRORS, hide_suggestions=self.discreet)
        except RecursionError:
            return _too_deep(made)
        if any(error.message in _GIVEN_UP for error in errors):
            return _too_deep(made)
        if errors:
            return _refused(made, errors, "GRAPHQL_VALIDATION_FAILED")
        return Document(made.hash, made.size, ast)


def _too_deep(document: Document) -> Document:
    return _refused(document, [GraphQLError(_TOO_DEEP)], "LIMIT_EXCEEDED")


def _refused(document: Document, errors: list[GraphQLError], code: str) -> Document:
    return Document(document.hash, document.size, None, tuple(errors), code)
