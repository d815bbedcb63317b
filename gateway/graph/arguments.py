"""The value of an argument as a request gives it, before it is checked: what an estimate goes by."""

from collections.abc import Callable, Mapping
from typing import Any

from graphql import FieldNode, ListValueNode, ObjectValueNode, VariableNode, value_from_ast_untyped

Variables = Mapping[str, Any]
Value = Callable[[Variables], Any]


def argument_value(node: FieldNode, name: str) -> Value:
    """None where it is not given; a literal is read once, however many requests there are."""
    given = next((each.value for each in node.arguments or () if each.name.value == name), None)
    if given is None:
        return _nothing
    if isinstance(given, VariableNode):
        variable = given.name.value
        return lambda variables: variables.get(variable)
    if isinstance(given, ListValueNode | ObjectValueNode):
        return lambda variables: value_from_ast_untyped(given, dict(variables))
    literal = value_from_ast_untyped(given)
    return lambda _: literal


def _nothing(_: Variables) -> None:
    return None


def length(value: Any) -> int:
    """Of a list argument: a single value stands for a list of one."""
    if isinstance(value, list):
        return len(value)
    return 0 if value is None else 1
