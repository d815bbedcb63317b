"""The quality of the schema: descriptions, deprecations, specifications of scalars, and Relay's types."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLScalarType,
    GraphQLSchema,
    is_specified_scalar_type,
)

from gateway.graph.mutation.crud import create, update
from gateway.graph.schema.schema import build_schema, core_schema
from gateway.model.entity import Attribute, Collection, Entity, Key, OnIndex, Reference
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup
from gateway.model.types import Field, Id, Integer, ListOf, Struct, Text
from tests.graph.fixtures import SCHEMA

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
def test_a_custom_scalar_has_a_specification(kind: Any) -> None:
    assert (kind.specified_by_url or "").startswith("https://")


def test_there_are_custom_scalars_and_enums() -> None:
    assert {"DateTime", "Decimal"} <= {each.name for each in TYPES if isinstance(each, GraphQLScalarType)}
    assert "OrderStatus" in CORE.type_map


def test_a_deprecation_names_the_replacement() -> None:
    for kind in TYPES:
        for name, field in getattr(kind, "fields", {}).items():
            if field.deprecation_reason is not None:
                assert "`" in field.deprecation_reason, f"{kind.name}.{name}"


WHY = "use `Note.text`"


def _deprecating() -> GraphQLSchema:
    note = Entity(
        name="Note",
        description="A note.",
        attributes=(
            Attribute("noteId", Id(), "Its id."),
            Attribute("text", Text(), "What it says."),
            Attribute("body", Text(), "What it said.", required=False, deprecated=WHY),
            Attribute("title", Text(), "What it is called.", deprecated=WHY),
            Attribute("place", Struct("Place", (Field("x", Integer(), "Across.", deprecated=WHY),)), "Where it hangs."),
            Attribute("tagIds", ListOf(Id()), "Its tags.", required=False),
            Attribute("count", Integer(), "How often it was read."),
        ),
        key=Key(pk="NOTE#{noteId}", sk="META"),
        indexes=(OnIndex(index="GSI1", pk="NOTES", sk="{noteId}", low_cardinality_reason="there are few"),),
        relations=(
            Reference(name="one", pattern="note", description="One.", deprecated=WHY),
            Collection(name="tags", pattern="tag", description="Its tags.", each="tagIds", deprecated=WHY),
            Collection(name="all", pattern="allNotes", description="All.", deprecated=WHY),
        ),
    )
    tag = Entity(
        name="Tag",
        description="A tag.",
        attributes=(Attribute("tagId", Id(), "Its id."),),
        key=Key(pk="TAG#{tagId}", sk="META"),
    )
    patterns = (
        Lookup(name="tag", entity="Tag", description="One."),
        Lookup(name="note", entity="Note", description="One.", many="notes", deprecated=WHY),
        Listing(name="allNotes", entity="Note", index="GSI1", description="All.", deprecated=WHY),
        Listing(name="newest", entity="Note", index="GSI1", single=True, description="One.", deprecated=WHY),
    )
    mutations = (replace(create(note), deprecated=WHY), update(note))
    domain = Domain(name="notes", description="Notes.", entities=(note, tag), patterns=patterns, mutations=mutations)
    return core_schema(build_schema(Model(domains=(domain,))))


def test_deprecations_of_the_model_are_in_the_schema() -> None:
    found = {
        f"{kind.name}.{name}"
        for kind in _deprecating().type_map.values()
        for name, field in getattr(kind, "fields", {}).items()
        if field.deprecation_reason == WHY
    }
    assert found == {
        *("Note.body", "Note.title", "Note.one", "Note.tags", "Note.all", "Place.x"),
        *("Query.note", "Query.notes", "Query.allNotes", "Query.newest", "Mutation.createNote"),
        # in an input only what may be left out
        *("CreateNoteInput.body", "UpdateNoteInput.body", "UpdateNoteInput.title"),
    }


def test_connections_and_nodes_follow_relays_specification() -> None:
    assert str(CORE.query_type.fields["node"].type) == "Node" if CORE.query_type else False
    connections = [each for each in TYPES if each.name.endswith("Connection") and isinstance(each, GraphQLObjectType)]
    assert connections
    for kind in connections:
        assert str(kind.fields["pageInfo"].type) == "PageInfo!"
        edge = CORE.type_map[f"{kind.name.removeprefix('Counted').removesuffix('Connection')}Edge"]
        assert isinstance(edge, GraphQLObjectType)
        assert {"node", "cursor"} <= edge.fields.keys()
        # without a counter no pattern gives it, unless it reads the whole list
        assert ("totalCount" in kind.fields) is kind.name.startswith("Counted")
