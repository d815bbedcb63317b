from datetime import timedelta

import pytest

from gateway.model.entity import Bucket, Copy, Key, Reference, Shards
from gateway.model.patterns import (
    AccessPattern,
    ItemCollection,
    Listing,
    Lookup,
    Traffic,
)
from tests.model.build import fault, model, on, passes, thing

OWNED = on(sk="THING#{madeAt}#{thingId}")
PRICED = on(
    "GSI2", pk="COLOUR#{colour}#{shard}", sk="{active}#{price:8.2}#{email}#{thingId}", shards=Shards(4, "thingId")
)
LOGGED = Copy(name="log", pk="LOG#{ownerId}#{bucket}", sk="{madeAt}#{thingId}", bucket=Bucket("madeAt", "day"))
THING = thing(
    indexes=(OWNED, PRICED),
    copies=(LOGGED,),
    relations=(Reference(name="self", pattern="thing", description=""),),
)
LOOKUP = Lookup(name="thing", entity="Thing", description="")


def listing(**changes: object) -> Listing:
    declared: dict[str, object] = {"name": "things", "entity": "Thing", "description": "", "index": "GSI1"}
    return Listing(**(declared | changes))  # type: ignore[arg-type]  # a test names what it changes


def said(*patterns: AccessPattern) -> str:
    return fault(THING, patterns=(LOOKUP, *patterns))


@pytest.mark.parametrize(
    "right",
    [
        listing(),
        listing(between="madeAt", newest_first=True),
        listing(index="GSI2", where=("active",), between="price"),
        listing(index="GSI2", where=("active", "price", "email", "thingId")),
        listing(index="log", between="madeAt", strong=True),
        listing(index="log", between="madeAt", window=timedelta(hours=1)),
        listing(single=True, follow="self"),
    ],
)
def test_a_right_pattern_passes(right: Listing) -> None:
    assert model(THING, patterns=(LOOKUP, right)).listing("things") is right


@pytest.mark.parametrize("name", ["Things", "__things", "all-things", ""])
def test_a_pattern_is_named_in_camel_case(name: str) -> None:
    assert said(listing(name=name)) == f"pattern {name}: `{name}` is not a name such as ordersOfUser"
    many = Lookup(name="some", many=name or "X", entity="Thing", description="")
    assert said(many) == f"pattern some: `{name or 'X'}` is not a name such as ordersOfUser"


@pytest.mark.parametrize(
    "wrong",
    [
        listing(window=timedelta(hours=1)),
        listing(between="madeAt", window=timedelta()),
        listing(index="GSI2", where=("active",), between="price", window=timedelta(hours=1)),
    ],
)
def test_a_window_is_a_length_of_time_over_a_range_of_moments(wrong: Listing) -> None:
    assert said(wrong) == "pattern things: a window needs a length, and `between` over a timestamp"


@pytest.mark.parametrize("traffic", [Traffic(0), Traffic(1, 0), Traffic(1, 1, 0), Traffic(-1)])
def test_traffic_is_more_than_nothing(traffic: Traffic) -> None:
    assert said(listing(traffic=traffic)) == "pattern things: its expected traffic must be more than 0"


@pytest.mark.parametrize(
    "pattern",
    [
        listing(entity="Ghost"),
        Lookup(name="things", entity="Ghost", description=""),
        ItemCollection(name="things", entity="Ghost", collection="parts", description=""),
    ],
)
def test_a_pattern_is_about_an_entity_that_exists(pattern: AccessPattern) -> None:
    assert said(pattern) == "pattern things: there is no entity Ghost"


@pytest.mark.parametrize("name", ["GSI3", "GSI9", "byUser"])
def test_a_pattern_on_an_index_that_does_not_exist_is_named(name: str) -> None:
    assert said(listing(index=name)) == (
        f"pattern things: there is no index or place `{name}`, Thing has ['primary', 'log', 'GSI1', 'GSI2']"
    )


def test_an_index_cannot_be_read_consistently() -> None:
    assert said(listing(strong=True)) == "pattern things: an index cannot be read consistently"


@pytest.mark.parametrize(
    "wrong", [listing(follow="self"), listing(single=True, follow="owner"), listing(single=True, follow="label")]
)
def test_following_needs_a_reference_and_a_single_item(wrong: Listing) -> None:
    assert said(wrong) == "pattern things: `follow` needs `single` and a reference of Thing"


@pytest.mark.parametrize(
    ("wrong", "names"),
    [
        (listing(between="thingId"), "['thingId']"),
        (listing(between="price"), "['price']"),
        (listing(where=("thingId",)), "['thingId']"),
        (listing(where=("madeAt",), between="madeAt"), "['madeAt', 'madeAt']"),
        (listing(where=("madeAt", "thingId", "email")), "['madeAt', 'thingId', 'email']"),
        (listing(index="primary", between="madeAt"), "['madeAt']"),
    ],
)
def test_a_sort_key_is_narrowed_from_its_left(wrong: Listing, names: str) -> None:
    assert f"cannot be narrowed by {names}, only from its left" in said(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        listing(index="GSI2", between="active"),
        listing(index="GSI2", where=("active", "price"), between="email"),
        listing(index="GSI2", where=("active", "price", "email"), between="thingId"),
    ],
)
def test_a_range_is_over_a_timestamp_or_a_number(wrong: Listing) -> None:
    assert said(wrong) == f"pattern things: a range needs a timestamp or a number; `{wrong.between}` is neither"


@pytest.mark.parametrize("wrong", [listing(index="log"), listing(index="log", where=("madeAt",))])
def test_buckets_are_read_over_a_range_of_their_time(wrong: Listing) -> None:
    assert said(wrong) == "pattern things: time buckets need `between` over `madeAt`"


@pytest.mark.parametrize("sk", ["THING#EXTRA#{thingId}#{email}", "{email}#{thingId}"])
def test_a_listing_does_not_return_items_of_another_entity(sk: str) -> None:
    stranger = thing(name="Stranger", key=Key(pk="STRANGER#{thingId}", sk="META"), indexes=(on(sk=sk),))
    assert fault(THING, stranger, patterns=(LOOKUP, listing())) == (
        f"pattern things: it would also return items of Stranger (`{sk}`)"
    )


def test_a_listing_without_words_in_its_sort_key_returns_whatever_is_in_the_partition() -> None:
    plain = thing(indexes=(on(sk="{thingId}"),))
    stranger = thing(name="Stranger", key=Key(pk="STRANGER#{thingId}", sk="META"), indexes=(on(sk="X#{thingId}"),))
    assert "it would also return items of Stranger" in fault(plain, stranger, patterns=(listing(),))


def test_a_listing_does_not_return_another_place_of_its_own_entity() -> None:
    twice = thing(copies=(Copy(name="again", pk="THING#{thingId}", sk="META#{ownerId}"),))
    assert "it would also return items of Thing" in fault(twice, patterns=(listing(index="primary"),))


@pytest.mark.parametrize("sk", ["THINGS#{thingId}", "THIN#{thingId}", "OTHER#{thingId}"])
def test_a_word_that_only_starts_alike_is_another_word(sk: str) -> None:
    other = thing(name="Other", key=Key(pk="OTHER#{thingId}", sk="META"), indexes=(on(sk=sk),))
    assert passes(THING, other, patterns=(LOOKUP, listing()))
