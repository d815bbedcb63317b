"""Runs mutations with a single field without graphql-core; most documents with a mutation have this form."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from graphql import (
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLOutputType,
    Undefined,
    is_leaf_type,
)
from graphql.execution.collect_fields import CollectedFields, FieldDetailsList

from gateway.graph.query.arguments import Arguments, InvalidArguments, Variables
from gateway.graph.query.reference.resolvers import Context, Outcome, Resolver, is_attribute
from gateway.graph.query.tree import ChangeField, RootField

Write = Callable[[Any], Any]
Collect = Callable[[GraphQLObjectType, FieldDetailsList], CollectedFields]
_LISTS = (list, tuple)
_INT = 1 << 31  # the first number that GraphQL's Int has not


class _NotPlain(Exception):
    """A value or a selection that is left to graphql-core."""


class _Info(msgspec.Struct, frozen=True):
    """The parts of graphql-core's `info` that the resolver of a mutation reads."""

    context: Context


@dataclass(frozen=True, slots=True)
class DirectMutation:
    """A mutation that can run directly; `write` encodes its payload, or raises if the payload needs graphql-core."""

    key: str
    resolve: Resolver
    arguments: Arguments
    write: Write

    async def run(self, context: Context, variables: Variables) -> dict[str, Any] | Outcome | None:
        """Returns the data of the response, or the outcome of the mutation, which graphql-core then completes.

        INVARIANT: a mutation runs once. If it has run, graphql-core gets its outcome and does not run it again.
        """
        try:
            arguments = self.arguments.values(variables)
        except InvalidArguments:
            return None
        try:
            payload = await self.resolve(None, _Info(context), **arguments)
        except Exception as error:
            return Outcome(error=error)
        try:
            return {self.key: self.write(payload)}
        except Exception:
            return Outcome(payload)


def direct_mutation(
    owner: GraphQLObjectType, roots: tuple[RootField, ...], grouped: Mapping[str, FieldDetailsList], collect: Collect
) -> DirectMutation | None:
    """Returns None if graphql-core has to run the operation."""
    if len(roots) != 1 or not isinstance(roots[0], ChangeField) or not roots[0].arguments.are_variables:
        return None
    [(key, details)] = grouped.items()
    definition = owner.fields[roots[0].name]
    try:
        write = _value(definition.type, details, collect)
    except _NotPlain:
        return None
    assert definition.resolve is not None  # noqa: S101  every mutation has a resolver
    return DirectMutation(key, definition.resolve, roots[0].arguments, write)


def _value(kind: GraphQLOutputType, details: FieldDetailsList, collect: Collect) -> Write:
    """Returns the function that encodes a value of this type."""
    if isinstance(kind, GraphQLNonNull):
        inner = _nullable(kind.of_type, details, collect)
        if is_leaf_type(kind.of_type):
            return inner  # it refuses null itself

        def write_required(value: Any) -> Any:
            if value is None:
                raise _NotPlain
            return inner(value)

        return write_required
    nullable = _nullable(kind, details, collect)
    return lambda value: None if value is None else nullable(value)


def _nullable(kind: GraphQLOutputType, details: FieldDetailsList, collect: Collect) -> Write:
    if isinstance(kind, GraphQLList):
        return _list(kind.of_type, details, collect)
    if isinstance(kind, GraphQLObjectType):
        return _object(kind, details, collect)
    if not is_leaf_type(kind):
        raise _NotPlain
    coerce = kind.coerce_output_value
    is_text, is_int = kind.name in ("String", "ID"), kind.name == "Int"

    def write_leaf(value: Any) -> Any:
        if (is_text and type(value) is str) or (is_int and type(value) is int and -_INT <= value < _INT):
            return value
        output = None if value is None or isinstance(value, Exception) else coerce(value)
        if output is None or output is Undefined:
            raise _NotPlain
        return output

    return write_leaf


def _list(of: GraphQLOutputType, details: FieldDetailsList, collect: Collect) -> Write:
    """Encodes an empty list even if its members need graphql-core; the list of errors is usually empty."""
    try:
        write = _value(of, details, collect)
    except _NotPlain:
        write = _never

    def write_list(values: Any) -> list[Any]:
        if not isinstance(values, _LISTS):
            raise _NotPlain
        return [write(value) for value in values]

    return write_list


def _never(value: Any) -> Any:
    raise _NotPlain


def _object(kind: GraphQLObjectType, details: FieldDetailsList, collect: Collect) -> Write:
    """Encodes an object whose fields only read its attributes."""
    fields: list[tuple[str, Resolver, Write]] = []
    if kind.is_type_of is not None:
        raise _NotPlain
    for key, inner in collect(kind, details).grouped_field_set.items():
        name = inner[0].node.name.value
        if name == "__typename":
            fields.append((key, _nothing, _constant(kind.name)))
            continue
        field = kind.fields.get(name)
        if field is None or field.args or field.resolve is None or not is_attribute(field.resolve):
            raise _NotPlain
        fields.append((key, field.resolve, _value(field.type, inner, collect)))

    def write_object(source: Any) -> dict[str, Any]:
        written = {}
        for key, resolve, write in fields:
            written[key] = write(resolve(source, None))
        return written

    return write_object


def _nothing(source: Any, info: Any) -> None:
    """Resolves `__typename` to no value, because it does not depend on the object."""


def _constant(value: str) -> Write:
    return lambda _: value
