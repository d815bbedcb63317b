"""The first query of the playground is valid in any domain and needs no id."""

from dataclasses import replace

import pytest
from graphql import parse, validate

from gateway.domains import load_domains
from gateway.graph.playground.first_query import first_query
from gateway.graph.schema.schema import core_schema
from gateway.model.entity import Attribute, Bucket, Key
from gateway.model.patterns import Listing, Lookup
from gateway.model.types import Field, Id, Struct
from gateway.settings import DEMO_DOMAINS
from tests.model.build import ATTRIBUTES, model, on, thing

LISTING = Listing(name="things", entity="Thing", index="GSI1", description="")
SMALL = on(pk="ALL", low_cardinality_reason="a test")


@pytest.mark.parametrize("domains", [DEMO_DOMAINS, ("gateway.demo.devices",), ("gateway.demo.publishing",)])
def test_it_is_valid_for_every_shipped_domain(domains: tuple[str, ...]) -> None:
    loaded = load_domains(domains)
    query = first_query(loaded.model)
    assert "nodes" in query
    assert validate(core_schema(loaded.schema), parse(query)) == []


def test_the_listing_that_needs_least_is_asked() -> None:
    by_colour = Listing(name="byColour", entity="Thing", index="GSI2", description="")
    entity = thing(indexes=(SMALL, on("GSI2", pk="COLOUR#{colour}", low_cardinality_reason="a test")))
    query = first_query(model(entity, patterns=(by_colour, LISTING)))
    assert query == "{ things(first: 3) { nodes { thingId ownerId label } } }"


def test_an_enum_is_filled_in() -> None:
    entity = thing(indexes=(on(pk="COLOUR#{colour}#{active}", low_cardinality_reason="a test"),))
    query = first_query(model(entity, patterns=(LISTING,)))
    assert query == "{ things(colour: RED, active: true, first: 3) { nodes { thingId ownerId label } } }"


def test_what_needs_an_id_or_a_range_or_answers_one_item_is_left_out() -> None:
    bucketed = thing(
        name="Event",
        key=Key(
            pk="EVENT#{active}#{bucket}",
            sk="{madeAt}#{thingId}",
            bucket=Bucket("madeAt", "day"),
            low_cardinality_reason="a test",
        ),
    )
    patterns = (
        Listing(name="ofOwner", entity="Thing", index="GSI2", description=""),
        replace(LISTING, single=True),
        Lookup(name="thing", entity="Thing", description=""),
        Listing(name="events", entity="Event", between="madeAt", description=""),
    )
    entity = thing(indexes=(SMALL, on("GSI2")))
    assert first_query(model(entity, bucketed, patterns=patterns)) == "{ __typename }"


def test_only_plain_fields_are_asked_for() -> None:
    box = Attribute("box", Struct("Box", (Field("a", Id(), ""),)), "")
    old = Attribute("old", Id(), "", deprecated="gone")
    entity = thing(attributes=(box, old, *ATTRIBUTES), indexes=(SMALL,))
    assert first_query(model(entity, patterns=(LISTING,))).endswith("nodes { thingId ownerId label } } }")
