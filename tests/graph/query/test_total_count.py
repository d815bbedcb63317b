"""`totalCount` of lists that have a counter: in a lane and in the reference, for every role that may read the list."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import MemoryEndpoint, no_lanes
from tests.graph.query.coded_shop import coded_shop
from tests.graph.query.test_cost import post

WHOLE = "{ activeOrders(first: 100) { totalCount nodes { orderId } pageInfo { hasNextPage } } }"
COUNTS = "{ activeOrders { totalCount } paid: ordersByStatus(status: CONFIRMED) { n: totalCount __typename } }"


@pytest.fixture(params=[True, False], ids=["lane", "reference"])
def shop(request: pytest.FixtureRequest) -> MemoryEndpoint:
    api = MemoryEndpoint(served=coded_shop())
    if not request.param:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    return api


async def test_it_is_what_the_list_has(shop: MemoryEndpoint) -> None:
    page = (await shop.ask(WHOLE))["activeOrders"]
    assert page["totalCount"] == len(page["nodes"]) > 3
    assert not page["pageInfo"]["hasNextPage"]
    first = (await shop.ask("{ activeOrders(first: 1) { totalCount nodes { orderId } } }"))["activeOrders"]
    assert (first["totalCount"], len(first["nodes"])) == (page["totalCount"], 1)


async def test_alone_it_reads_nothing_but_its_rows(shop: MemoryEndpoint) -> None:
    found = await shop.ask(COUNTS)
    assert found["paid"]["__typename"] == "CountedOrderConnection"
    assert sorted(shop.calls) == ["BatchGetItem", "GetItem"], "four rows, and one"
    listed = await shop.ask("{ ordersByStatus(status: CONFIRMED, first: 100) { nodes { orderId } } }")
    assert found["paid"]["n"] == len(listed["ordersByStatus"]["nodes"]) > 0


async def test_the_rows_for_all_parents_are_one_batch(shop: MemoryEndpoint) -> None:
    own = [row for (pk, _), row in shop.memory.rows.items() if pk.startswith("TENANT#acme#") and "CopyOf" not in row]
    ids = sorted(row["authorId"]["S"] for row in own if row["EntityType"]["S"] == "Author")
    query = "query ($ids: [ID!]!) { authors(authorIds: $ids) { authorId posts { totalCount } } }"
    found = (await shop.ask(query, {"ids": ids}))["authors"]
    assert shop.calls.count("Query") == 0
    assert shop.calls.count("BatchGetItem") + shop.calls.count("GetItem") == 2, "the authors, then all counters"
    posts = [row["authorId"]["S"] for row in own if row["EntityType"]["S"] == "Post"]
    assert [each["posts"]["totalCount"] for each in found] == [posts.count(each["authorId"]) for each in found]


async def test_ranges_and_filters_leave_nothing_out_of_it(shop: MemoryEndpoint) -> None:
    whole = (await shop.ask(WHOLE))["activeOrders"]["totalCount"]
    query = '{ activeOrders(placedAt: { to: "2000-01-01T00:00:00Z" }) { totalCount nodes { orderId } } }'
    assert (await shop.ask(query))["activeOrders"] == {"totalCount": whole, "nodes": []}


async def test_it_follows_changes_and_is_the_tenants_own(shop: MemoryEndpoint) -> None:
    [mine, theirs] = [(await shop.ask(WHOLE, token=f"{each}/viewer"))["activeOrders"] for each in ("acme", "globex")]
    cancel = "mutation ($id: ID!) { cancelOrder(input: { orderId: $id }) { errors { code message } } }"
    answer = await shop.ask(cancel, {"id": await _open_order(shop)}, token="acme/admin")
    assert answer["cancelOrder"]["errors"] == []
    assert (await shop.ask(WHOLE))["activeOrders"]["totalCount"] == mine["totalCount"] - 1
    assert (await shop.ask(WHOLE, token="globex/viewer"))["activeOrders"]["totalCount"] == theirs["totalCount"]


async def _open_order(shop: MemoryEndpoint) -> str:
    query = "{ activeOrders(first: 100) { nodes { orderId status } } }"
    nodes = (await shop.ask(query))["activeOrders"]["nodes"]
    found: str = next(each["orderId"] for each in nodes if each["status"] in ("PENDING", "CONFIRMED"))
    return found


async def test_a_wrong_page_is_refused_although_nothing_is_read(shop: MemoryEndpoint) -> None:
    answer = (await shop.post("{ activeOrders(first: -1) { totalCount } }")).json()
    assert answer["data"] == {"activeOrders": None}
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


def test_lists_without_a_counter_have_none() -> None:
    kinds = core_schema(coded_shop().schema).type_map
    assert "totalCount" not in kinds["OrderConnection"].fields  # type: ignore[attr-defined]  # an object
    assert "CountedUserConnection" not in kinds
    query = kinds["Query"].fields  # type: ignore[attr-defined]  # an object
    assert str(query["reviewQueue"].type) == "OrderConnection"
    assert str(query["activeOrders"].type) == "CountedOrderConnection"


async def test_it_has_a_price_of_its_own() -> None:
    # each of its own: what one has read tells the next how large the items are
    alone, page, both = [
        (await post(MemoryEndpoint(served=coded_shop()), f"{{ activeOrders {{ {each} }} }}", cost=True)).json()[
            "extensions"
        ]["cost"]["estimate"]
        for each in ("totalCount", "nodes { orderId }", "nodes { orderId } totalCount")
    ]
    assert alone == 4 * 0.5
    assert both == alone + page


async def test_the_query_of_the_page_is_answered(shop: MemoryEndpoint) -> None:
    page = (Path(__file__).parents[3] / "docs" / "lists.md").read_text(encoding="utf-8")
    [query] = re.findall(r"```graphql counted\n(.*?)```", page, re.DOTALL)
    assert (await shop.ask(query))["activeOrders"]["totalCount"] > 3
