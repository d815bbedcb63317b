"""The reference executor: graphql-core on strawberry's schema, with resolvers that batch through dataloaders.

It runs every operation that no lane runs: mutations, introspection, new documents, and the queries from which a lane
falls back. All errors at execution time come from it.
"""

from asyncio import CancelledError, ensure_future
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import CoroutineType
from typing import Any

import msgspec
from graphql import (
    ExecutionResult,
    Executor,
    FragmentDefinitionNode,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    OperationType,
    Undefined,
    default_field_resolver,
    default_type_resolver,
    execute,
    get_nullable_type,
    is_leaf_type,
)
from graphql.execution.collect_fields import CollectedFields, FieldDetailsList, FragmentDetails, collect_fields
from graphql.execution.get_variable_signature import get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource
from graphql.pyutils import Path, gather_with_cancel
from graphql.type.definition import GraphQLResolveInfoHelpers

from gateway.graph.query.arguments import MAX_ERRORS, Variables
from gateway.graph.query.operation import Operation, ParsedDocument, Variant
from gateway.graph.query.reference.direct_mutation import DirectMutation, direct_mutation
from gateway.graph.query.reference.pieces import AT_ONCE, PIECE
from gateway.graph.query.reference.reader import Reader
from gateway.graph.query.reference.resolvers import Context, ListEvent, Resolver, is_attribute
from gateway.graph.query.tree import RootField
from gateway.model.model import Model
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.plan import ReadLimits
from gateway.store.rows import Item
from gateway.store.table import Table
from gateway.store.write.writer import Act, Writer, no_acting

# all awaitables of our resolvers and of graphql-core are coroutines
_is_awaitable: Any = CoroutineType.__instancecheck__
_LISTS = (list, tuple)
_UNKNOWN: Any = object()
# graphql-core's own are bound to the executor, a cycle that would keep the document until the garbage collector runs;
# only types with `is_type_of` need them, and the schema has none
_HELPERS: Any = GraphQLResolveInfoHelpers(None, None)  # type: ignore[arg-type]
_ROOM = 2  # objects: a member of a list or a reference, and one inside it, such as the node of an edge


class _Executor(Executor[None]):
    """graphql-core's executor for a variant, with three shortcuts; it completes large responses in pieces.

    Collected fields are cached, because they depend only on the conditions of the variant. The keys of the cache are
    ids of AST nodes, which live as long as the document, and therefore as long as the variant. Scalars and enums are
    completed without determining the kind of their type again. Attributes with such values are read without an `info`;
    a null or invalid value is left to graphql-core, which reads it again.
    """

    collected: dict[Any, CollectedFields]
    leaves: Mapping[GraphQLOutputType, GraphQLLeafType]
    attributes: "Attributes"
    reader: Reader
    at_once = AT_ONCE  # objects that may still be completed without waiting
    room = 0  # objects that may still be completed in the current piece

    def complete_iterable_value(
        self,
        item_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        items: Iterable[Any],
        position_context: None,
    ) -> Any:
        if (
            not isinstance(items, _LISTS)
            or len(items) <= self.room
            or (self.room == 0 and len(items) <= self.at_once)
            or is_leaf_type(get_nullable_type(item_type))
        ):
            return super().complete_iterable_value(item_type, field_details_list, info, path, items, position_context)
        self.reader.pieces.begin()
        return self._list_in_pieces(item_type, field_details_list, info, path, items)

    async def _list_in_pieces(
        self,
        item_type: GraphQLOutputType,
        fields: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        items: Sequence[Any],
    ) -> list[Any]:
        completed: list[Any] = []
        later: list[int] = []  # indexes of what is completed after a read
        begun = 0  # of these
        try:
            for start in range(0, len(items), PIECE):
                await self.reader.pieces.turn(min(PIECE, len(items) - start))
                self.room = _ROOM * PIECE
                later.extend(
                    index
                    for index in range(start, min(start + PIECE, len(items)))
                    if self._list_item_waits(items[index], completed, item_type, fields, info, path.add_key(index))
                )
                self.room = 0
                # these begin to read now; otherwise those of all pieces would begin in the same turn
                for index in later[begun:]:
                    completed[index] = ensure_future(completed[index])
                begun = len(later)
        except CancelledError:  # while it waits for a turn, when all of them have begun
            for index in later:
                completed[index].cancel()
            raise
        except Exception:
            self.settle_in_background([completed[index] for index in later])
            raise
        finally:
            self.room = 0
            self.reader.pieces.settle()
        values = await gather_with_cancel(*[completed[index] for index in later])
        for index, value in zip(later, values, strict=True):
            completed[index] = value
        return completed

    def _list_item_waits(
        self,
        item: Any,
        completed: list[Any],
        item_type: GraphQLOutputType,
        fields: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
    ) -> bool:
        """Appends the completed item, or what completes it; returns whether that waits for a read."""
        if not self.is_awaitable(item):
            return self.complete_list_item_value(item, completed, item_type, fields, info, path, None)
        completed.append(self.complete_awaitable_list_item_value(item, item_type, fields, info, path, None))
        return True

    def complete_object_value(
        self,
        return_type: GraphQLObjectType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: None,
    ) -> Any:
        if self.room:
            self.room -= 1
        elif self.at_once:
            self.at_once -= 1
        else:
            self.reader.pieces.begin()
            return self._object_in_turn(return_type, field_details_list, info, path, result)
        return super().complete_object_value(return_type, field_details_list, info, path, result, position_context)

    async def _object_in_turn(
        self,
        return_type: GraphQLObjectType,
        fields: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
    ) -> Any:
        try:
            await self.reader.pieces.turn(1)
            self.room = _ROOM
            completed = super().complete_object_value(return_type, fields, info, path, result, None)
        finally:
            self.room = 0
            self.reader.pieces.settle()
        return await completed if self.is_awaitable(completed) else completed

    def execute_field(
        self,
        parent_type: GraphQLObjectType,
        source: Any,
        field_details_list: FieldDetailsList,
        path: Path,
        position_context: None,
    ) -> Any:
        leaf = self.attributes.get((parent_type, field_details_list[0].node.name.value))
        # an object that is not an item may return a coroutine, which can be awaited only once
        if leaf is not None and type(source) is Item:
            resolve, coerce = leaf
            try:
                value = resolve(source, None)
                result = None if value is None or isinstance(value, Exception) else coerce(value)
            except Exception:  # graphql-core encounters it again and reports it
                result = None
            if result is not None and result is not Undefined:
                return result
        return super().execute_field(parent_type, source, field_details_list, path, position_context)

    def collect_subfields(
        self, return_type: GraphQLObjectType, field_details_list: FieldDetailsList
    ) -> CollectedFields:
        key = (return_type, *[id(details.node) for details in field_details_list])
        kept = self.collected.get(key)
        if kept is None:
            kept = self.collected[key] = super().collect_subfields(return_type, field_details_list)
        return kept

    def complete_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo[Any],
        path: Path,
        result: Any,
        position_context: None,
    ) -> Any:
        leaf = self.leaves.get(return_type)
        # graphql-core handles null and errors
        if leaf is None or result is None or isinstance(result, Exception):
            return super().complete_value(return_type, field_details_list, info, path, result, position_context)
        return self.complete_leaf_value(leaf, result)


@lru_cache(maxsize=32)
def _leaves(schema: GraphQLSchema) -> dict[GraphQLOutputType, GraphQLLeafType]:
    """Returns the scalar or enum of each leaf field type, nullable or not."""
    kinds = (
        field.type
        for owner in schema.type_map.values()
        if isinstance(owner, GraphQLObjectType)
        for field in owner.fields.values()
    )
    return {kind: leaf for kind in kinds if is_leaf_type(leaf := get_nullable_type(kind))}


Attributes = Mapping[tuple[GraphQLObjectType, str], tuple[Resolver, Callable[[Any], Any]]]


@lru_cache(maxsize=32)
def _attributes(schema: GraphQLSchema) -> Attributes:
    """Returns, for each field that shows an attribute as a scalar or enum, how it is read and serialized."""
    return {
        (owner, name): (field.resolve, leaf.coerce_output_value)
        for owner in schema.type_map.values()
        if isinstance(owner, GraphQLObjectType)
        for name, field in owner.fields.items()
        if field.resolve is not None and is_attribute(field.resolve) and not field.args
        if is_leaf_type(leaf := get_nullable_type(field.type))
    }


class Execution:
    """The parts of a document that graphql-core needs to run a variant, collected once."""

    __slots__ = ("_collected", "_definitions", "_direct", "_fragments", "_node", "_signatures")

    def __init__(self, schema: GraphQLSchema, operation: Operation) -> None:
        self._node = operation.node
        nodes = operation.document.ast.definitions
        self._definitions = {node.name.value: node for node in nodes if isinstance(node, FragmentDefinitionNode)}
        self._fragments = {name: FragmentDetails(node, None) for name, node in self._definitions.items()}
        definitions = self._node.variable_definitions or ()
        signatures = [get_variable_signature(schema, definition) for definition in definitions]
        self._signatures = [signature for signature in signatures if not isinstance(signature, Exception)]
        self._collected: dict[Any, CollectedFields] = {}
        self._direct: DirectMutation | None = _UNKNOWN

    def run(self, reference: "ReferenceExecutor", sent: Variables, variables: Variables, context: Context) -> Any:
        return self._executor(reference, sent, variables, context).execute_operation()

    def direct(
        self,
        reference: "ReferenceExecutor",
        roots: tuple[RootField, ...],
        sent: Variables,
        variables: Variables,
        context: Context,
    ) -> DirectMutation | None:
        """Returns what runs the operation without graphql-core; None if nothing can."""
        if self._direct is _UNKNOWN:
            schema, owner = reference.schema, reference.schema.mutation_type
            self._direct = None
            if self._node.operation is OperationType.MUTATION and owner is not None:
                executor = self._executor(reference, sent, variables, context)
                collected = collect_fields(schema, self._fragments, executor.variable_values, owner, self._node, True)
                self._direct = direct_mutation(owner, roots, collected.grouped_field_set, executor.collect_subfields)
        return self._direct

    def _executor(
        self, reference: "ReferenceExecutor", sent: Variables, variables: Variables, context: Context
    ) -> _Executor:
        sources = {
            signature.name: VariableValueSource(signature, sent.get(signature.name, Undefined))
            for signature in self._signatures
        }
        executor = _Executor(
            reference.schema,
            self._definitions,
            self._fragments,
            None,
            context,
            self._node,
            VariableValues(sources, dict(variables)),
            default_field_resolver,
            default_type_resolver,
            default_field_resolver,
            is_awaitable=_is_awaitable,
            hide_suggestions=reference.discreet,
        )
        executor.async_helpers = _HELPERS
        executor.collected, executor.leaves = self._collected, reference.leaves
        executor.attributes, executor.reader = reference.attributes, context.reader
        return executor


@dataclass(frozen=True, slots=True)
class ReferenceExecutor:
    model: Model
    schema: GraphQLSchema
    table: Table
    cursors: Cursors
    limits: ReadLimits
    act: Act = field(default=no_acting, kw_only=True)
    discreet: bool  # whether errors omit suggestions, which reveal names of the schema
    leaves: Mapping[GraphQLOutputType, GraphQLLeafType] = field(init=False, repr=False)
    attributes: Attributes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "leaves", _leaves(self.schema))
        object.__setattr__(self, "attributes", _attributes(self.schema))

    async def run(
        self,
        variant: Variant,
        operation: Operation,
        sent: Variables,
        variables: Variables,
        access: Access,
        event: ListEvent | None = None,
    ) -> ExecutionResult:
        """Runs a variant.

        `sent` are the variables of the request, and `variables` the same after coercion; `event` is for a subscription.
        """
        reader = Reader(self.model, self.table, access, self.cursors, self.limits)
        writer = Writer(self.model, self.table, access, self.act)
        try:
            context = Context(reader, writer, variant.tree.places, variables, event)
            execution = self._execution(variant, operation)
            direct = execution.direct(self, variant.tree.roots, sent, variables, context)
            if direct is not None:
                outcome = await direct.run(context, variables)
                if isinstance(outcome, dict):
                    return ExecutionResult(outcome, None)
                context = msgspec.structs.replace(context, outcome=outcome)
            result = execution.run(self, sent, variables, context)
            execution_result: ExecutionResult = await result if _is_awaitable(result) else result
            return execution_result
        finally:
            reader.close()
            access.loaded = None

    def _execution(self, variant: Variant, operation: Operation) -> Execution:
        execution: Execution | None = variant.execution
        if execution is None:
            execution = variant.execution = Execution(self.schema, operation)
        return execution

    async def execute(self, document: ParsedDocument, name: str | None, sent: Variables) -> ExecutionResult:
        """Runs an operation that is known to fail, for graphql-core's errors."""
        assert document.ast is not None  # noqa: S101  the caller has checked; this tells the type checker
        result: Any = execute(
            self.schema,
            document.ast,
            variable_values=dict(sent),
            operation_name=name,
            max_coercion_errors=MAX_ERRORS,
            hide_suggestions=self.discreet,
        )
        execution_result: ExecutionResult = await result if isinstance(result, Awaitable) else result
        return execution_result
