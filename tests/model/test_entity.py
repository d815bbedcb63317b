from gateway.model.entity import Bucket, Copy, Key, OnIndex, Reference, Shards, whole_list
from tests.model.build import on, thing

COPIED = thing(
    copies=(Copy(name="byOwner", pk="OWNER#{ownerId}", sk="THING#{thingId}"),),
    indexes=(on("GSI1"), on("GSI2", name="byColour", pk="COLOUR#{colour}#{shard}", shards=Shards(4, by="ownerId"))),
    relations=(Reference(name="owner", pattern="user", description="Whose it is."),),
)


def test_places_are_the_key_the_copies_and_the_indexes() -> None:
    assert [(place.name, place.index) for place in COPIED.placements] == [
        ("primary", None),
        ("byOwner", None),
        ("GSI1", "GSI1"),
        ("byColour", "GSI2"),
    ]
    assert COPIED.primary is COPIED.placement("primary")
    assert COPIED.placement("elsewhere") is None


def test_a_place_knows_every_attribute_that_decides_about_it() -> None:
    place = COPIED.placement("byColour")
    assert place is not None
    assert place.names == {"colour", "ownerId", "thingId"}
    assert place.when is None


def test_attributes_and_relations_are_found_by_name() -> None:
    assert COPIED.attribute["thingId"].name == "thingId"
    assert COPIED.relation["owner"].pattern == "user"


def test_an_item_is_identified_by_the_attributes_of_its_key_in_their_order() -> None:
    key = Key(pk="THING#{thingId}#{bucket}", sk="{madeAt}#{thingId}", bucket=Bucket("madeAt", "day"))
    assert thing(key=key).key_names == ("thingId", "madeAt")


def test_what_chooses_the_shard_identifies_the_item_too() -> None:
    key = Key(pk="COUNTER#{thingId}#{shard}", sk="COUNT", shards=Shards(8, by="ownerId"))
    assert thing(key=key).key_names == ("thingId", "ownerId")


def test_a_list_of_all_items_is_spread_over_shards() -> None:
    place = whole_list("GSI2", "USERS", sort="{createdAt}", by="userId", shards=8)
    assert place == OnIndex(
        index="GSI2", name="all", pk="USERS#{shard}", sk="{createdAt}#{userId}", shards=Shards(8, by="userId")
    )
