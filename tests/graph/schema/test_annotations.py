"""GraphQL types of the model's attribute types."""

from typing import Any

import pytest
import strawberry
from graphql import GraphQLEnumType, GraphQLInputObjectType, GraphQLNamedType
from strawberry.schema.config import StrawberryConfig

from gateway.graph.schema.annotations import Annotations, optional
from gateway.graph.schema.fields import Types, argument, basic, object_type, resolved
from gateway.graph.schema.schema import core_schema
from gateway.model.types import (
    AttributeType,
    Blob,
    Boolean,
    DecimalNumber,
    EnumOf,
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
from tests.model.build import Colour

SIZE = Field("size", Integer(), "Its size.", required=False)
BOX = Struct("Box", (Field("label", Text(), "Its label."), SIZE), "A box.")


def printed(
    annotations: Annotations, types: Types, output: Any, input_type: Any = int
) -> tuple[str, str, dict[str, GraphQLNamedType]]:
    """The types of a field and of its argument in a schema."""

    def resolve(root: None, info: Any, given: Any) -> None:
        return None

    arguments = [argument("given", input_type, "A value.", required=True)]
    field = resolved(types, "value", output, "The value.", resolve, arguments)
    query = object_type(types, "Query", "All.", [field, basic(types, "other", int, "Another one.")])
    config = StrawberryConfig(auto_camel_case=False, scalar_map=annotations.scalars)
    core = core_schema(strawberry.Schema(query=query, config=config))
    assert core.query_type is not None
    made = core.query_type.fields["value"]
    return str(made.type), str(made.args["given"].type), dict(core.type_map)


@pytest.mark.parametrize(
    ("kind", "output", "input_type"),
    [
        (Text(), "String!", "String!"),
        (KeyString(), "String!", "String!"),
        (Id(), "ID!", "ID!"),
        (Integer(), "Int!", "Int!"),
        (DecimalNumber(), "Decimal!", "Decimal!"),
        (Boolean(), "Boolean!", "Boolean!"),
        (Timestamp(), "DateTime!", "DateTime!"),
        (Blob(), "Base64!", "Base64!"),
        (EnumOf(Colour), "Colour!", "Colour!"),
        (ListOf(Id()), "[ID!]!", "[ID!]!"),
        (SetOf(Text()), "[String!]!", "[String!]!"),
        (BOX, "Box!", "BoxInput!"),
        (ListOf(BOX), "[Box!]!", "[BoxInput!]!"),
    ],
)
def test_every_attribute_type_has_a_type_for_output_and_for_input(
    kind: AttributeType, output: str, input_type: str
) -> None:
    types: Types = {}
    annotations = Annotations(types)
    assert printed(annotations, types, annotations.output(kind), annotations.argument(kind))[:2] == (output, input_type)


def test_an_enum_or_a_struct_becomes_one_type() -> None:
    annotations = Annotations({})
    for kind in (EnumOf(Colour), BOX):
        assert annotations.output(kind) is annotations.output(kind)
        assert annotations.argument(kind) is annotations.argument(kind)


def test_an_enum_value_is_described_by_its_value() -> None:
    types: Types = {}
    annotations = Annotations(types)
    colour = printed(annotations, types, annotations.output(EnumOf(Colour)))[2]["Colour"]
    assert isinstance(colour, GraphQLEnumType)
    assert {name: value.description for name, value in colour.values.items()} == {"RED": "red", "GREEN": "green"}


def test_an_optional_input_field_may_be_left_out() -> None:
    types: Types = {}
    annotations = Annotations(types)
    box = printed(annotations, types, int, annotations.argument(BOX))[2]["BoxInput"]
    assert isinstance(box, GraphQLInputObjectType)
    assert {name: str(field.type) for name, field in box.fields.items()} == {"label": "String!", "size": "Int"}


@pytest.mark.parametrize(
    ("kind", "name", "low"),
    [
        (Timestamp(), "DateTimeRange", "The earliest time to include; without it, the range has no start."),
        (DecimalNumber(), "DecimalRange", "The lowest value to include; without it, the range has no start."),
        (Integer(), "IntRange", "The lowest value to include; without it, the range has no start."),
        (KeyString(), "StringRange", "The lowest value to include; without it, the range has no start."),
    ],
)
def test_a_range_speaks_of_times_only_for_times(kind: AttributeType, name: str, low: str) -> None:
    types: Types = {}
    annotations = Annotations(types)
    made = printed(annotations, types, int, annotations.range(kind))[2][name]
    assert isinstance(made, GraphQLInputObjectType)
    assert list(made.fields) == ["from", "to"]
    assert made.fields["from"].description == low


def test_what_is_not_required_is_nullable() -> None:
    assert optional(int, True) is int
    assert optional(int, False) == int | None
