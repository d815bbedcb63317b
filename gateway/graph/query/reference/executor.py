"""The reference executor: graphql-core on strawberry's schema, with resolvers that batch through dataloaders.

It runs everything: mutations, introspection, documents that are seen for the first time, and whatever a lane steps back
from. It is the author of every dynamic error.
"""

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Any

from graphql import (
    ExecutionResult,
    Executor,
    FragmentDefinitionNode,
    GraphQLLeafType,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLSchema,
    Undefined,
    default_field_resolver,
    default_type_resolver,
    execute,
    get_nullable_type,
    is_leaf_type,
)
from graphql.execution.collect_fields import CollectedFields, FieldDetailsList, FragmentDetails
from graphql.execution.get_variable_signature import get_variable_signature
from graphql.execution.values import VariableValues, VariableValueSource
from graphql.pyutils import Path

from gateway.graph.query.arguments import MAX_ERRORS, Variables
from gateway.graph.query.operation import Operation, ParsedDocument, Variant
from gateway.graph.query.reference.reader import Reader
from gateway.graph.query.reference.resolvers import Context
from gateway.model.model import Model
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.plan import ReadLimits
from gateway.store.table import Table
from gateway.store.write.writer import Writer

# our resolvers and graphql-core itself wait by coroutines and by nothing else
_is_awaitable: Any = CoroutineType.__instancecheck__


class _Executor(Executor[None]):
    """graphql-core's executor for a variant, with two short cuts.

    Which fields are collected depends on the variant's conditions alone, so it is kept. The nodes that are named by
    their ids live as long as the document, and so as long as the variant. A value of a scalar or an enum is written
    without the questions that its type has answered before.
    """

    collected: dict[Any, CollectedFields]
    leaves: Mapping[GraphQLOutputType, GraphQLLeafType]

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
        # what is null or an error is graphql-core's
        if leaf is None or result is None or isinstance(result, Exception):
            return super().complete_value(return_type, field_details_list, info, path, result, position_context)
        return self.complete_leaf_value(leaf, result)


def _leaves(schema: GraphQLSchema) -> dict[GraphQLOutputType, GraphQLLeafType]:
    """The scalar or enum of each type of a field that is one, null or not."""
    kinds = (
        field.type
        for owner in schema.type_map.values()
        if isinstance(owner, GraphQLObjectType)
        for field in owner.fields.values()
    )
    return {kind: leaf for kind in kinds if is_leaf_type(leaf := get_nullable_type(kind))}


class Execution:
    """What graphql-core needs of a variant, read from its document once; its variables have been read already."""

    __slots__ = ("_collected", "_definitions", "_fragments", "_node", "_signatures")

    def __init__(self, schema: GraphQLSchema, operation: Operation) -> None:
        self._node = operation.node
        nodes = operation.document.ast.definitions if operation.document.ast is not None else ()
        self._definitions = {node.name.value: node for node in nodes if isinstance(node, FragmentDefinitionNode)}
        self._fragments = {name: FragmentDetails(node, None) for name, node in self._definitions.items()}
        signatures = [get_variable_signature(schema, each) for each in self._node.variable_definitions or ()]
        self._signatures = [each for each in signatures if not isinstance(each, Exception)]
        self._collected: dict[Any, CollectedFields] = {}

    def run(self, reference: "ReferenceExecutor", given: Variables, variables: Variables, context: Context) -> Any:
        sources = {each.name: VariableValueSource(each, given.get(each.name, Undefined)) for each in self._signatures}
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
        executor.collected, executor.leaves = self._collected, reference.leaves
        return executor.execute_operation()


@dataclass(frozen=True, slots=True)
class ReferenceExecutor:
    model: Model
    schema: GraphQLSchema
    table: Table
    cursors: Cursors
    limits: ReadLimits
    discreet: bool  # whether errors keep the names of the schema to themselves
    leaves: Mapping[GraphQLOutputType, GraphQLLeafType] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "leaves", _leaves(self.schema))

    async def run(
        self,
        variant: Variant,
        document: ParsedDocument,
        name: str | None,
        given: Variables,
        variables: Variables,
        access: Access,
    ) -> ExecutionResult:
        """`given` are the variables as they were sent, `variables` as the operation takes them."""
        reader = Reader(self.model, self.table, access, self.cursors, self.limits)
        writer = Writer(self.model, self.table, access)
        try:
            context = Context(reader, writer, variant.tree.places, variables)
            result = self._execution(variant, document, name).run(self, given, variables, context)
            found: ExecutionResult = await result if _is_awaitable(result) else result
            return found
        finally:
            reader.close()

    def _execution(self, variant: Variant, document: ParsedDocument, name: str | None) -> Execution:
        made: Execution | None = variant.execution
        if made is None:
            operation = document.operation(name)
            assert operation is not None  # noqa: S101  a variant is of an operation
            made = variant.execution = Execution(self.schema, operation)
        return made

    async def execute(self, document: ParsedDocument, name: str | None, given: Variables) -> ExecutionResult:
        """For an operation that cannot run: graphql-core says why."""
        assert document.ast is not None  # noqa: S101  the caller has checked; this tells the type checker
        result: Any = execute(
            self.schema,
            document.ast,
            variable_values=dict(given),
            operation_name=name,
            max_coercion_errors=MAX_ERRORS,
            hide_suggestions=self.discreet,
        )
        found: ExecutionResult = await result if isinstance(result, Awaitable) else result
        return found
