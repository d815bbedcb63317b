"""The quality of the schema: everything is described, and custom scalars say what they are."""

from collections.abc import Iterator
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    is_specified_scalar_type,
)

from gateway.graph.schema import core_schema
from tests.graph.world import SCHEMA

CORE = core_schema(SCHEMA)
TYPES = [each for name, each in CORE.type_map.items() if not name.startswith("__")]


def described(kind: GraphQLNamedType) -> Iterator[tuple[str, str | None]]:
    """Everything that a schema can describe, by its coordinate."""
    yield kind.name, kind.description
    if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        for name, field in kind.fields.items():
            yield f"{kind.name}.{name}", field.description
            yield from ((f"{kind.name}.{name}({arg}:)", given.description) for arg, given in field.args.items())
    if isinstance(kind, GraphQLInputObjectType):
        yield from ((f"{kind.name}.{name}", field.description) for name, field in kind.fields.items())
    if isinstance(kind, GraphQLEnumType):
        yield from ((f"{kind.name}.{name}", value.description) for name, value in kind.values.items())


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: str(kind.name))
def test_everything_is_described(kind: GraphQLNamedType) -> None:
    bare = [coordinate for coordinate, words in described(kind) if not (words or "").strip()]
    assert bare == []


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: str(kind.name))
def test_descriptions_are_sentences_or_phrases_not_names(kind: GraphQLNamedType) -> None:
    for coordinate, words in described(kind):
        own = coordinate.rpartition(".")[2]
        assert (words or "").strip(".").lower() != own.lower(), coordinate


@pytest.mark.parametrize(
    "kind", [each for each in TYPES if isinstance(each, GraphQLScalarType) and not is_specified_scalar_type(each)]
)
def test_a_custom_scalar_says_by_what_it_is_specified(kind: Any) -> None:
    assert (kind.specified_by_url or "").startswith("https://")


def test_there_are_custom_scalars_and_enums() -> None:
    assert {"DateTime", "Decimal"} <= {each.name for each in TYPES if isinstance(each, GraphQLScalarType)}
    assert "OrderStatus" in CORE.type_map


def test_what_is_deprecated_says_what_to_use_instead() -> None:
    for kind in TYPES:
        for name, field in getattr(kind, "fields", {}).items():
            if field.deprecation_reason is not None:
                assert "`" in field.deprecation_reason, f"{kind.name}.{name}"


def test_relays_types_are_as_relay_wants_them() -> None:
    assert str(CORE.query_type.fields["node"].type) == "Node" if CORE.query_type else False
    connections = [each for each in TYPES if each.name.endswith("Connection") and isinstance(each, GraphQLObjectType)]
    assert connections
    for kind in connections:
        assert str(kind.fields["pageInfo"].type) == "PageInfo!"
        edge = CORE.type_map[f"{kind.name.removesuffix('Connection')}Edge"]
        assert isinstance(edge, GraphQLObjectType)
        assert {"node", "cursor"} <= edge.fields.keys()
        assert "totalCount" not in kind.fields, "no pattern gives it without reading the whole list"
