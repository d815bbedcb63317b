"""The table by pages: shards merged, buckets in turn, expired items passed over, members with their item."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.aws.wire.errors import ThroughputExceeded
from gateway.errors import Internal, Throttled
from gateway.model.patterns import ItemCollection
from gateway.store.access import Access
from gateway.store.plan import QueryMany, Range, Window, plan_item_collection, plan_listing
from gateway.store.table import Table
from gateway.store.write.items import items_for
from gateway.testing.memory import Memory, Row
from tests.store.fixtures import ACME, MODEL, NOW, READING
from tests.store.things import NAMES, listing, operations, tag, thing, words


async def test_expired_items_do_not_make_a_page_short(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for number in range(20) for row in tag(f"w{number:02}", None if number % 4 == 0 else -1)])
    page = await table.query(access, listing("tagsOfThing", Window(4), thingId="t"))
    assert words(page.items) == ["w16", "w12", "w08", "w04"]
    assert page.more
    rest = await table.query(access, listing("tagsOfThing", Window(4, after=page.items[-1].position), thingId="t"))
    assert words(rest.items) == ["w00"]
    assert not rest.more


async def test_many_expired_items_take_few_calls(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for number in range(1_000) for row in tag(f"w{number:04}", -1)])
    memory.put(tag("a"))
    page = await table.query(access, listing("tagsOfThing", Window(1), thingId="t"))
    assert words(page.items) == ["a"]
    assert len(memory.sent) < 12


async def test_pages_cut_by_size_are_followed(memory: Memory, table: Table, access: Access) -> None:
    memory.page_bytes = 500
    memory.put([row for number in range(20) for row in tag(f"w{number:02}")])
    page = await table.query(access, listing("tagsOfThing", Window(15), thingId="t"))
    assert words(page.items) == [f"w{number:02}" for number in range(19, 4, -1)]
    assert page.more
    assert len(memory.sent) > 5
    # no more is read than one item beyond the page
    assert sum(call.items for call in access.calls) == 16


@pytest.mark.parametrize(("items", "more"), [(0, False), (1, True)])
async def test_a_page_of_no_items_shows_whether_there_is_something(
    memory: Memory, table: Table, access: Access, items: int, more: bool
) -> None:
    memory.put([row for number in range(items) for row in thing(f"t{number}")])
    page = await table.query(access, listing("thingsOfKind", Window(0), kind="k"))
    assert (page.items, page.more) == ((), more)


async def test_shards_are_read_side_by_side_and_merged(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for number in range(12) for row in thing(f"t{number}", minutes=number)])
    page = await table.query(access, listing("thingsOfKind", Window(5), kind="k"))
    assert [item.values["thingId"] for item in page.items] == ["t0", "t1", "t2", "t3", "t4"]
    assert page.more
    assert operations(memory) == ["Query"] * 3
    assert memory.most_running == 3
    assert {call.index for call in access.calls} == {"GSI1"}


async def test_one_shard_that_fails_fails_the_page(memory: Memory, table: Table, access: Access) -> None:
    memory.put(thing("a"))
    memory.script["Query"].append(ThroughputExceeded("too many requests for the database"))
    with pytest.raises(Throttled):
        await table.query(access, listing("thingsOfKind", Window(5), kind="k"))


async def test_strong_listings_read_consistently(memory: Memory, table: Table, access: Access) -> None:
    await table.query(access, listing("tagsOfThing", Window(5), thingId="t"))
    assert [body["ConsistentRead"] for _, body in memory.sent] == [True]


def reading(minutes: int) -> list[Row]:
    return items_for(MODEL, READING, ACME, {"device": "d", "at": NOW - timedelta(minutes=minutes), "value": minutes})


async def test_buckets_behind_a_full_page_are_not_read(memory: Memory, table: Table, access: Access) -> None:
    memory.put([row for minutes in range(0, 60 * 100, 10) for row in reading(minutes)])
    span = Range(NOW - timedelta(hours=100), NOW)
    page = await table.query(access, listing("readings", Window(10), device="d", at=span))
    assert len(page.items) == 10
    assert page.more
    assert len(memory.sent) <= 2 * 8  # one wave of eight hours, two shards each
    assert memory.most_running == 16


async def test_a_range_without_items_reads_every_bucket_once(memory: Memory, table: Table, access: Access) -> None:
    span = Range(NOW - timedelta(hours=19, minutes=30), NOW)
    page = await table.query(access, listing("readings", Window(10), device="d", at=span))
    assert (page.items, page.more) == ((), False)
    assert len(memory.sent) == 2 * 21


async def test_the_last_items_across_buckets_come_in_the_order_of_the_listing(
    memory: Memory, table: Table, access: Access
) -> None:
    memory.put([row for minutes in (5, 65, 125, 185, 245) for row in reading(minutes)])
    span = Range(NOW - timedelta(hours=5), NOW)
    query = plan_listing(
        MODEL,
        MODEL.listing("readings"),
        ACME,
        {"device": "d", "at": span},
        Window(3, backward=True),
        frozenset(["value"]),
    )
    page = await table.query(access, query)
    assert [int(item.values["value"]) for item in page.items] == [125, 65, 5]
    assert page.more


async def test_a_plan_without_partitions_asks_nothing(memory: Memory, table: Table, access: Access) -> None:
    nothing = QueryMany("Thing", (), Window(5))
    assert (await table.query(access, nothing)).items == ()
    assert memory.sent == []


def together(limit: int | None) -> Any:
    pattern = MODEL.patterns["thingWithTags"]
    assert isinstance(pattern, ItemCollection)
    return plan_item_collection(MODEL, pattern, ACME, {"thingId": "t"}, limit, NAMES)


async def test_an_item_and_its_first_members_come_from_one_query(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("t"), *(row for number in range(9) for row in tag(f"w{number}"))])
    root, members = await table.query_item_collection(access, together(3))
    assert root is not None
    assert root.values == {"thingId": "t"}
    # one more than asked for tells whether there are more
    assert words(members) == ["w8", "w7", "w6", "w5"]
    assert operations(memory) == ["Query"]


async def test_no_more_members_come_than_were_asked_for(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("t"), *tag("z", -1), *tag("y", -1), *(row for number in range(9) for row in tag(f"w{number}"))])
    _, members = await table.query_item_collection(access, together(1))
    assert words(members) == ["w8", "w7"]


async def test_members_without_their_item_are_not_lost(memory: Memory, table: Table, access: Access) -> None:
    memory.put(tag("w"))
    root, members = await table.query_item_collection(access, together(3))
    assert root is None
    assert words(members) == ["w"]


async def test_an_item_without_members_is_found_alone(memory: Memory, table: Table, access: Access) -> None:
    memory.put(thing("t"))
    root, members = await table.query_item_collection(access, together(0))
    assert root is not None
    assert members == []


async def test_without_a_limit_every_member_comes(memory: Memory, table: Table, access: Access) -> None:
    memory.put([*thing("t"), *(row for number in range(1_500) for row in tag(f"w{number:04}"))])
    root, members = await table.query_item_collection(access, together(None))
    assert root is not None
    assert len(members) == 1_500


async def test_a_stranger_between_an_item_and_its_members_is_an_error(
    memory: Memory, table: Table, access: Access
) -> None:
    [stranger] = tag("w")
    memory.put([{**stranger, "EntityType": {"S": "Reading"}}])
    with pytest.raises(Internal, match="expected an item of Thing and found Reading"):
        await table.query_item_collection(access, together(3))
