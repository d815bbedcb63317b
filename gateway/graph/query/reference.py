"""The reference executor: graphql-core on strawberry's schema, with resolvers that batch through dataloaders.

It runs everything: mutations, introspection, documents that are seen for the first time, and whatever a lane steps back
from. It is the author of every dynamic error.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from graphql import ExecutionResult, GraphQLSchema, execute

from gateway.graph.context import Context
from gateway.graph.query.arguments import MAX_ERRORS, Variables
from gateway.graph.query.operation import Document, Variant
from gateway.graph.reader import Reader
from gateway.model.model import Model
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.read_limits import ReadLimits
from gateway.store.table import Table
from gateway.store.writer import Writer


@dataclass(frozen=True, slots=True)
class Reference:
    model: Model
    schema: GraphQLSchema
    table: Table
    cursors: Cursors
    limits: ReadLimits
    discreet: bool  # whether errors keep the names of the schema to themselves

    async def run(self, variant: Variant, document: Document, name: str | None, given: Variables, variables: Variables,
                  access: Access) -> ExecutionResult:  # fmt: skip
        """`given` are the variables as they were sent, `variables` as the operation takes them."""
        reader = Reader(self.model, self.table, access, self.cursors, self.limits)
        writer = Writer(self.model, self.table, access)
        try:
            context = Context(reader, writer, variant.tree.places, variables)
            return await self.execute(document, name, given, context)
        finally:
            reader.close()

    async def execute(
        self, document: Document, name: str | None, given: Variables, context: Context | None = None
    ) -> ExecutionResult:
        """Without a context for an operation that cannot run: graphql-core says why."""
        assert document.ast is not None  # noqa: S101  the caller has checked; this tells the type checker
        result: Any = execute(
            self.schema,
            document.ast,
            context_value=context,
            variable_values=dict(given),
            operation_name=name,
            max_coercion_errors=MAX_ERRORS,
            hide_suggestions=self.discreet,
        )
        found: ExecutionResult = await result if isinstance(result, Awaitable) else result
        return found
