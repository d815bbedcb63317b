"""Lists of indexes that do not carry whole items: one Query, and one batch more where something else is selected."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.query.page_price import PagePrice
from gateway.model.patterns import reads_through
from gateway.model.table import Index, TableSpec
from gateway.store.capacity_units import query_units, read_units
from gateway.store.item_sizes import expected_entry_bytes, expected_item_bytes
from gateway.store.plan import ReadLimits
from tests.graph.fixtures import MemoryEndpoint, ServedModel, no_lanes
from tests.graph.query.coded_shop import projected_shop, served_model

CARRIED = "{ ordersByStatus(status: SHIPPED, first: 50) { nodes { orderId total } } }"
MORE = "{ ordersByStatus(status: SHIPPED, first: 50) { nodes { orderId total status note } } }"
PAGES = """query ($first: Int, $after: String, $last: Int, $before: String) {
  ordersByStatus(status: SHIPPED, first: $first, after: $after, last: $last, before: $before) {
    nodes { orderId status } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""


@pytest.fixture(params=[True, False], ids=["lane", "reference"])
def shop(request: pytest.FixtureRequest) -> MemoryEndpoint:
    api = MemoryEndpoint(served=projected_shop())
    if not request.param:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    return api


def of(api: MemoryEndpoint, entity: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        key: row
        for key, row in api.memory.rows.items()
        if key[0].startswith("TENANT#acme#") and row["EntityType"]["S"] == entity and "CopyOf" not in row
    }


async def test_what_the_index_carries_is_one_query_and_the_rest_one_batch_more(shop: MemoryEndpoint) -> None:
    few = (await shop.ask(CARRIED))["ordersByStatus"]["nodes"]
    queries = shop.calls.count("Query")
    assert set(shop.calls) == {"Query"}
    many = (await shop.ask(MORE))["ordersByStatus"]["nodes"]
    assert (shop.calls.count("Query"), shop.calls.count("BatchGetItem"), len(shop.calls)) == (queries, 1, queries + 1)
    assert [each["orderId"] for each in many] == [each["orderId"] for each in few]
    assert {each["status"] for each in many} == {"SHIPPED"}
    assert "reference" in shop.lanes or set(shop.lanes) == {"lane"}


@pytest.fixture(scope="module")
def whole_items() -> ServedModel:
    return served_model(replace(projected_shop().model, table=TableSpec()))


async def test_it_answers_what_an_index_of_whole_items_answers(shop: MemoryEndpoint, whole_items: ServedModel) -> None:
    whole = MemoryEndpoint(served=whole_items)
    for query in (CARRIED, MORE, PAGES, '{ userByEmail(email: "nobody@example.com") { userId } }'):
        assert await shop.ask(query) == await whole.ask(query)


async def test_the_items_of_all_parents_come_in_the_same_batches(shop: MemoryEndpoint) -> None:
    query = "{ categories(first: 50) { nodes { products(first: 5) { nodes { productId title } } } } }"
    found = (await shop.ask(query))["categories"]["nodes"]
    assert len(found) > 1
    assert sum(len(each["products"]["nodes"]) for each in found) > 3
    # the categories and a Query for each; all categories and all products come in one batch each
    assert shop.calls.count("Query") == 1 + len(found)
    assert len(shop.calls) - shop.calls.count("Query") == 2


async def test_an_item_that_is_gone_is_left_out_and_the_pages_stay_honest(shop: MemoryEndpoint) -> None:
    """The index of the memory is filled from the rows, so the rows of the table are taken out of its answers."""
    gone = _hide_half(shop)
    walked, cursor = [], None
    for _ in range(50):
        page = (await shop.ask(PAGES, {"first": 1, "after": cursor}))["ordersByStatus"]
        walked += [each["orderId"] for each in page["nodes"]]
        if not page["pageInfo"]["hasNextPage"]:
            break
        assert page["pageInfo"]["endCursor"] is not None
        cursor = page["pageInfo"]["endCursor"]
    backward, cursor = [], None
    for _ in range(50):
        page = (await shop.ask(PAGES, {"last": 1, "before": cursor}))["ordersByStatus"]
        backward += [each["orderId"] for each in page["nodes"]]
        if not page["pageInfo"]["hasPreviousPage"]:
            break
        cursor = page["pageInfo"]["startCursor"]
    kept = {row["orderId"]["S"] for row in of(shop, "Order").values() if row["status"]["S"] == "SHIPPED"} - gone
    assert set(walked) == kept
    assert len(walked) == len(kept)
    assert backward == walked[::-1]


async def test_an_item_that_has_left_its_place_in_the_index_is_left_out(shop: MemoryEndpoint) -> None:
    def moved(answer: dict[str, Any]) -> dict[str, Any]:
        for row in answer.get("Responses", {}).get(shop.memory.name, ()):
            row["GSI2PK"] = {"S": row["GSI2PK"]["S"].replace("SHIPPED", "DELIVERED")}
        return answer

    assert (await shop.ask(MORE))["ordersByStatus"]["nodes"]
    shop.memory.always["BatchGetItem"] = moved
    assert (await shop.ask(MORE))["ordersByStatus"]["nodes"] == []


def _hide_half(api: MemoryEndpoint) -> set[str]:
    """Every other order is missing when it is asked for by its key."""
    orders = sorted(row["orderId"]["S"] for row in of(api, "Order").values())
    gone = set(orders[::2])

    def missing(answer: dict[str, Any]) -> dict[str, Any]:
        if answer.get("Item", {}).get("orderId", {}).get("S") in gone:
            del answer["Item"]
        for name, rows in answer.get("Responses", {}).items():
            answer["Responses"][name] = [row for row in rows if row.get("orderId", {}).get("S") not in gone]
        return answer

    api.memory.always |= {"BatchGetItem": missing, "GetItem": missing}
    return gone


async def test_no_item_of_another_tenant_is_asked_for(shop: MemoryEndpoint, caplog: pytest.LogCaptureFixture) -> None:
    """INVARIANT: an entry that another tenant put into this tenant's index leads nowhere."""
    own = (await shop.ask(MORE))["ordersByStatus"]["nodes"]
    row = next(row for row in of(shop, "Order").values() if row["status"]["S"] == "SHIPPED")
    forged = {**row, "PK": {"S": "TENANT#globex#ORDER#forged"}, "GSI2SK": {"S": f"{row['GSI2SK']['S']}x"}}
    shop.memory.put([forged])
    with caplog.at_level(logging.ERROR, "gateway.isolation"):
        assert (await shop.ask(MORE))["ordersByStatus"]["nodes"] == own
    assert "foreign_row" in str(caplog.records[-1].__dict__)
    assert "reference" in shop.lanes or shop.lanes["foreign_row"] == 1, "a lane steps back before it asks"
    gets = [body for operation, body in shop.memory.sent if operation != "Query"]
    assert "globex" not in str(gets)


async def test_keys_only_reads_even_a_count_of_edges_through_the_table(shop: MemoryEndpoint) -> None:
    category = next(iter(of(shop, "Product").values()))["categoryId"]["S"]
    query = "query ($id: ID!) { productsByCategory(categoryId: $id, first: 3) { edges { cursor } } }"
    found = (await shop.ask(query, {"id": category}))["productsByCategory"]["edges"]
    assert len(found) in (1, 2, 3)
    assert shop.calls[0] == "Query"
    assert len(shop.calls) == 2


async def test_a_role_sees_the_same_nulls(shop: MemoryEndpoint) -> None:
    answer = (
        await shop.post("{ allUsers(first: 2) { nodes { userId name createdAt } } }", token="acme/support")
    ).json()
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"FORBIDDEN"}
    assert [each["name"] for each in answer["data"]["allUsers"]["nodes"]] == [None, None]


def test_an_estimate_counts_the_items_that_are_read_through() -> None:
    model = projected_shop().model
    listing = model.listing("ordersByStatus")
    carried = PagePrice(model, listing, ReadLimits(), probed=False, attributes=frozenset({"orderId"}))
    more = PagePrice(model, listing, ReadLimits(), probed=False, attributes=frozenset({"orderId", "note"}))
    assert not reads_through(model, listing, carried.attributes)
    difference = more.each({"first": 10})[0] - carried.each({"first": 10})[0]
    assert difference == 10 * read_units(expected_item_bytes(model, "Order"))


async def test_a_list_of_posts_costs_less_without_their_texts() -> None:
    """What docs/capacity.md says of 20 posts of 6 KB, as the engine counts it."""
    units = {}
    for table in (MODEL.table, TableSpec(indexes=(*TableSpec().indexes, Index("GSI4"), Index("GSI5")))):
        api = MemoryEndpoint(served=served_model(_with(table)))
        posts = [api.memory.rows.pop(key) for key, row in of(api, "Post").items() if "GSI4PK" in row]
        api.memory.put(
            [
                {
                    **posts[0],
                    "PK": {"S": f"TENANT#acme#POST#p{number}"},
                    "GSI4SK": {"S": f"2026-01-01T00:00:00.{number:06}Z#p{number}"},
                    "content": {"S": "x" * 6_000},
                }
                for number in range(20)
            ]
        )
        units[table] = await _consumed(api, posts[0]["category"]["S"])
    assert [*units.values()] == [1, 16]


def _with(table: TableSpec) -> Any:
    domains = tuple(replace(domain, indexes=()) for domain in MODEL.domains)
    return replace(MODEL, domains=domains, table=table)


async def _consumed(api: MemoryEndpoint, category: str) -> float:
    found: list[float] = []

    def noted(answer: dict[str, Any]) -> dict[str, Any]:
        found.append(answer["ConsumedCapacity"]["CapacityUnits"])
        return answer

    api.memory.always["Query"] = noted
    query = "query ($c: ID!) { postsByCategory(category: $c, first: 20) { nodes { postId title } } }"
    assert len((await api.ask(query, {"c": category}))["postsByCategory"]["nodes"]) == 20
    return sum(found)


def test_an_entry_is_as_large_as_what_its_lists_read() -> None:
    assert expected_entry_bytes(MODEL, "Post", "GSI4") == 400 < expected_item_bytes(MODEL, "Post")
    assert expected_entry_bytes(MODEL, "Order", "GSI2") == expected_item_bytes(MODEL, "Order")
    listing = MODEL.listing("postsByCategory")
    price = PagePrice(MODEL, listing, ReadLimits(), probed=False, attributes=frozenset({"title"}))
    assert price.each({"first": 20})[0] == query_units(21, 400)
