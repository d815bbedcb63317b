"""What the schema answers: patterns, relations both ways, pages both ways, ids, and nothing of another tenant."""

from typing import Any

import pytest

from gateway.errors import Unavailable
from gateway.graph.global_id import global_id
from gateway.model.tenant import tenant_id
from tests.fixtures import CATALOGUES
from tests.graph.fixtures import MemoryEndpoint

PAGE = """
query ($first: Int, $after: String, $last: Int, $before: String) {
  ordersByStatus(status: DELIVERED, first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { orderId placedAt } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}
"""


async def _walk(api: MemoryEndpoint, size: int, *, backward: bool) -> list[str]:
    seen: list[str] = []
    variables: dict[str, Any] = {"last" if backward else "first": size}
    for _ in range(100):
        page = (await api.ask(PAGE, variables))["ordersByStatus"]
        ids = [edge["node"]["orderId"] for edge in page["edges"]]
        seen = ids + seen if backward else seen + ids
        info = page["pageInfo"]
        assert info["startCursor"] == (page["edges"][0]["cursor"] if page["edges"] else None)
        if not info["hasPreviousPage" if backward else "hasNextPage"]:
            return seen
        variables["before" if backward else "after"] = info["startCursor" if backward else "endCursor"]
    raise AssertionError("the pages never end")


@pytest.mark.parametrize("size", [1, 3, 7, 100])
async def test_pages_follow_each_other_without_gaps_in_both_directions(api: MemoryEndpoint, size: int) -> None:
    whole = (await api.ask(PAGE, {"first": 100}))["ordersByStatus"]["edges"]
    ordered = [edge["node"]["orderId"] for edge in whole]
    timestamps = [edge["node"]["placedAt"] for edge in whole]
    assert timestamps == sorted(timestamps, reverse=True)
    assert len(set(ordered)) == len(ordered) > 7
    assert await _walk(api, size, backward=False) == ordered
    assert await _walk(api, size, backward=True) == ordered


async def test_page_info_is_right_at_both_ends(api: MemoryEndpoint) -> None:
    first = (await api.ask(PAGE, {"first": 3}))["ordersByStatus"]
    assert first["pageInfo"]["hasPreviousPage"] is False
    assert first["pageInfo"]["hasNextPage"] is True
    second = (await api.ask(PAGE, {"first": 3, "after": first["pageInfo"]["endCursor"]}))["ordersByStatus"]
    assert second["pageInfo"]["hasPreviousPage"] is True
    back = (await api.ask(PAGE, {"last": 3, "before": second["pageInfo"]["startCursor"]}))["ordersByStatus"]
    assert back["edges"] == first["edges"]
    assert back["pageInfo"] == first["pageInfo"]


@pytest.mark.parametrize("size", [1, 2, 3, 9])
async def test_page_info_is_right_between_two_cursors(api: MemoryEndpoint, size: int) -> None:
    whole = (await api.ask(PAGE, {"first": 6}))["ordersByStatus"]["edges"]
    for start, end in [(0, 1), (0, 3), (1, 5)]:
        between = {"after": whole[start]["cursor"], "before": whole[end]["cursor"]}
        for direction in ("first", "last"):
            page = (await api.ask(PAGE, {direction: size, **between}))["ordersByStatus"]
            inner = whole[start + 1 : end]
            assert page["edges"] == (inner[:size] if direction == "first" else inner[-size:])
            assert page["pageInfo"]["hasNextPage"] is True
            assert page["pageInfo"]["hasPreviousPage"] is True


async def test_a_page_before_a_cursor_shows_that_there_is_more_behind_it(api: MemoryEndpoint) -> None:
    whole = (await api.ask(PAGE, {"first": 100}))["ordersByStatus"]["edges"]
    page = (await api.ask(PAGE, {"first": 5, "before": whole[1]["cursor"]}))["ordersByStatus"]
    assert page["edges"] == whole[:1]
    assert page["pageInfo"]["hasNextPage"] is True
    assert page["pageInfo"]["hasPreviousPage"] is False
    page = (await api.ask(PAGE, {"last": 5, "after": whole[-2]["cursor"]}))["ordersByStatus"]
    assert page["edges"] == whole[-1:]
    assert page["pageInfo"]["hasNextPage"] is False
    assert page["pageInfo"]["hasPreviousPage"] is True


async def test_a_page_of_no_items_shows_whether_there_is_anything(api: MemoryEndpoint) -> None:
    page = (await api.ask(PAGE, {"first": 0}))["ordersByStatus"]
    assert page["edges"] == []
    assert page["pageInfo"]["hasNextPage"] is True


async def test_relations_lead_both_ways(api: MemoryEndpoint) -> None:
    data = await api.ask(
        """{ user(userId: "u-1001") { emails { nodes { email user { userId } } } phones { nodes { phone } }
             orders(first: 1) { nodes { user { userId } lines { order { orderId } product { productId
             category { categoryId products(first: 1) { nodes { productId } } } } } } } } }"""
    )
    user = data["user"]
    assert user["emails"]["nodes"][0]["user"]["userId"] == "u-1001"
    order = user["orders"]["nodes"][0]
    assert order["user"]["userId"] == "u-1001"
    assert order["lines"]


async def test_a_user_is_found_by_every_address(api: MemoryEndpoint) -> None:
    data = await api.ask('{ user(userId: "u-1002") { emails { nodes { email } } } }')
    for node in data["user"]["emails"]["nodes"]:
        found = await api.ask("query ($email: String!) { userByEmail(email: $email) { userId } }", node)
        assert found["userByEmail"]["userId"] == "u-1002"
    assert (await api.ask('{ userByEmail(email: "nobody@acme.example") { userId } }'))["userByEmail"] is None


async def test_products_are_found_in_a_range_of_prices(api: MemoryEndpoint) -> None:
    query = """query ($price: DecimalRange) {
      productsByCategory(categoryId: "tools", price: $price, first: 50) { nodes { productId price } } }"""
    every = (await api.ask(query))["productsByCategory"]["nodes"]
    prices = [float(node["price"]) for node in every]
    assert prices == sorted(prices)
    low, high = every[1]["price"], every[-2]["price"]
    some = (await api.ask(query, {"price": {"from": low, "to": high}}))["productsByCategory"]["nodes"]
    assert some == every[1:-1]
    assert (await api.ask(query, {"price": {"from": high}}))["productsByCategory"]["nodes"] == every[-2:]


async def test_what_does_not_exist_is_null(api: MemoryEndpoint) -> None:
    data = await api.ask('{ user(userId: "nobody") { name } users(userIds: ["nobody", "u-1001"]) { userId } }')
    assert data == {"user": None, "users": [None, {"userId": "u-1001"}]}


async def test_a_user_without_profile_is_null_even_with_orders_beside(api: MemoryEndpoint) -> None:
    del api.memory.rows["TENANT#acme#USER#u-1001", "PROFILE"]
    data = await api.ask('{ user(userId: "u-1001") { name orders(first: 3) { nodes { orderId } } } }')
    assert data == {"user": None}


NODES = """query ($ids: [ID!]!) {
  nodes(ids: $ids) { __typename id ... on Product { productId } ... on User { userId } }
}"""


async def test_global_ids_lead_back_to_their_items(api: MemoryEndpoint) -> None:
    data = await api.ask('{ product(productId: "p-1001") { id } user(userId: "u-1001") { id } }')
    ids = [data["product"]["id"], data["user"]["id"]]
    found = (await api.ask(NODES, {"ids": ids}))["nodes"]
    assert found == [
        {"__typename": "Product", "id": ids[0], "productId": "p-1001"},
        {"__typename": "User", "id": ids[1], "userId": "u-1001"},
    ]
    one = await api.ask("query ($id: ID!) { node(id: $id) { id } }", {"id": ids[0]})
    assert one == {"node": {"id": ids[0]}}


async def test_unknown_foreign_and_forged_ids_are_null_alike(api: MemoryEndpoint) -> None:
    own = (await api.ask('{ product(productId: "p-1001") { id } }'))["product"]["id"]
    foreign = (await api.ask('{ product(productId: "p-1001") { id } }', token="globex/viewer"))["product"]["id"]
    assert own != foreign
    forged = own[:-2] + ("AA" if own[-2:] != "AA" else "BB")
    wrong = [foreign, forged, own + "=", own + "==", "nothing", "", "#", "ä" * 40, "A" * 3_000]
    assert (await api.ask(NODES, {"ids": wrong}))["nodes"] == [None] * len(wrong)


@pytest.mark.parametrize(
    "parts",
    [
        ("Product", ""),
        ("Product", "*"),
        ("Product", "x" * 1_000),
        ("Product", "ä\x00"),
        ("Counter", "NOTHING", "p-1", "00"),
        ("Counter", "LIKES", "p-1", "many"),
        ("Counter", "LIKES", "p-1", "123"),
    ],
)
async def test_an_id_that_only_pretends_to_be_made_here_is_null_too(
    api: MemoryEndpoint, parts: tuple[str, ...]
) -> None:
    """Its check has no secret, so anybody can make one; what it names is not a key, and no error says so."""
    own = (await api.ask('{ product(productId: "p-1001") { id } }'))["product"]["id"]
    made = global_id(tenant_id("acme"), parts[0], parts[1:])
    found = (await api.ask(NODES, {"ids": [made, own]}))["nodes"]
    assert found[0] is None
    assert found[1]["productId"] == "p-1001"


async def test_what_is_internal_has_no_id_and_no_field(api: MemoryEndpoint) -> None:
    row = next(row for row in api.memory.rows.values() if row["PK"]["S"].startswith("TENANT#acme#COUNTER#"))
    parts = (row["counter"]["S"], row["subjectId"]["S"], f"{int(row['slot']['N']):02}")
    made = global_id(tenant_id("acme"), "Counter", parts)
    assert (await api.ask(NODES, {"ids": [made]}))["nodes"] == [None]
    for query in (
        '{ counterShard(counter: LIKES, subjectId: "p", slot: 0) { count } }',
        "{ node(id: 1) { ... on Counter { count } } }",
    ):
        assert "ounter" in (await api.post(query)).json()["errors"][0]["message"]
    kinds = (await api.ask("{ __schema { types { name } } }"))["__schema"]["types"]
    assert not {"Counter", "CounterName", "CounterConnection"} & {kind["name"] for kind in kinds}


async def test_what_may_not_be_listed_does_not_take_other_lists_along(api: MemoryEndpoint) -> None:
    query = '{ activeOrders(first: 1) { nodes { orderId } } userByPhone(phone: "+4930123456") { userId } }'
    answer = (await api.post(query, token="acme/support")).json()
    assert answer["data"]["activeOrders"]["nodes"]
    assert answer["data"]["userByPhone"] is None
    assert [(error["path"], error["extensions"]["code"]) for error in answer["errors"]] == [
        (["userByPhone"], "FORBIDDEN")
    ]


async def test_a_list_that_fails_does_not_take_other_lists_along(api: MemoryEndpoint) -> None:
    api.memory.script["Query"].append(Unavailable("aws is not reachable"))
    query = """{ author(authorId: "nobody") { penName } a: user(userId: "u-1001") { phones { nodes { phone } } }
                 b: user(userId: "u-1001") { emails { nodes { email } } } }"""
    answer = (await api.post(query)).json()
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["UNAVAILABLE"]
    assert [answer["data"]["a"], answer["data"]["b"]].count(None) == 1


async def test_a_node_that_may_not_be_read_does_not_take_the_others_along(api: MemoryEndpoint) -> None:
    ids = [
        (await api.ask(f"{{ {each} {{ id }} }}"))[each.split("(")[0]]["id"]
        for each in ('product(productId: "p-1001")', 'user(userId: "u-1001")')
    ]
    api.memory.script["GetItem"].append(Unavailable("aws is not reachable"))
    answer = (await api.post(NODES, {"ids": ids})).json()
    assert [error["path"] for error in answer["errors"]] == [["nodes", 0]]
    assert answer["data"]["nodes"][0] is None
    assert answer["data"]["nodes"][1]["userId"] == "u-1001"


@pytest.mark.parametrize("tenant", ["acme", "globex", "initech"])
async def test_a_tenant_sees_its_own_rows_and_no_other_tenants(api: MemoryEndpoint, tenant: str) -> None:
    response = await api.post(
        """{ ordersByStatus(status: DELIVERED, first: 50) {
               nodes { orderId note user { name email address { city } } } }
             activeOrders(first: 50) { nodes { orderId note } } reviewQueue(first: 50) { nodes { note } }
             user(userId: "u-1001") { name email } product(productId: "p-1001") { title description } }""",
        token=f"{tenant}/viewer",
    )
    text = response.text
    assert "errors" not in text
    assert CATALOGUES[tenant] in text
    for other in CATALOGUES.keys() - {tenant}:
        assert CATALOGUES[other] not in text
        assert f"@{other}.example" not in text


async def test_a_row_of_another_tenant_in_an_index_is_never_answered(api: MemoryEndpoint) -> None:
    """GSI poisoning: IAM cannot see index keys on writes, so every row read is checked."""
    row = next(
        row
        for row in api.memory.rows.values()
        if row.get("GSI2PK", {}).get("S", "").startswith("TENANT#globex#STATUS#DELIVERED")
    )
    key = row["GSI2PK"]["S"].replace("globex", "acme")
    api.memory.put([{**row, "GSI2PK": {"S": key}}])
    response = await api.post("{ ordersByStatus(status: DELIVERED, first: 50) { nodes { orderId note } } }")
    assert "errors" not in response.json()
    assert CATALOGUES["globex"] not in response.text
