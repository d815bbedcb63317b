from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from gateway.model.entity import Bucket, Collection, Copy, Entity, Key, Shards
from gateway.model.patterns import AccessPattern, ItemCollection, Listing, Lookup
from tests.model.build import fault, on, passes, thing

TOGETHER = ItemCollection(name="rootWithLeaves", entity="Root", collection="leaves", description="")
LEAVES = Listing(name="leavesOfRoot", entity="Leaf", index="byRoot", newest_first=True, description="")


def root(sk: str = "ROOT", pk: str = "ROOT#{ownerId}", **more: Any) -> Entity:
    bind = more.pop("bind", {})
    leaves = Collection(name="leaves", pattern=more.pop("pattern", "leavesOfRoot"), description="", bind=bind)
    return thing(name="Root", key=Key(pk=pk, sk=sk, **more), relations=(leaves,))


def leaf(sk: str = "LEAF#{madeAt}#{thingId}", pk: str = "ROOT#{ownerId}", **more: Any) -> Entity:
    return thing(
        name="Leaf", key=Key(pk="LEAF#{thingId}", sk="META"), copies=(Copy(name="byRoot", pk=pk, sk=sk, **more),)
    )


def neighbour(sk: str) -> Entity:
    return thing(name="Neighbour", key=Key(pk="ROOT#{ownerId}", sk=sk))


def said(*entities: Entity, patterns: tuple[AccessPattern, ...] = (LEAVES, TOGETHER)) -> str:
    text = fault(*entities, patterns=patterns)
    assert text.startswith("pattern rootWithLeaves: ")
    return text.removeprefix("pattern rootWithLeaves: ")


@pytest.mark.parametrize(
    "sk",
    [
        "BRANCH#{thingId}",
        "LEAE",
        "ROOT#{thingId}",
        "ROOTS",
        "S#{thingId}",
        "LEA#{thingId}",
        "BRANCH#TWIG#{thingId}",
    ],
)
def test_one_query_reads_an_item_and_its_members_past_all_neighbours(sk: str) -> None:
    assert passes(root(), leaf(), neighbour(sk), patterns=(LEAVES, TOGETHER))


@pytest.mark.parametrize("sk", ["LEAFS#{thingId}", "LEAVES", "M#{thingId}", "M", "ROO#{thingId}"])
def test_neighbours_in_between_are_refused(sk: str) -> None:
    assert said(root(), leaf(), neighbour(sk)) == f"items of Neighbour (`{sk}`) are in between"


def test_a_window_of_time_is_not_read_with_the_item() -> None:
    recent = replace(LEAVES, between="madeAt", window=timedelta(hours=1))
    words = "`leavesOfRoot` reads a window of time, which one Query for both cannot"
    assert said(root(), leaf(), patterns=(recent, TOGETHER)) == words


def test_a_neighbour_that_can_be_anywhere_is_refused() -> None:
    assert said(root(), leaf(), neighbour("{madeAt}")) == "items of Neighbour (`{madeAt}`) are in between"


def test_neighbours_above_are_no_matter_when_the_item_comes_first_going_up() -> None:
    ascending = Listing(name="leavesOfRoot", entity="Leaf", index="byRoot", description="")
    first = root(sk="BASE")
    assert passes(first, leaf(), neighbour("LEAFS#{thingId}"), patterns=(ascending, TOGETHER))
    assert said(first, leaf(), neighbour("CORE"), patterns=(ascending, TOGETHER)).endswith("are in between")


def test_items_of_another_index_lie_nowhere_in_between() -> None:
    elsewhere = thing(
        name="Else", key=Key(pk="ELSE#{thingId}", sk="META"), indexes=(on(pk="ROOT#{ownerId}", sk="M#{thingId}"),)
    )
    assert passes(root(), leaf(), elsewhere, patterns=(LEAVES, TOGETHER))


@pytest.mark.parametrize("name", ["roots", "ownerId"])
def test_the_collection_exists(name: str) -> None:
    wrong = ItemCollection(name="rootWithLeaves", entity="Root", collection=name, description="")
    assert said(root(), leaf(), patterns=(LEAVES, wrong)) == f"Root has no collection `{name}`"


def test_members_of_an_index_cannot_be_read_with_the_item() -> None:
    indexed = thing(
        name="Leaf", key=Key(pk="LEAF#{thingId}", sk="META"), indexes=(on(pk="ROOT#{ownerId}", sk="LEAF#{thingId}"),)
    )
    listing = Listing(name="leavesOfRoot", entity="Leaf", index="GSI1", newest_first=True, description="")
    assert said(root(), indexed, patterns=(listing, TOGETHER)).startswith("both must be in the table")


def test_members_without_words_of_their_own_would_mix_with_the_item() -> None:
    member = thing(name="Leaf", key=Key(pk="ROOT#{ownerId}", sk="{madeAt}#{thingId}"))
    leaves = Collection(name="leaves", pattern="leaf", each="partIds", bind={"thingId": "partIds"}, description="")
    base = thing(name="Root", key=Key(pk="ROOT#{ownerId}", sk="ROOT"), relations=(leaves,))
    lookup = Lookup(name="leaf", entity="Leaf", description="")
    assert said(base, member, patterns=(lookup, TOGETHER)).startswith("both must be in the table")


def test_the_item_has_nothing_but_words_in_its_sort_key() -> None:
    assert said(root(sk="ROOT#{thingId}"), leaf()).startswith("both must be in the table")


@pytest.mark.parametrize(
    "members",
    [
        leaf(pk="ROOT#{email}"),
        leaf(pk="ROOTS#{ownerId}"),
        leaf(pk="ROOT#{ownerId}#{shard}", shards=Shards(4, by="thingId")),
    ],
)
def test_both_lie_in_one_partition(members: Entity) -> None:
    assert said(root(), members).endswith("are not one partition")


def test_two_numbers_of_different_width_are_not_one_partition() -> None:
    assert said(root(pk="ROOT#{count:5}"), leaf(pk="ROOT#{count:6}")).endswith("are not one partition")


def test_a_relation_bound_to_another_attribute_leads_to_another_partition() -> None:
    assert said(root(bind={"ownerId": "thingId"}), leaf()).endswith("are not one partition")


def test_a_relation_may_be_bound_to_the_attribute_of_the_items_key() -> None:
    bound = root(pk="ROOT#{thingId}", bind={"ownerId": "thingId"})
    assert passes(bound, leaf(), patterns=(LEAVES, TOGETHER))


@pytest.mark.parametrize("more", [{"shards": Shards(4, by="ownerId")}, {"bucket": Bucket("madeAt", "day")}])
def test_what_is_spread_over_partitions_is_not_one(more: dict[str, Any]) -> None:
    part = "{shard}" if "shards" in more else "{bucket}"
    pk = f"ROOT#{{ownerId}}#{part}"
    spread = Listing(
        name="leavesOfRoot", entity="Leaf", index="byRoot", newest_first=True, description="", between="madeAt"
    )
    base = root(pk="ROOT#{ownerId}")
    assert said(base, leaf(pk=pk, **more), patterns=(spread, TOGETHER)).endswith("are not one partition")


def test_members_in_shards_of_their_own_are_not_in_the_partition_of_the_item() -> None:
    base = root(pk="ROOT#{ownerId}#{shard}", shards=Shards(4, by="ownerId"))
    members = leaf(pk="ROOT#{ownerId}#{shard}", shards=Shards(4, by="thingId"))
    assert said(base, members).endswith("are not one partition")


@pytest.mark.parametrize(("sk", "newest_first"), [("ROOT", False), ("BASE", True)])
def test_the_item_comes_first_in_reading_order(sk: str, newest_first: bool) -> None:
    listing = Listing(name="leavesOfRoot", entity="Leaf", index="byRoot", newest_first=newest_first, description="")
    assert (
        said(root(sk=sk), leaf(), patterns=(listing, TOGETHER))
        == f"`{sk}` must come before the members in reading order"
    )


def test_a_listing_that_is_narrowed_cannot_be_read_with_the_item() -> None:
    narrowed = Listing(
        name="leavesOfRoot", entity="Leaf", index="byRoot", newest_first=True, where=("madeAt",), description=""
    )
    assert said(root(), leaf(), patterns=(narrowed, TOGETHER)).startswith("`leavesOfRoot` is narrowed by ['madeAt']")


@pytest.mark.parametrize("sk", ["ROOT", "BASE"])
def test_members_by_a_lookup_may_lie_on_either_side(sk: str) -> None:
    member = thing(name="Leaf", key=Key(pk="ROOT#{ownerId}", sk="LEAF#{thingId}"))
    base = thing(
        name="Root",
        key=Key(pk="ROOT#{ownerId}", sk=sk),
        relations=(
            Collection(name="leaves", pattern="leaf", each="partIds", bind={"thingId": "partIds"}, description=""),
        ),
    )
    lookup = Lookup(name="leaf", entity="Leaf", description="")
    assert passes(base, member, patterns=(lookup, TOGETHER))
