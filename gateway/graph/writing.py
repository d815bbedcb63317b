"""Attribute values as JSON, compiled for what a query selects of them."""

import base64
from collections.abc import Callable
from typing import Any

from graphql import FieldNode, GraphQLObjectType, get_named_type

from gateway.graph.scalars import moment_text
from gateway.graph.shape import Write
from gateway.model.types import (
    AttributeType,
    Blob,
    Choice,
    Field,
    Integer,
    ListOf,
    Number,
    SetOf,
    Struct,
    Timestamp,
)

# the fields selected below some nodes of a type, by response key
FieldsOf = Callable[[list[FieldNode], GraphQLObjectType], dict[str, list[FieldNode]]]

_INT = 2**31


class Abnormal(Exception):
    """Something is not as it should be; graphql-core runs the operation again and words the error."""


def writer(kind: AttributeType, nodes: list[FieldNode], declared: Any, fields_of: FieldsOf) -> Write | None:
    """How a value of this type is written; None where it is JSON already."""
    match kind:
        case Integer():
            return _int
        case Number():
            return "{:f}".format
        case Timestamp():
            return moment_text
        case Choice():
            return _name
        case Blob():
            return _base64
        case SetOf(of):
            return _list_writer(writer(of, nodes, declared, fields_of), ordered=True)
        case ListOf(of):
            return _list_writer(writer(of, nodes, declared, fields_of))
        case Struct(_, fields):
            return _struct_writer(fields, nodes, declared, fields_of)
    return None


def _struct_writer(fields: tuple[Field, ...], nodes: list[FieldNode], declared: Any, fields_of: FieldsOf) -> Write:
    owner = get_named_type(declared)
    assert isinstance(owner, GraphQLObjectType)  # noqa: S101  a struct is an object type; this tells the type checker
    known = {field.name: field for field in fields}
    cells: list[tuple[str, str, Write | None, bool]] = []
    for key, found in fields_of(nodes, owner).items():
        name = found[0].name.value
        if name == "__typename":
            cells.append((key, "", _constant(owner.name), False))
            continue
        inner = writer(known[name].type, found, owner.fields[name].type, fields_of)
        cells.append((key, name, inner, known[name].required))

    def write(value: dict[str, Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, name, inner, required in cells:
            part = value.get(name) if name else ""
            if part is None and required:
                raise Abnormal
            out[key] = part if inner is None or part is None else inner(part)
        return out

    return write


def _int(value: int) -> int:
    if not -_INT <= value < _INT:
        raise Abnormal
    return value


def _name(value: Any) -> str:
    return str(value.name)


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


def _constant(text: str) -> Write:
    return lambda _: text


def _list_writer(inner: Write | None, *, ordered: bool = False) -> Write:
    def write(values: Any) -> list[Any]:
        members = sorted(values) if ordered else values
        return list(members) if inner is None else [inner(each) for each in members]

    return write
