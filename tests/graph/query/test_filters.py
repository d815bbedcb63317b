"""Filtered lists through GraphQL: the same pages in lanes and by the reference, within what may be read."""

from dataclasses import replace
from typing import Any

import pytest

from tests.graph.fixtures import MemoryEndpoint, no_lanes

QUERY = """query ($filter: ActiveOrdersFilter, $first: Int, $after: String, $order: ListOrder) {
  activeOrders(filter: $filter, first: $first, after: $after, order: $order) {
    nodes { orderId status total } pageInfo { hasNextPage endCursor } } }"""
SHIPPED: dict[str, Any] = {"status": {"eq": "SHIPPED"}}


async def walked(api: MemoryEndpoint, query: str, **variables: Any) -> list[Any]:
    seen: list[Any] = []
    cursor = None
    for _ in range(200):
        page = (await api.ask(query, {**variables, "first": 2, "after": cursor}))["activeOrders"]
        seen += page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            return seen
        cursor = page["pageInfo"]["endCursor"]
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("order", ["NEWEST_FIRST", "OLDEST_FIRST"])
async def test_a_filtered_list_has_what_matches_of_the_whole_one(api: MemoryEndpoint, lanes: bool, order: str) -> None:
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    whole = await walked(api, QUERY, order=order)
    assert await walked(api, QUERY, order=order, filter={}) == whole
    found = await walked(api, QUERY, order=order, filter=SHIPPED)
    assert found == [each for each in whole if each["status"] == "SHIPPED"]
    both = {"status": {"in": ["SHIPPED", "PENDING"]}, "total": {"between": {"from": "300", "to": "800"}}}
    found = await walked(api, QUERY, order=order, filter=both)
    assert found == [each for each in whole if each["status"] != "CONFIRMED" and 300 <= float(each["total"]) <= 800]
    assert found
    assert not lanes or set(api.lanes) == {"lane"}


async def test_a_cursor_belongs_to_one_filter(api: MemoryEndpoint) -> None:
    page = (await api.ask(QUERY, {"filter": SHIPPED, "first": 1}))["activeOrders"]
    for other in ({"status": {"eq": "PENDING"}}, {}, {**SHIPPED, "total": {"gt": "1"}}):
        answer = (await api.post(QUERY, {"filter": other, "after": page["pageInfo"]["endCursor"]})).json()
        assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_a_wrong_value_is_refused_before_anything_is_read(api: MemoryEndpoint) -> None:
    answer = (await api.post(QUERY, {"filter": {"userId": {"in": []}}})).json()
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"
    assert not api.memory.sent


USERS = """query ($filter: AllUsersFilter) { allUsers(filter: $filter, first: 100) { nodes { userId createdAt } } }"""


@pytest.mark.parametrize("lanes", [True, False])
async def test_a_role_cannot_filter_by_what_it_may_not_read(api: MemoryEndpoint, lanes: bool) -> None:
    """What matched would tell the value: a letter of a name at a time."""
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    everybody = (await api.ask(USERS, token="acme/support"))["allUsers"]["nodes"]
    guesses: list[Any] = [{"name": {"contains": "Jonas"}}, {"email": {"beginsWith": "jonas"}}, {"email": {"eq": "x"}}]
    for given in guesses:
        found = (await api.ask(USERS, {"filter": given}, "acme/admin"))["allUsers"]["nodes"]
        assert len(found) < len(everybody)
        api.memory.sent.clear()
        answer = (await api.post(USERS, {"filter": given}, "acme/support")).json()
        assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
        assert not api.memory.sent
    named = (await api.ask(USERS, {"filter": {"name": {"contains": "Jonas"}}}, "acme/admin"))["allUsers"]["nodes"]
    assert named


async def test_a_filter_never_leaves_the_tenant(api: MemoryEndpoint) -> None:
    await api.ask(USERS, {"filter": {"name": {"contains": "a"}}}, "globex/admin")
    keys = {body["ExpressionAttributeValues"][":pk"]["S"] for _, body in api.memory.sent}
    assert keys == {f"TENANT#globex#USERS#{shard}" for shard in range(4)}
