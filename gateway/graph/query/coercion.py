"""Coerces variables like graphql-core, with functions that are compiled once for each input type.

graphql-core determines the kind of each type again for each value. Values that these functions do not accept are
left to graphql-core, which reports the error.
"""

from collections.abc import Callable
from typing import Any

from graphql import (
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLLeafType,
    GraphQLList,
    GraphQLNonNull,
    Undefined,
    is_required_input_field,
)
from graphql.utilities.coerce_input_value import coerce_default_value

Read = Callable[[Any], Any]


class Unusual(Exception):
    """A value, or a type, that is left to graphql-core."""


def reader(kind: GraphQLInputType) -> Read | None:
    """Coerces a value, including null, or raises `Unusual`; None for a type that is left to graphql-core."""
    try:
        return _reader(kind, ())
    except Unusual:
        return None


def _reader(kind: Any, around: tuple[Any, ...]) -> Read:
    """`around` are the input objects that contain this type."""
    if isinstance(kind, GraphQLNonNull):
        return _required(_reader(kind.of_type, around))
    if isinstance(kind, GraphQLList):
        return _list(_reader(kind.of_type, around))
    if isinstance(kind, GraphQLInputObjectType):
        if kind in around:
            raise Unusual
        return _object(kind, (*around, kind))
    return _leaf(kind)


def _required(read: Read) -> Read:
    def required(value: Any) -> Any:
        if value is None:
            raise Unusual
        return read(value)

    return required


def _leaf(kind: GraphQLLeafType) -> Read:
    coerce = kind.coerce_input_value
    is_text = kind.name in ("String", "ID")

    def leaf(value: Any) -> Any:
        if value is None or (is_text and type(value) is str):
            return value
        try:
            coerced = coerce(value)
        except Exception as error:
            raise Unusual from error
        if coerced is Undefined:
            raise Unusual
        return coerced

    return leaf


def _list(read: Read) -> Read:
    def members(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not list:
            raise Unusual  # a single value may represent a list of one
        return [read(member) for member in value]

    return members


def _object(kind: GraphQLInputObjectType, around: tuple[Any, ...]) -> Read:
    if kind.is_one_of or kind.out_type is not GraphQLInputObjectType.out_type:
        raise Unusual
    parts: list[tuple[str, str, Read, bool]] = []
    for name, field in kind.fields.items():
        if coerce_default_value(field) is not Undefined:
            raise Unusual
        parts.append((name, field.out_name or name, _reader(field.type, around), is_required_input_field(field)))
    names = kind.fields.keys()

    def members(value: Any) -> Any:
        if value is None:
            return None
        if type(value) is not dict or not value.keys() <= names:
            raise Unusual
        values = {}
        for name, own, read, required in parts:
            if name in value:
                values[own] = read(value[name])
            elif required:
                raise Unusual
        return values

    return members
