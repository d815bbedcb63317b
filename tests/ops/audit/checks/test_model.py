import enum
from dataclasses import replace

import pytest

from gateway.model.entity import Attribute, Entity, Key, OnIndex
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing, Lookup, Traffic
from gateway.model.types import EnumOf, Id
from gateway.ops.audit.checks.model import cardinality, documented_patterns, prefixes
from gateway.ops.audit.results import Case
from tests.ops.audit.spoil import changed, failures


class Colour(enum.Enum):
    RED = "like a rose"


THING = Entity(
    name="Thing",
    description="A thing.",
    attributes=(Attribute("thingId", Id(), "Its id."), Attribute("colour", EnumOf(Colour), "Its colour.")),
    key=Key(pk="THING#{thingId}", sk="DETAILS"),
    indexes=(
        OnIndex(index="GSI1", pk="COLOUR#{colour}", sk="THING#{thingId}", low_cardinality_reason="there are few"),
    ),
)


def model(traffic: Traffic, description: str = "By colour.", entity: Entity = THING) -> Model:
    patterns = (
        Lookup(name="thing", entity="Thing", description="By id."),
        Listing(name="thingsByColour", entity="Thing", index="GSI1", description=description, traffic=traffic),
    )
    return Model(domains=(Domain(name="things", description="Things.", entities=(entity,), patterns=patterns),))


def test_patterns_without_words_and_indexes_without_patterns_fail(case: Case) -> None:
    spoilt = replace(case, model=model(Traffic(), description=" "))
    assert failures(documented_patterns, spoilt) == [
        "patterns without a description: thingsByColour",
        "no access pattern reads GSI2, GSI3",
        "docs/access-patterns.md does not match the model",
    ]


@pytest.mark.parametrize(
    ("page", "fact"),
    [
        (None, "docs/access-patterns.md cannot be read"),
        ("# old", "docs/access-patterns.md does not match the model"),
    ],
)
def test_a_page_that_is_missing_or_stale_fails(case: Case, page: str | None, fact: str) -> None:
    spoilt = changed(case, files=replace(case.facts.files, page=page))
    assert failures(documented_patterns, spoilt) == [fact]


def test_prefixes_are_checked_without_reading_items(case: Case) -> None:
    [finding] = prefixes(case)
    assert "no item was read" in finding.fact


def test_a_key_that_begins_with_a_value_fails(case: Case) -> None:
    bare = replace(THING, key=Key(pk="{thingId}", sk="DETAILS"), indexes=())
    spoilt = Model(
        domains=(
            Domain(
                name="things",
                description="Things.",
                entities=(bare,),
                patterns=(Lookup(name="thing", entity="Thing", description="By id."),),
            ),
        )
    )
    assert failures(prefixes, replace(case, model=spoilt)) == [
        "keys without the tenant's prefix and a word: Thing in primary"
    ]


def test_a_partition_that_gets_more_than_it_takes_fails(case: Case) -> None:
    spoilt = replace(case, model=model(Traffic(per_second=20_000, items=20, item_bytes=1_000)))
    [fact] = failures(cardinality, spoilt)
    assert fact.startswith("`COLOUR#{colour}` in GSI1 expects 15,000 RCU")
    calm = replace(case, model=model(Traffic(per_second=10, items=20, item_bytes=1_000)))
    assert failures(cardinality, calm) == []
