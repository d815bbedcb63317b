"""Mistakes in the types of fields: Python's `str` as a type, `Id` without parentheses."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from gateway.model.checks.shapes import shape_faults
from gateway.model.types import AttributeType, EnumOf, ListOf, SetOf, Struct

_INSTEAD: Mapping[type, str] = {
    str: "Text(), Id() or KeyString()",
    int: "Integer()",
    float: "DecimalNumber()",
    Decimal: "DecimalNumber()",
    bool: "Boolean()",
    datetime: "Timestamp()",
    date: "Date()",
    bytes: "Blob()",
    list: "ListOf(...)",
    set: "SetOf(...)",
    dict: "Struct(...)",
}
_ANY = "a type such as Text() or Id()"
_SET_MEMBERS = ("S", "N")


def type_faults(kind: Any) -> Iterator[str]:
    """The faults of a value that should be a type of the model, and what to write instead."""
    match kind:
        case type() if issubclass(kind, AttributeType):
            yield f"its type is the class {kind.__name__}; write `{_called(kind)}`"
        case type() if _is_enum(kind):
            yield f"its type is the enum {kind.__name__}; write `EnumOf({kind.__name__})`"
        case type():
            yield f"its type is Python's `{kind.__name__}`; use {_INSTEAD.get(kind, _ANY)}"
        case SetOf(AttributeType() as of) if of.tag not in _SET_MEMBERS:
            yield f"a set holds strings or numbers, not {of.documentation}; use `ListOf`"
        case SetOf(of) | ListOf(of):
            yield from type_faults(of)
        case Struct(name):
            shape = [*shape_faults(kind)]
            faults = shape or [*field_faults(kind, "fields")]
            yield from (f"{name}: {fault}" for fault in faults)
            yield from () if faults else kind.declaration_faults()
        case EnumOf() if not _is_enum(kind.enum):
            yield "EnumOf takes an enum class, such as `EnumOf(Colour)`"
        case _ if not isinstance(kind, AttributeType):
            yield f"its type is {kind!r}; use {_ANY}"
        case AttributeType():
            yield from _parameter_faults(kind)


def _parameter_faults(kind: AttributeType) -> list[str]:
    """The type's own message, unless its parameters have types that it cannot compare."""
    try:
        faults = [*kind.declaration_faults()]
    except (TypeError, ValueError):
        faults = []
    return faults or [*shape_faults(kind)]


def _is_enum(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def field_faults(declared: object, name: str) -> Iterator[str]:
    """The faults of the fields under this name, and of their types."""
    for field in getattr(declared, name):
        yield from (f"`{field.name}`: {fault}" for fault in type_faults(field.type))


def _called(kind: type[AttributeType]) -> str:
    parameters = fields(kind)  # type: ignore[arg-type]  # every type is a dataclass
    needed = any(field.default is MISSING and field.default_factory is MISSING for field in parameters)
    return f"{kind.__name__}(...)" if needed else f"{kind.__name__}()"
