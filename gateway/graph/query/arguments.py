"""Variables and arguments: parsed from the document once, filled for each request."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

from graphql import (
    FieldNode,
    GraphQLEnumType,
    GraphQLError,
    GraphQLField,
    GraphQLInputType,
    GraphQLNonNull,
    GraphQLSchema,
    ListValueNode,
    ObjectValueNode,
    Undefined,
    ValueNode,
    VariableDefinitionNode,
    VariableNode,
    get_nullable_type,
    value_from_ast,
)
from graphql.execution.values import get_variable_values

from gateway.model.types import AttributeType, Field, ListOf, SetOf, Struct

Variables = Mapping[str, Any]

MAX_ERRORS = 5  # reported for a document or its variables in one response


class InvalidArguments(Exception):
    """A field does not accept an argument; the message comes from graphql-core."""


def coerced(
    schema: GraphQLSchema, definitions: Sequence[VariableDefinitionNode], given: Mapping[str, Any], *, discreet: bool
) -> dict[str, Any] | list[GraphQLError]:
    """Returns the coerced variables of an operation, or the errors; if `discreet`, errors do not suggest names."""
    coerced_values = get_variable_values(schema, definitions, dict(given), MAX_ERRORS, discreet)
    return coerced_values if isinstance(coerced_values, list) else coerced_values.coerced


class Arguments:
    """The arguments of one field: literals are read once, variables for each request.

    `subjects` are those that default to the token's subject; the binder knows them.
    """

    __slots__ = ("_names_in", "_nested", "_variables", "fixed", "names", "subjects")

    def __init__(self, definition: GraphQLField, node: FieldNode) -> None:
        self.subjects: tuple[str, ...] = ()
        literals = {argument.name.value: argument.value for argument in node.arguments or ()}
        self.fixed: dict[str, Any] = {}
        self._variables: list[tuple[str, str, bool, Any]] = []
        self._nested: list[tuple[str, ValueNode, GraphQLInputType]] = []
        for name, argument in definition.args.items():
            value = literals.get(name)
            if value is None:
                self._keep(name, argument.default_value, argument.type)
            elif isinstance(value, VariableNode):
                required = isinstance(argument.type, GraphQLNonNull)
                self._variables.append((name, value.name.value, required, argument.default_value))
            elif _holds_variable(value):
                self._nested.append((name, value, argument.type))
            else:
                self._keep(name, value_from_ast(value, argument.type), argument.type)
        # every argument that the document names, with the variables in it
        self._names_in = {name: frozenset(_variable_names(value)) for name, value in literals.items()}
        self.names = frozenset(literals)

    def _keep(self, name: str, value: Any, kind: GraphQLInputType) -> None:
        if value is not Undefined and value is not None:
            self.fixed[name] = _checked(kind, value)

    @property
    def are_variables(self) -> bool:
        """Whether every argument in the document is a variable, so that no literals need to be read."""
        return not self._nested and self.fixed.keys().isdisjoint(self.names)

    def variables_of(self, arguments: Iterable[str]) -> frozenset[str]:
        """Returns the names of the variables in these arguments."""
        return frozenset[str]().union(*(self._names_in.get(name, ()) for name in arguments))

    def present(self, given: frozenset[str]) -> frozenset[str]:
        """Returns the arguments that have a value if only these variables have one."""
        variables = {name for name, variable, required, _ in self._variables if required or variable in given}
        return frozenset({*self.fixed, *variables, *(name for name, _, _ in self._nested)})

    def values(self, variables: Variables, subject: str | None = None) -> dict[str, Any]:
        """Returns the arguments that are set and not null.

        Fills in arguments that default to the `subject`, if it is given. Raises `InvalidArguments` if graphql-core
        would return an error.
        """
        values = dict(self.fixed)
        for name, variable, required, default in self._variables:
            value = variables.get(variable, default)
            if value is None or value is Undefined:
                if required:
                    raise InvalidArguments
            else:
                values[name] = value
        for name, node, kind in self._nested:
            value = value_from_ast(node, kind, dict(variables))
            if value is Undefined:
                raise InvalidArguments
            if value is not None:
                values[name] = _checked(kind, value)
        if subject is not None:
            for name in self.subjects:
                values.setdefault(name, subject)
        return values


def _checked(kind: GraphQLInputType, value: Any) -> Any:
    if isinstance(get_nullable_type(kind), GraphQLEnumType) and not isinstance(value, Enum):
        raise InvalidArguments
    return value


def _holds_variable(node: ValueNode) -> bool:
    return next(iter(_variable_names(node)), None) is not None


def _variable_names(node: ValueNode) -> list[str]:
    match node:
        case VariableNode():
            return [node.name.value]
        case ListValueNode():
            return [name for value in node.values for name in _variable_names(value)]
        case ObjectValueNode():
            return [name for field in node.fields for name in _variable_names(field.value)]
    return []


def model_values(fields: tuple[Field, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """Converts arguments to the model's values; an absent one stays absent, and null is None."""
    converted = {}
    for field in fields:
        if field.name in values:
            value = values[field.name]
            converted[field.name] = value if type(value) is str else _model_value(field.type, value)
    return converted


def _model_value(kind: AttributeType, value: Any) -> Any:
    if value is None or type(value) is str:
        return value
    match kind:
        case Struct(_, fields):
            return {name: member for name, member in model_values(fields, value).items() if member is not None}
        case ListOf(of):
            return [_model_value(of, member) for member in value]
        case SetOf():
            return frozenset(value) or None
    return value
