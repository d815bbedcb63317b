"""A document, prepared once: parsed, limited, validated, and its operations bound to the model."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec
from cachetools import LRUCache
from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLNonNull,
    GraphQLSchema,
    GraphQLSyntaxError,
    Lexer,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
    OperationType,
    Source,
    Token,
    TokenKind,
    Undefined,
    ValidationContext,
    VariableDefinitionNode,
    get_nullable_type,
    type_from_ast,
    validate,
)
from graphql.language.parser import Parser
from graphql.validation.validate import ValidationAbortedError

from gateway.errors import BadUserInput, LimitExceeded
from gateway.graph.background import checkpoint
from gateway.graph.query.arguments import MAX_ERRORS, coerced
from gateway.graph.query.binder import Binder, Tree
from gateway.graph.query.coercion import Read, Unusual, reader
from gateway.graph.query.limits import DocumentLimits, check_text, check_tokens, check_variables, rules_for
from gateway.graph.query.price import Price, Pricing
from gateway.graph.query.selections import Selected, argument_variables, condition_variables, expand
from gateway.model.model import Model
from gateway.model.patterns import CONSISTENT
from gateway.model.tenant import TenantId
from gateway.store.item_sizes import NOTHING_LEARNED, LearnedSizes
from gateway.store.plan import ReadLimits

_READS = ReadLimits()
_REMEMBERED_BYTES = 16_000_000
# measured with tracemalloc over documents of 30 to 4,000 characters: the size of the syntax tree and the bound tree
_BYTES_EACH, _BYTES_A_CHARACTER = 8_000, 160
_INT = 2**31
# types whose values coercion leaves unchanged
_PLAIN: dict[str, type] = {"String": str, "ID": str, "Int": int, "Boolean": bool}
# what may be data in a document: strings, and numbers that are larger than any page
_DATA = re.compile(r'"|\d{4}')
SHARED_FROM = 10  # tenants that send the same document with data: then it belongs to an application
_PRICED_TEXT = 64  # characters of a variable with which an estimate is remembered
# INVARIANT: never a joined text, which a caller could send as a document of its own.
DocumentKey = str | tuple[TenantId, str]
_SENT = 2_000  # documents of which the tenants that sent them are known
_VARIANTS = 16  # combinations of conditions that are kept for one operation

_TOO_DEEP = "the document is nested too deeply, or repeats the same fields too often"


@dataclass(slots=True, eq=False)
class Variant:
    """An operation under one combination of its conditions: its tree, its price, and how often it was run."""

    tree: Tree
    price: Price
    document: "DocumentSource"
    uses: int = 0
    execution: Any = None  # what the reference executor has collected from the document


class Admitted(msgspec.Struct, eq=False):
    """An operation that may run, with its coerced variables and its estimated capacity units."""

    operation: "Operation"
    variant: Variant
    variables: dict[str, Any]
    estimate: float


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """What an operation knows of its document.

    It does not hold the document itself: in a cycle, a document that is dropped would wait for the garbage collector,
    which then stops the process to free all of them at once.
    """

    hash: str
    size: int
    ast: DocumentNode
    discreet: bool  # whether its errors omit names of the schema


class Operation:
    """One operation of a document."""

    def __init__(
        self, document: DocumentSource, node: OperationDefinitionNode, selected: tuple[Selected, ...], binder: Binder,
        pricing: Pricing, limits: DocumentLimits,
    ) -> None:  # fmt: skip
        self.document = document
        self.node = node
        self.name = node.name.value if node.name is not None else None
        self.kind: str = node.operation.value
        self.is_query = node.operation is OperationType.QUERY
        self._selected = selected
        self._conditions = tuple(sorted(condition_variables(selected)))
        self._choosing = tuple(sorted(binder.choosing(selected)))
        # a consistent read is a different read: as with a condition, its variable decides what is bound
        self._consistent = tuple(sorted(argument_variables(selected, CONSISTENT) - {*self._conditions}))
        self._varies = bool(self._conditions or self._choosing or self._consistent)
        self._binder = binder
        self._pricing = pricing
        self._limits = limits
        self._variants: dict[tuple[Any, ...], Variant] = {}
        self._definitions = tuple(node.variable_definitions or ())
        self._declared = _declared(binder.schema, self._definitions)
        self._has_parts = any(kind is None for _, kind, _, _ in self._declared or ())
        with_default = [definition for definition in self._definitions if definition.default_value is not None]
        defaults = coerced(binder.schema, with_default, {}, discreet=True)
        self._defaults = defaults if isinstance(defaults, dict) else None

    def admit(self, given: dict[str, Any], sizes: LearnedSizes = NOTHING_LEARNED) -> Admitted | list[GraphQLError]:
        """Returns what to run with these variables, or the errors if they are invalid; `sizes` are the tenant's."""
        variables = self._values(given)
        if isinstance(variables, list):
            return variables
        variant = self._variants.get(()) if not self._varies else None
        if variant is None:
            variant = self.variant(variables)
        return Admitted(self, variant, variables, _estimate(variant.price, variables, sizes))

    def _values(self, given: dict[str, Any]) -> dict[str, Any] | list[GraphQLError]:
        """Takes values of plain types as they are and coerces others; graphql-core reports invalid ones."""
        if self._declared is None or self._defaults is None:
            return self._coerced(given)
        if self._has_parts:
            check_variables(given, self._limits)
        values, taken = dict(self._defaults), 0
        for name, kind, read, required in self._declared:
            value: Any = given.get(name, Undefined)
            if value is Undefined:
                if required and name not in values:
                    return self._coerced(given)
                continue
            if type(value) is not kind or (kind is int and not -_INT <= value < _INT):
                try:
                    value = read(value)
                except Unusual:
                    return self._coerced(given)
            values[name] = value
            taken += 1
        if taken != len(given):
            # more than the operation declares
            check_variables(given, self._limits)
        return values

    def _coerced(self, given: dict[str, Any]) -> dict[str, Any] | list[GraphQLError]:
        check_variables(given, self._limits)
        return coerced(self._binder.schema, self._definitions, given, discreet=self.document.discreet)

    def variant(self, variables: Mapping[str, Any]) -> Variant:
        """Returns the variant for these coerced variables."""
        truths = tuple([variables.get(name) for name in self._conditions])
        if self._consistent:
            truths += tuple([variables.get(name) is True for name in self._consistent])
        present = frozenset([name for name in self._choosing if variables.get(name) is not None])
        key = (*truths, present) if present else truths
        bound = self._variants.get(key)
        if bound is None:
            if len(self._variants) >= _VARIANTS:
                del self._variants[next(iter(self._variants))]
            bound = self._variants[key] = self._bind(
                dict(zip((*self._conditions, *self._consistent), truths, strict=True)), present
            )
        return bound

    @property
    def only_variant(self) -> Variant | None:
        """The tree, if no variable affects it."""
        return None if self._varies else self.variant({})

    def bind_at_once(self) -> None:
        """Binds it during preparation, outside the event loop, if no variable affects the tree."""
        if not self._varies:
            self.variant({})

    def _bind(self, truths: Mapping[str, Any], given: frozenset[str]) -> Variant:
        schema = self._binder.schema
        owner = schema.get_root_type(self.node.operation)
        assert owner is not None  # noqa: S101  validation refuses an operation of a type that the schema lacks
        tree = self._binder.bind(owner, self._selected, lambda skip: truths[skip.variable] is skip.wanted, given)
        return Variant(tree, self._pricing.price(tree), self.document)


def _estimate(price: Price, variables: dict[str, Any], sizes: LearnedSizes) -> float:
    if price.names is None:
        return price.estimate(variables, sizes)
    key: tuple[Any, ...] = tuple(map(variables.get, price.names))
    if price.present:
        key += tuple([variables.get(name) is None for name in price.present])
    if sizes:
        key += (sizes.number,)
    try:
        estimate = price.known.get(key)
    except TypeError:  # a list or an object
        return price.estimate(variables, sizes)
    if estimate is None:
        estimate = price.estimate(variables, sizes)
        # a caller decides how long a text is, and estimates are kept for as long as their document
        if not any(isinstance(value, str | bytes) and len(value) > _PRICED_TEXT for value in key):
            price.remember(key, estimate)
    return estimate


def _declared(
    schema: GraphQLSchema, definitions: Sequence[VariableDefinitionNode]
) -> tuple[tuple[str, Any, Read, bool], ...] | None:
    """Returns names, plain types if they have one, how to coerce them otherwise, and whether they are required.

    Returns None if graphql-core has to coerce them.
    """
    readers = []
    for definition in definitions:
        kind: Any = type_from_ast(schema, definition.type)
        read = reader(kind)
        if read is None:
            return None
        plain = _PLAIN.get(str(get_nullable_type(kind)))
        readers.append((definition.variable.name.value, plain, read, isinstance(kind, GraphQLNonNull)))
    return tuple(readers)


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document that may run, or its errors; `code` is their error code."""

    hash: str
    size: int
    ast: DocumentNode | None = None
    errors: tuple[GraphQLError, ...] = ()
    code: str = ""
    operations: dict[str | None, Operation] = field(default_factory=dict, compare=False)
    # by the name in a request, which may be missing if there is only one
    by_name: dict[str | None, Operation] = field(default_factory=dict, compare=False)

    def operation(self, name: str | None) -> Operation | None:
        """Returns the operation to run, if the document and the name are unambiguous."""
        return self.by_name.get(name)


class Documents:
    """Documents by their key; those that may run are remembered. The key of a trusted document is its text."""

    def __init__(
        self,
        model: Model,
        schema: GraphQLSchema,
        limits: DocumentLimits,
        *,
        introspection: bool,
        reads: ReadLimits = _READS,
    ) -> None:
        self._binder = Binder(model, schema)
        self._pricing = Pricing(model, reads)
        self.limits = limits
        # suggestions reveal the schema: they are allowed only with introspection
        self.discreet = not introspection
        self._rules = rules_for
        # two generations: a requested document moves to the recent one, and when that is full, the older one is dropped
        self.recent: dict[DocumentKey, ParsedDocument] = {}
        self._older: dict[DocumentKey, ParsedDocument] = {}
        self._recent_bytes = 0
        # the tenants that have sent a document with data, by its hash
        self._senders: LRUCache[int, set[TenantId]] = LRUCache(_SENT)

    @property
    def schema(self) -> GraphQLSchema:
        return self._binder.schema

    def get(self, text: str) -> ParsedDocument:
        document = self.known(text)
        if document is None:
            document = self.prepare(text)
            self.remember(text, document)
        return document

    def key(self, tenant: TenantId, text: str) -> DocumentKey:
        """Returns the key under which a tenant's document is remembered.

        INVARIANT: a document that may contain a tenant's data is remembered for that tenant only, until so many tenants
        have sent it that it says nothing about one of them. Otherwise the time of a response would tell another tenant
        that it was sent before.
        """
        if _DATA.search(text) is None:
            return text
        senders = self._senders.setdefault(hash(text), set())
        if len(senders) < SHARED_FROM:
            senders.add(tenant)
        return text if len(senders) == SHARED_FROM else (tenant, text)

    def known(self, key: DocumentKey) -> ParsedDocument | None:
        document = self.recent.get(key)
        if document is None and (document := self._older.get(key)) is not None:
            self.remember(key, document)
        return document

    def remember(self, key: DocumentKey, document: ParsedDocument) -> None:
        size = bytes_of(document)
        if document.ast is None or size >= _REMEMBERED_BYTES // 20 or key in self.recent:
            return
        if self._recent_bytes + size > _REMEMBERED_BYTES // 2:
            self._older, self.recent, self._recent_bytes = self.recent, {}, 0
        self.recent[key] = document
        self._recent_bytes += size

    def prepare(self, text: str) -> ParsedDocument:
        """Changes nothing, so it may run in another thread."""
        raw = text.encode(errors="replace")
        document = ParsedDocument(hashlib.sha256(raw).hexdigest(), len(raw))
        try:
            check_text(text, self.limits)
            return self._understood(document, _parsed(text, self.limits), text)
        except BadUserInput as error:
            return _refused(document, [GraphQLError(error.message)], error.code)
        except GraphQLSyntaxError as error:
            return _refused(document, [error], "GRAPHQL_PARSE_FAILED")
        except RecursionError:
            return _refused(document, [GraphQLError(_TOO_DEEP)], LimitExceeded.code)

    def _understood(self, empty_document: ParsedDocument, ast: DocumentNode, text: str) -> ParsedDocument:
        nodes = [node for node in ast.definitions if isinstance(node, OperationDefinitionNode)]
        selected = [expand(ast, node, self.limits) for node in nodes]
        errors = self._validated(ast, text)
        if errors and isinstance(errors[-1], ValidationAbortedError):
            for definition in ast.definitions:
                # a visitor that was interrupted keeps them, see `_validated`
                vars(definition).clear()
            # after MAX_ERRORS, validation was aborted because of the number of errors, not because of its work
            if len(errors) <= MAX_ERRORS:
                raise LimitExceeded(_TOO_DEEP)
        if errors:
            return _refused(empty_document, errors, "GRAPHQL_VALIDATION_FAILED")
        document = ParsedDocument(empty_document.hash, empty_document.size, ast)
        source = DocumentSource(empty_document.hash, empty_document.size, ast, self.discreet)
        for node, fields in zip(nodes, selected, strict=True):
            operation = Operation(source, node, fields, self._binder, self._pricing, self.limits)
            operation.bind_at_once()
            document.operations[operation.name] = operation
        document.by_name.update(document.operations)
        if len(nodes) == 1:
            document.by_name[None] = operation
        return document

    def _validated(self, ast: DocumentNode, text: str) -> list[GraphQLError]:
        visitors: list[ASTValidationRule] = []

        def visitor(rule: type[ASTValidationRule], context: ValidationContext) -> ASTValidationRule:
            visitors.append(rule(context))
            return visitors[-1]

        more = (NoSchemaIntrospectionCustomRule,) if self.discreet else ()
        rules: list[Any] = [partial(visitor, rule) for rule in (*self._rules(text), *more)]
        try:
            return validate(self.schema, ast, rules, MAX_ERRORS, hide_suggestions=self.discreet)
        finally:
            # graphql-core's visitors are in cycles: they would keep the syntax tree until the garbage collector runs
            for rule_visitor in visitors:
                vars(rule_visitor.context).clear()
                vars(rule_visitor).clear()


class _PausingLexer(Lexer):
    def advance(self) -> Token:
        checkpoint()
        return super().advance()


def _parsed(text: str, limits: DocumentLimits) -> DocumentNode:
    source = Source(text)
    lexer = _PausingLexer(source)
    first = lexer.token
    try:
        # the parser itself, since `parse` turns a RecursionError into a syntax error
        document = Parser(source, max_tokens=limits.tokens, lexer=lexer).parse_document()
        check_tokens(first, text, limits)
        return document
    except GraphQLSyntaxError as error:
        if _tokens(text[: min(error.positions or (0,))]) >= limits.tokens:
            raise LimitExceeded(f"the document has more than {limits.tokens} tokens, which is the limit") from error
        raise
    finally:
        _unlink(first)


def _tokens(text: str) -> int:
    """Returns the number of tokens in the text, including comments; 0 if it ends inside one."""
    lexer = Lexer(Source(text))
    first = lexer.token
    try:
        while lexer.advance().kind is not TokenKind.EOF:
            pass
    except GraphQLSyntaxError:
        return 0
    finally:
        count = _unlink(first)
    return count - 2  # it starts and ends with a token that is not in the text


def _unlink(token: Token | None) -> int:
    """Frees tokens from their neighbours, with which they are cycles; returns their number."""
    count = 0
    while token is not None:
        token.prev, token.next, token = None, None, token.next
        count += 1
    return count


def bytes_of(document: ParsedDocument | DocumentSource) -> int:
    """Returns the approximate size of a document, with everything that was derived from it."""
    return _BYTES_EACH + _BYTES_A_CHARACTER * document.size


def _refused(document: ParsedDocument, errors: list[GraphQLError], code: str) -> ParsedDocument:
    return ParsedDocument(document.hash, document.size, None, tuple(errors), code)
