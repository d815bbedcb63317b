from dataclasses import replace

import pytest

from gateway.model.entity import Collection, Key, Reference, Relation, Total
from gateway.model.patterns import AccessPattern, Listing, Lookup
from tests.model.build import Colour, fault, on, passes, related, thing

PART = thing(name="Part", key=Key(pk="PART#{thingId}", sk="META"), indexes=(on("GSI2"),))
PAIR = thing(name="Pair", key=Key(pk="PAIR#{thingId}", sk="PAIR#{email}"))
SHARD = thing(name="Shard", key=Key(pk="SHARD#{colour}#{thingId}#{count:2}", sk="META"))
PATTERNS: tuple[AccessPattern, ...] = (
    Lookup(name="part", entity="Part", description=""),
    Lookup(name="pair", entity="Pair", description=""),
    Lookup(name="shard", entity="Shard", description=""),
    Listing(name="partsOfOwner", entity="Part", index="GSI2", description=""),
    Listing(name="partOfOwner", entity="Part", index="GSI2", description="", single=True),
)


def one(pattern: str, **bind: str) -> Reference:
    return Reference(name="it", pattern=pattern, description="", bind=bind)


def many(pattern: str, each: str | None = None, **bind: str) -> Collection:
    return Collection(name="it", pattern=pattern, description="", each=each, bind=bind)


SUM = Total(
    name="it", pattern="shard", description="", attribute="price", over="count", count=8, fixed={"colour": Colour.RED}
)


def said(relation: Relation) -> str:
    text = fault(related(relation), PART, PAIR, SHARD, patterns=PATTERNS)
    assert text.startswith("entity Thing: relation `it` ")
    return text.removeprefix("entity Thing: relation `it` ")


@pytest.mark.parametrize(
    "relation",
    [
        one("part"),
        one("part", thingId="ownerId"),
        one("pair"),
        many("partsOfOwner"),
        many("partsOfOwner", ownerId="thingId"),
        many("part", each="partIds", thingId="partIds"),
        SUM,
        replace(SUM, bind={"thingId": "ownerId"}, attribute="count"),
    ],
)
def test_a_right_relation_passes(relation: Relation) -> None:
    assert passes(related(relation), PART, PAIR, SHARD, patterns=PATTERNS)


def test_a_relation_that_no_pattern_serves_is_named() -> None:
    assert (
        said(one("nothing"))
        == "names the unknown pattern `nothing`: name one of pair, part, partOfOwner, partsOfOwner, shard"
    )
    assert (
        said(many("nothing"))
        == "names the unknown pattern `nothing`: name one of pair, part, partOfOwner, partsOfOwner, shard"
    )


def test_one_item_is_found_by_a_lookup() -> None:
    assert said(one("partsOfOwner")) == "needs a lookup, but `partsOfOwner` is not one"


def test_many_items_are_found_by_a_listing_or_by_a_lookup_for_each() -> None:
    assert said(many("part")) == "needs a listing of many items, but `part` is not one"
    assert said(many("partOfOwner")) == "needs a listing of many items, but `partOfOwner` is not one"
    assert said(many("partsOfOwner", each="partIds")) == "needs a lookup, but `partsOfOwner` is not one"


def test_a_relation_binds_parameters_that_its_pattern_takes() -> None:
    assert said(one("part", thingid="ownerId")) == "binds ['thingid'], which `part` does not take"


def test_a_relation_fills_every_parameter() -> None:
    bare = thing(
        name="Bare",
        attributes=(PART.attributes[0],),
        key=Key(pk="BARE#{thingId}", sk="META"),
        relations=(many("partsOfOwner"),),
    )
    text = fault(bare, PART, PAIR, SHARD, patterns=PATTERNS)
    assert text == "entity Bare: relation `it` leaves ['ownerId'] of `partsOfOwner` open"


@pytest.mark.parametrize(
    ("relation", "left"),
    [
        (many("part", each="partIds"), []),
        (many("pair", each="partIds", thingId="partIds", email="partIds"), ["thingId", "email"]),
    ],
)
def test_a_list_fills_exactly_one_parameter(relation: Relation, left: list[str]) -> None:
    assert said(relation) == f"must leave one parameter to `partIds`, it leaves {left}"


@pytest.mark.parametrize(
    "relation",
    [one("part", thingId="label"), one("part", thingId="email"), many("partsOfOwner", ownerId="count")],
)
def test_a_parameter_is_filled_with_a_value_of_its_type(relation: Relation) -> None:
    parameter = next(iter(relation.bind))
    assert said(relation) == f"fills `{parameter}` of `{relation.pattern}` with a value of another type"


def test_a_list_has_members_of_the_type_of_the_parameter() -> None:
    assert said(many("pair", each="partIds", email="partIds")) == "fills `email` of `pair` with a value of another type"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(SUM, pattern="partsOfOwner"), "needs a lookup, but `partsOfOwner` is not one"),
        (replace(SUM, over="number"), "gives ['number'], which `shard` does not take"),
        (replace(SUM, fixed={"color": "RED"}), "gives ['color'], which `shard` does not take"),
        (replace(SUM, over="thingId"), "counts over `thingId`, which is not a whole number"),
        (replace(SUM, attribute="label"), "sums `label`, which is not a number of Shard"),
        (replace(SUM, attribute="nothing"), "sums `nothing`, which is not a number of Shard"),
        (replace(SUM, count=0), "sums 0 items; it may sum 1 to 100"),
        (replace(SUM, count=101), "sums 101 items; it may sum 1 to 100"),
        (replace(SUM, bind={"thingId": "label"}), "fills `thingId` of `shard` with a value of another type"),
    ],
)
def test_a_total_sums_a_number_over_the_items_of_a_lookup(wrong: Total, words: str) -> None:
    assert said(wrong) == words
