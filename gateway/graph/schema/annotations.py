"""GraphQL types for the attribute types of the model: scalars, enums, structs and input ranges."""

import decimal
from dataclasses import MISSING
from datetime import datetime
from enum import Enum as PythonEnum
from typing import Any

import strawberry
from strawberry.types.field import StrawberryField

from gateway.graph.schema.fields import Types, basic, object_type
from gateway.model.types import (
    AttributeType,
    Blob,
    Boolean,
    Decimal,
    Enum,
    Field,
    Id,
    Integer,
    KeyString,
    ListOf,
    SetOf,
    Struct,
    Text,
    Timestamp,
)

_PLAIN: dict[type, Any] = {
    Text: str,
    Id: strawberry.ID,
    KeyString: str,
    Integer: int,
    Decimal: decimal.Decimal,
    Boolean: bool,
    Timestamp: datetime,
    Blob: bytes,
}


class Annotations:
    """Adds each type to `types` when it is first needed, so that an enum or struct becomes one GraphQL type."""

    def __init__(self, types: Types) -> None:
        self._types = types

    def output(self, kind: AttributeType) -> Any:
        match kind:
            case Enum(enum):
                return self._enum(enum)
            case SetOf(of) | ListOf(of):
                return list[self.output(of)]  # type: ignore[misc]  # made at run time
            case Struct():
                return self._struct(kind)
        return _PLAIN[type(kind)]

    def argument(self, kind: AttributeType) -> Any:
        """The type as an input: structs become input types."""
        match kind:
            case Struct(name, fields, description):
                return self.input_type(f"{name}Input", description, fields)
            case SetOf(of) | ListOf(of):
                return list[self.argument(of)]  # type: ignore[misc]  # made at run time
        return self.output(kind)

    def input_type(self, name: str, description: str, fields: tuple[Field, ...]) -> Any:
        if name not in self._types:
            # Python wants fields without a default first; for GraphQL the order has no meaning
            ordered = sorted(fields, key=lambda field: not field.required)
            object_type(self._types, name, description, [*map(self._input_field, ordered)], is_input=True)
        return self._types[name]

    def _input_field(self, field: Field) -> StrawberryField:
        kind = optional(self.argument(field.type), field.required)
        default = MISSING if field.required else strawberry.UNSET
        # a required input field cannot be deprecated, since clients cannot leave it out
        deprecated = None if field.required else field.deprecated
        return basic(self._types, field.name, kind, field.description, default=default, deprecated=deprecated)

    def range(self, kind: AttributeType) -> Any:
        """The input type for a range of values of this type."""
        inner = _PLAIN[type(kind)]
        name = {datetime: "DateTimeRange", decimal.Decimal: "DecimalRange", int: "IntRange"}.get(inner, "TextRange")
        if name not in self._types:
            low, high = ("earliest time", "latest time") if inner is datetime else ("lowest value", "highest value")
            fields = [
                basic(self._types, end, inner | None, description, alias=alias, default=strawberry.UNSET)
                for end, alias, description in (
                    ("first", "from", f"The {low} to include; without it, the range has no start."),
                    ("last", "to", f"The {high} to include; without it, the range has no end."),
                )
            ]
            object_type(self._types, name, "A range that includes both of its ends.", fields, is_input=True)
        return self._types[name]

    def _enum(self, enum: type[PythonEnum]) -> Any:
        if enum.__name__ not in self._types:
            enum_type = strawberry.enum(enum, description=(enum.__doc__ or "").strip())
            for value in enum_type.__strawberry_definition__.values:  # type: ignore[attr-defined]  # set by strawberry
                value.description = str(enum[value.name].value)
            self._types[enum.__name__] = enum_type
        return self._types[enum.__name__]

    def _struct(self, struct: Struct) -> Any:
        if struct.name not in self._types:
            fields = [
                basic(
                    self._types,
                    field.name,
                    optional(self.output(field.type), field.required),
                    field.description,
                    deprecated=field.deprecated,
                )
                for field in struct.fields
            ]
            object_type(self._types, struct.name, struct.description, fields)
        return self._types[struct.name]


def optional(annotation: Any, required: bool) -> Any:
    return annotation if required else annotation | None
