"""The order of a list: both ways through both orders, and cursors that belong to one of them."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.query.paging import take_arguments
from gateway.model.patterns import ListOrder
from gateway.store.plan import Range
from tests.graph.fixtures import World, no_lanes

LISTS = {
    "shards": "activeOrders",
    "one partition": "reviewQueue",
    "time buckets": "readings",
}
WALK = """query ($order: ListOrder, $first: Int, $after: String, $last: Int, $before: String) {{ page: {field} {{
    edges {{ cursor }} nodes {{ {key} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"""
PAGING = "order: $order, first: $first, after: $after, last: $last, before: $before"


def query(name: str) -> str:
    if name == "time buckets":
        start = 'deviceId: "d-1001", recordedAt: {from: "2026-02-28T00:00:00Z", to: "2026-03-02T00:00:00Z"}, '
        return WALK.format(field=f"readings({start}{PAGING})", key="recordedAt")
    return WALK.format(field=f"{LISTS[name]}({PAGING})", key="orderId")


async def walked(world: World, name: str, order: str | None, *, backward: bool = False) -> list[Any]:
    seen: list[Any] = []
    cursor = None
    for _ in range(100):
        asked = {"last": 3, "before": cursor} if backward else {"first": 3, "after": cursor}
        page = (await world.ask(query(name), {"order": order, **asked}))["page"]
        seen = page["nodes"] + seen if backward else seen + page["nodes"]
        if not page["pageInfo"]["hasPreviousPage" if backward else "hasNextPage"]:
            return seen
        cursor = page["pageInfo"]["startCursor" if backward else "endCursor"]
    raise AssertionError("the pages do not end")


@pytest.fixture
def world() -> World:
    made = World()
    for key, row in made.memory.rows.items():
        if "ttl" in row:  # the readings have expired long ago
            made.memory.rows[key] = {name: value for name, value in row.items() if name != "ttl"}
    return made


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("lanes", [True, False])
async def test_a_list_is_walked_both_ways_in_both_orders(world: World, name: str, lanes: bool) -> None:
    if not lanes:
        world.endpoint = replace(world.endpoint, lanes=no_lanes(world))
    own = await walked(world, name, None)
    assert len(own) > 3
    orders = [await walked(world, name, order) for order in ("NEWEST_FIRST", "OLDEST_FIRST")]
    assert sorted(orders, key=lambda each: each != own) == [own, own[::-1]]
    for order, forwards in zip(("NEWEST_FIRST", "OLDEST_FIRST"), orders, strict=True):
        assert await walked(world, name, order, backward=True) == forwards
    assert not lanes or set(world.lanes) == {"lane"}


@pytest.mark.parametrize("name", LISTS)
async def test_a_cursor_of_one_order_is_refused_for_the_other(world: World, name: str) -> None:
    newest = (await world.ask(query(name), {"order": "NEWEST_FIRST", "first": 1}))["page"]["edges"][0]["cursor"]
    oldest = (await world.ask(query(name), {"order": "OLDEST_FIRST", "first": 1}))["page"]["edges"][0]["cursor"]
    for order, cursor in (("OLDEST_FIRST", newest), ("NEWEST_FIRST", oldest)):
        [error] = (await world.post(query(name), {"order": order, "after": cursor})).json()["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert "the cursor does not belong to this list" in error["message"]


async def test_the_listings_own_order_is_the_same_asked_for_or_not(world: World) -> None:
    plain = (await world.ask(query("shards"), {"first": 1}))["page"]
    assert (await world.ask(query("shards"), {"first": 1, "order": "NEWEST_FIRST"}))["page"] == plain


def test_what_a_plan_reads_is_left_of_the_arguments() -> None:
    listing = MODEL.listing("activeOrders")
    given = {"first": 3, "before": "x", "placedAt": {"to": 5}, "order": ListOrder.OLDEST_FIRST}
    assert take_arguments(listing, given) == [3, None, None, "x"]
    assert given == {"placedAt": Range(None, 5), "order": ListOrder.OLDEST_FIRST}
    given = {"order": ListOrder.NEWEST_FIRST}
    assert take_arguments(listing, given) == [None] * 4
    assert given == {}
