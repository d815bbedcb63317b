"""The order of a list: both ways through both orders, and cursors that belong to one of them."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.query.paging import take_arguments
from gateway.model.patterns import ListOrder
from gateway.store.plan import Range
from tests.graph.fixtures import MemoryEndpoint, no_lanes

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


async def walked(api: MemoryEndpoint, name: str, order: str | None, *, backward: bool = False) -> list[Any]:
    seen: list[Any] = []
    cursor = None
    for _ in range(100):
        window = {"last": 3, "before": cursor} if backward else {"first": 3, "after": cursor}
        page = (await api.ask(query(name), {"order": order, **window}))["page"]
        seen = page["nodes"] + seen if backward else seen + page["nodes"]
        if not page["pageInfo"]["hasPreviousPage" if backward else "hasNextPage"]:
            return seen
        cursor = page["pageInfo"]["startCursor" if backward else "endCursor"]
    raise AssertionError("the pages do not end")


@pytest.fixture
def api() -> MemoryEndpoint:
    made = MemoryEndpoint()
    for key, row in made.memory.rows.items():
        if "ttl" in row:  # the readings have expired long ago
            made.memory.rows[key] = {name: value for name, value in row.items() if name != "ttl"}
    return made


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("lanes", [True, False])
async def test_a_list_is_walked_both_ways_in_both_orders(api: MemoryEndpoint, name: str, lanes: bool) -> None:
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    own = await walked(api, name, None)
    assert len(own) > 3
    orders = [await walked(api, name, order) for order in ("NEWEST_FIRST", "OLDEST_FIRST")]
    assert sorted(orders, key=lambda each: each != own) == [own, own[::-1]]
    for order, forwards in zip(("NEWEST_FIRST", "OLDEST_FIRST"), orders, strict=True):
        assert await walked(api, name, order, backward=True) == forwards
    assert not lanes or set(api.lanes) == {"lane"}


@pytest.mark.parametrize("name", LISTS)
async def test_a_cursor_of_one_order_is_refused_for_the_other(api: MemoryEndpoint, name: str) -> None:
    newest = (await api.ask(query(name), {"order": "NEWEST_FIRST", "first": 1}))["page"]["edges"][0]["cursor"]
    oldest = (await api.ask(query(name), {"order": "OLDEST_FIRST", "first": 1}))["page"]["edges"][0]["cursor"]
    for order, cursor in (("OLDEST_FIRST", newest), ("NEWEST_FIRST", oldest)):
        [error] = (await api.post(query(name), {"order": order, "after": cursor})).json()["errors"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"
        assert "the cursor does not belong to this list" in error["message"]


async def test_the_listings_own_order_is_the_same_asked_for_or_not(api: MemoryEndpoint) -> None:
    plain = (await api.ask(query("shards"), {"first": 1}))["page"]
    assert (await api.ask(query("shards"), {"first": 1, "order": "NEWEST_FIRST"}))["page"] == plain


def test_what_a_plan_reads_is_left_of_the_arguments() -> None:
    listing = MODEL.listing("activeOrders")
    given = {"first": 3, "before": "x", "placedAt": {"to": 5}, "order": ListOrder.OLDEST_FIRST}
    assert take_arguments(listing, given) == [3, None, None, "x"]
    assert given == {"placedAt": Range(None, 5), "order": ListOrder.OLDEST_FIRST}
    given = {"order": ListOrder.NEWEST_FIRST}
    assert take_arguments(listing, given) == [None] * 4
    assert given == {}
