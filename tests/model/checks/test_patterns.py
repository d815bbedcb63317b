from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.model.entity import Attribute, Bucket, Copy, Expiry, Key, Reference, Shards, Upgrade, When
from gateway.model.patterns import (
    AccessPattern,
    Counter,
    ItemCollection,
    Listing,
    Lookup,
    Traffic,
)
from gateway.model.types import Id, Subject
from tests.model.build import ATTRIBUTES, fault, model, on, passes, thing

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


def test_a_listing_that_is_narrowed_by_a_misspelt_attribute_is_told_the_right_one() -> None:
    wrong = Listing(name="things", entity="Thing", index="GSI1", between="madeat", description="")
    assert said(wrong) == "pattern things: it is narrowed by the unknown attribute `madeat`: did you mean `madeAt`?"


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
def test_a_window_is_a_length_of_time_over_a_range_of_timestamps(wrong: Listing) -> None:
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
    assert said(pattern) == "pattern things: there is no entity Ghost: name one of Thing"


@pytest.mark.parametrize("name", ["GSI3", "GSI9", "byUser"])
def test_a_pattern_on_an_index_that_does_not_exist_is_named(name: str) -> None:
    assert said(listing(index=name)) == (
        f"pattern things: there is no index or place `{name}`, Thing has ['primary', 'log', 'GSI1', 'GSI2']"
    )


def test_an_index_cannot_be_read_consistently() -> None:
    assert (
        said(listing(strong=True)) == "pattern things: an index cannot be read consistently, unless it is a local one"
    )


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
    assert f"cannot be narrowed by {names}, only by its leading parts" in said(wrong)


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


def test_a_list_in_both_orders_is_sorted_by_a_timestamp() -> None:
    assert passes(THING, patterns=(LOOKUP, listing(reversible=True)))
    words = "pattern things: `reversible` needs a list that is sorted by a timestamp; "
    assert said(listing(index="GSI2", reversible=True)) == f"{words}`{PRICED.sk}` is not"
    assert said(listing(single=True, reversible=True)) == f"{words}`{OWNED.sk}` is not"


def test_an_attribute_has_not_the_name_of_an_argument_that_lists_have() -> None:
    named = Attribute("order", Id(), "Which order.")
    ordered = thing(attributes=(*ATTRIBUTES, named), indexes=(on(pk="ORDER#{order}"),))
    assert fault(ordered, patterns=(listing(),)) == (
        "pattern things: `order` is an argument of lists; give the attribute another name"
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"filter": ("nothing",)},
            "it filters by `nothing`, which is not an attribute of Thing: did you mean `thingId`?",
        ),
        ({"filter": ("colour",), "single": True}, "only a list without time buckets can be filtered"),
        ({"filter": ("colour",), "max_read": 0}, "`max_read` must be between 1 and 10,000"),
        ({"filter": ("colour",), "index": "GSI2", "max_read": 3}, "`max_read` must be between 4 and 10,000"),
        ({"filter": "colour"}, "`filter` must be a tuple; write `('colour',)`, with a comma after the only member"),
        (
            {"filter": ("colour",), "index": "log", "between": "madeAt"},
            "only a list without time buckets can be filtered",
        ),
    ],
)
def test_a_filter_that_cannot_be_is_refused(changes: dict[str, object], words: str) -> None:
    assert said(listing(**changes)) == f"pattern things: {words}"


def test_what_an_upgrade_gives_is_not_filtered_by() -> None:
    upgrade = Upgrade(to=2, needs=(), gives=("label",), change=lambda values: values)
    upgraded = thing(indexes=(OWNED,), schema=2, upgrades=(upgrade,))
    assert fault(upgraded, patterns=(listing(filter=("label",)),)) == (
        "pattern things: it cannot filter by `label`, which older items get from an upgrade; "
        "run `gateway migrate` first"
    )


COUNTER = Counter(4)


def test_a_list_in_the_table_or_in_an_index_can_be_counted() -> None:
    sparse = thing(indexes=(on(when=When("colour", ("RED",))),))
    assert passes(
        sparse, patterns=(Listing(name="red", entity="Thing", index="GSI1", description="", counter=COUNTER),)
    )


@pytest.mark.parametrize(
    ("entity", "changes", "words"),
    [
        ({}, {"counter": Counter(0)}, "its counter must have between 1 and 32 shards"),
        ({}, {"counter": Counter(33)}, "its counter must have between 1 and 32 shards"),
        ({}, {"single": True}, "only a list without time buckets can be counted"),
        ({"expiry": Expiry(at="madeAt")}, {}, "it cannot be counted: Thing expires"),
        (
            {"schema": 2, "upgrades": (Upgrade(to=2, needs=(), gives=("colour",), change=dict),)},
            {},
            "it cannot be counted by `colour`, which older items get from an upgrade",
        ),
    ],
)
def test_a_counter_that_would_be_wrong_is_refused(entity: dict[str, Any], changes: dict[str, Any], words: str) -> None:
    indexes = (on(when=When("colour", ("RED",))),)
    declared = {"name": "red", "entity": "Thing", "index": "GSI1", "description": "", "counter": COUNTER, **changes}
    assert words in fault(thing(indexes=indexes, **entity), patterns=(Listing(**declared),))


@pytest.mark.parametrize("word", ["COUNT", "UNIQUE", "IDEMPOTENCY"])
def test_no_key_begins_with_a_word_that_the_gateway_uses(word: str) -> None:
    key = Key(pk=f"{word}#{{thingId}}", sk="META")
    assert f"begins with `{word}`, which the gateway uses" in fault(thing(key=key))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (listing(defaults={"colour": Subject()}), "`defaults` names `colour`; its arguments are `ownerId`"),
        (listing(defaults={"ownerId": "me"}), "`defaults` of `ownerId`: the only default is Subject(), for an Id"),
        (listing(index="GSI2", defaults={"colour": Subject()}), "the only default is Subject(), for an Id"),
        (listing(defaults=("ownerId",)), "`defaults` must be a dictionary"),
    ],
)
def test_a_default_is_the_subject_in_place_of_an_id(wrong: Listing, words: str) -> None:
    assert words in said(wrong)


def test_arguments_may_be_left_to_the_subject() -> None:
    passes(THING, patterns=(replace(LOOKUP, subject="me"), listing(defaults={"ownerId": Subject()})))


def test_a_lookup_by_the_subject_has_a_key_of_one_id() -> None:
    two = thing(key=Key(pk="THING#{ownerId}", sk="{thingId}"))
    words = "`subject` needs a key of one Id, which the token's subject fills; the key of Thing consists of `ownerId`"
    assert words in fault(two, patterns=(replace(LOOKUP, subject="me"),))
    passes(two, patterns=(replace(LOOKUP, defaults={"ownerId": Subject()}),))
