"""GraphQL types for the attribute types of the model: scalars, enums, structs and input ranges."""

from collections.abc import Sequence
from dataclasses import MISSING
from enum import Enum
from typing import Any

import strawberry
from strawberry.types.field import StrawberryField
from strawberry.types.scalar import ScalarDefinition

from gateway.errors import ModelError
from gateway.graph.schema.fields import Types, basic, object_type
from gateway.model.entity import Attribute
from gateway.model.filters import BETWEEN, operators
from gateway.model.types import AttributeType, EnumOf, Field, ListOf, ScalarSpec, SetOf, Struct, Timestamp

_COMPARISONS = {
    "eq": "Equal to this value.",
    "in": "Equal to one of these values.",
    "gt": "Greater than this value.",
    "ge": "Greater than or equal to this value.",
    "lt": "Less than this value.",
    "le": "Less than or equal to this value.",
    "between": "In this range.",
    "beginsWith": "Begins with this text, in the same case.",
    "contains": "Contains this text, in the same case; of a list, this member.",
}


class Annotations:
    """Adds each type to `types` when it is first needed, so that an enum or struct becomes one GraphQL type."""

    def __init__(self, types: Types) -> None:
        self._types = types
        self.scalars: dict[object, ScalarDefinition] = {}  # by Python type, as strawberry looks them up

    def output(self, kind: AttributeType) -> Any:
        match kind:
            case EnumOf(enum):
                return self._enum(enum)
            case SetOf(of) | ListOf(of):
                return list[self.output(of)]  # type: ignore[misc]  # made at run time
            case Struct():
                return self._struct(kind)
        return self._scalar(kind)

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
        inner, name = self._scalar(kind), f"{_scalar_of(kind).name}Range"
        if name not in self._types:
            timed = isinstance(kind, Timestamp)
            low, high = ("earliest time", "latest time") if timed else ("lowest value", "highest value")
            fields = [
                basic(self._types, end, inner | None, description, alias=alias, default=strawberry.UNSET)
                for end, alias, description in (
                    ("first", "from", f"The {low} to include; without it, the range has no start."),
                    ("last", "to", f"The {high} to include; without it, the range has no end."),
                )
            ]
            object_type(self._types, name, "A range that includes both of its ends.", fields, is_input=True)
        return self._types[name]

    def filter(self, name: str, description: str, attributes: Sequence[Attribute]) -> Any:
        """The input type for the filter of a list."""
        fields = [
            basic(
                self._types,
                attribute.name,
                self._comparisons(attribute) | None,
                attribute.description,
                default=strawberry.UNSET,
            )
            for attribute in attributes
        ]
        if name not in self._types:
            object_type(self._types, name, description, fields, is_input=True)
        return self._types[name]

    def _comparisons(self, attribute: Attribute) -> Any:
        """One input type for all attributes that are compared alike."""
        kind = attribute.type
        many = isinstance(kind, SetOf | ListOf)
        inner = kind.of if isinstance(kind, SetOf | ListOf) else kind
        word = inner.enum.__name__ if isinstance(inner, EnumOf) else _scalar_of(inner).name
        name = f"{word}{'List' if many else ''}Filter"
        if name not in self._types:
            fields = [self._comparison(operator, inner) for operator in operators(attribute)]
            object_type(self._types, name, "Comparisons that must all hold.", fields, is_input=True)
        return self._types[name]

    def _comparison(self, operator: str, kind: AttributeType) -> StrawberryField:
        annotation = self.range(kind) if operator == BETWEEN else self.argument(kind)
        if operator == "in":
            annotation = list[annotation]  # type: ignore[valid-type]  # made at run time
        python = "in_" if operator == "in" else operator
        return basic(self._types, python, annotation | None, _COMPARISONS[operator], default=strawberry.UNSET)

    def _scalar(self, kind: AttributeType) -> Any:
        scalar = _scalar_of(kind)
        if scalar.serialize is not None and scalar.parse is not None:
            self.scalars[scalar.python] = strawberry.scalar(
                name=scalar.name,
                description=scalar.description,
                specified_by_url=scalar.specified_by or None,
                serialize=scalar.serialize,
                parse_value=scalar.parse,
            )
        return strawberry.ID if scalar.name == "ID" else scalar.python

    def _enum(self, enum: type[Enum]) -> Any:
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


def _scalar_of(kind: AttributeType) -> ScalarSpec:
    if kind.scalar is None:
        raise ModelError(f"the type {type(kind).__name__} has no GraphQL scalar")
    return kind.scalar


def optional(annotation: Any, required: bool) -> Any:
    return annotation if required else annotation | None
