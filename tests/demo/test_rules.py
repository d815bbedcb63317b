"""The demo domains keep the rules that they declare."""

import json
import re
from decimal import Decimal
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.model.patterns import Lookup
from tests.demo.operations import rows
from tests.graph.fixtures import MemoryEndpoint

ADMIN = "acme/admin"


async def refused(api: MemoryEndpoint, field: str) -> list[tuple[str, str]]:
    name = field.partition("(")[0]
    answer = await api.ask(f"mutation {{ {field} {{ errors {{ code field }} }} }}", token=ADMIN)
    return [(error["code"], error["field"]) for error in answer[name]["errors"]]


USER = 'createUser(input: {userId: "new", name: "N", email: "%s"})'
FUTURE = "2999-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("field", "errors"),
    [
        (USER % "not an email", [("INVALID", "email")]),
        ('createUser(input: {userId: "new", name: "", email: "n@x.org"})', [("INVALID", "name")]),
        ('createCategory(input: {categoryId: "c", title: ""})', [("INVALID", "title")]),
        (f'createSession(input: {{userId: "ghost", expiresAt: "{FUTURE}"}})', [("NOT_FOUND", "userId")]),
        ('createSession(input: {userId: "u-1001", expiresAt: "2020-01-01T00:00:00Z"})', [("INVALID", "expiresAt")]),
        ('createNotification(input: {userId: "ghost", text: "t", read: false})', [("NOT_FOUND", "userId")]),
        ('updateProduct(input: {productId: "p-1001", categoryId: "no-such"})', [("NOT_FOUND", "categoryId")]),
        ('updateProduct(input: {productId: "p-1001", supplierId: "no-such"})', [("NOT_FOUND", "supplierId")]),
        ('removeCategory(input: {categoryId: "tools"})', [("IN_USE", "categoryId")]),
        ('setStock(input: {productId: "p-1001", available: -1})', [("INVALID", "available")]),
        ('setStock(input: {productId: "ghost", available: 1})', [("NOT_FOUND", "productId")]),
        ('updateProduct(input: {productId: "p-1001", currency: "ZZZ"})', [("INVALID", "currency")]),
        ('verifyEmail(input: {userId: "u-1001", email: "nobody@x.org"})', [("NOT_FOUND", "userId")]),
    ],
)
async def test_what_breaks_a_rule_is_refused(api: MemoryEndpoint, field: str, errors: list[tuple[str, str]]) -> None:
    assert await refused(api, field) == errors


async def test_an_address_is_taken_and_found_in_any_case(api: MemoryEndpoint) -> None:
    assert await refused(api, USER % "Case@X.Org") == []
    assert ("ALREADY_EXISTS", "email") in await refused(api, (USER % "case@x.org").replace('"new"', '"other"'))
    found: dict[str, Any] = await api.ask('{ userByEmail(email: "CASE@x.org") { userId email } }')
    assert found["userByEmail"] == {"userId": "new", "email": "case@x.org"}


async def test_a_product_does_not_begin_with_the_stock_of_its_predecessor(api: MemoryEndpoint) -> None:
    product = '{productId: "n", title: "t", price: "1", currency: "EUR", categoryId: "tools"}'
    assert await refused(api, f"createProduct(input: {product})") == []
    assert await refused(api, 'setStock(input: {productId: "n", available: 7})') == []
    assert await refused(api, 'removeProduct(input: {productId: "n"})') == []
    assert await refused(api, f"createProduct(input: {product})") == []
    assert (await api.ask('{ product(productId: "n") { stock { available } } }'))["product"] == {"stock": None}


async def test_prices_have_two_digits_after_the_point_as_dynamodb_stores_them(api: MemoryEndpoint) -> None:
    product = '{productId: "n", title: "t", price: "%s", currency: "EUR", categoryId: "tools"}'
    assert await refused(api, f"createProduct(input: {product % '0.123'})") == [("INVALID", "price")]
    yen = (product % "1").replace("EUR", "JPY")
    assert await refused(api, f"createProduct(input: {yen})") == [("INVALID", "currency")]
    made = await api.ask(
        f"mutation {{ createProduct(input: {product % '0.1'}) {{ product {{ price }} }} }}", token=ADMIN
    )
    assert made["createProduct"] == {"product": {"price": "0.10"}}
    place = """mutation { placeOrder(input: {userId: "u-1001", lines: [{productId: "n", quantity: 3}]}) {
      order { orderId total items { unitPrice } lines { lineTotal unitPrice } } } }"""
    assert await refused(api, 'setStock(input: {productId: "n", available: 7})') == []
    answer = await api.ask(place, token=ADMIN)
    order = answer["placeOrder"]["order"]
    line = {"lineTotal": "0.30", "unitPrice": "0.10"}
    assert (order["total"], order["items"], order["lines"]) == ("0.30", [{"unitPrice": "0.10"}], [line])
    # the table drops the zeros
    for key, row in api.memory.rows.items():
        numbers = [name for name in ("price", "total", "unitPrice") if "N" in row.get(name, {})]
        api.change(*key, **{name: {"N": str(Decimal(row[name]["N"]).normalize())} for name in numbers})
    texts = (
        '{ product(productId: "n") { price } }',
        '{ products(productIds: ["n", "p-1002"]) { price } }',
        '{ ordersOfUser(userId: "u-1001", first: 1) { nodes { total items { unitPrice } lines { lineTotal } } } }',
    )
    for text in texts:
        answer = await api.ask(text)
        numbers = re.findall(r'"(-?[0-9.]+)"', json.dumps(answer))
        assert numbers
        assert all(re.fullmatch(r"[0-9]+\.[0-9]{2}", number) for number in numbers), (text, answer)


async def test_an_invalid_month_is_an_error(api: MemoryEndpoint) -> None:
    answer = (await api.post('{ topPostsOfMonth(month: "garbage") { nodes { score } } }')).json()
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_stock_is_not_set_for_a_product_that_is_removed_at_the_same_time(api: MemoryEndpoint) -> None:
    product = '{productId: "n", title: "t", price: "1", currency: "EUR", categoryId: "tools"}'
    assert await refused(api, f"createProduct(input: {product})") == []

    def removed(answer: dict[str, Any]) -> dict[str, Any]:
        del api.memory.rows["TENANT#acme#PRODUCT#n", "DETAILS"]
        return answer

    api.memory.script["GetItem"].append(removed)
    assert await refused(api, 'setStock(input: {productId: "n", available: 7})') == [("NOT_FOUND", "productId")]
    assert ("TENANT#acme#PRODUCT#n", "STOCK") not in api.memory.rows


@pytest.mark.parametrize(("entity", "value"), [("email", "new@x.org"), ("phone", "+1-555-9999")])
async def test_a_contact_is_verified_once_the_user_has_confirmed_it(
    api: MemoryEndpoint, entity: str, value: str
) -> None:
    name, given = entity.title(), f'input: {{userId: "u-1001", {entity}: "{value}"}}'
    assert await refused(api, f"add{name}({given})") == []
    listed = f'{{ user(userId: "u-1001") {{ {entity}s {{ nodes {{ {entity} verified }} }} }} }}'
    for mutation, verified in ((None, False), (f"verify{name}({given})", True)):
        assert mutation is None or await refused(api, mutation) == []
        nodes = (await api.ask(listed))["user"][f"{entity}s"]["nodes"]
        assert {entity: value, "verified": verified} in nodes


async def test_products_are_found_by_a_tag(api: MemoryEndpoint) -> None:
    query = '{ allProducts(first: 50, filter: {tags: {contains: "sale"}}) { nodes { tags } } }'
    nodes = (await api.ask(query))["allProducts"]["nodes"]
    assert nodes
    assert all("sale" in node["tags"] for node in nodes)


async def test_an_order_shows_who_moved_it_and_when(api: MemoryEndpoint) -> None:
    order = '{userId: "u-1001", orderId: "o-new", lines: [{productId: "p-1001", quantity: 1}]}'
    assert await refused(api, f"placeOrder(input: {order})") == []
    assert await refused(api, 'changeOrderStatus(input: {orderId: "o-new", status: CONFIRMED})') == []
    assert await refused(api, 'changeOrderStatus(input: {orderId: "o-new", status: DELIVERED})') != []
    assert await refused(api, 'cancelOrder(input: {orderId: "o-new"})') == []
    query = '{ order(orderId: "o-new") { lines { quantity } history { nodes { id status actor at } } } }'
    found = (await api.ask(query))["order"]
    events = found["history"]["nodes"]
    assert [event["status"] for event in events] == ["PENDING", "CONFIRMED", "CANCELLED"]
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert {event["actor"] for event in events} == {"ada"}
    assert found["lines"] == [{"quantity": 1}]


@pytest.mark.parametrize(
    "listing",
    [
        'post(postId: "post-1001") { comments(first: 1) { nodes { id } } }',
        'user(userId: "u-1001") { subscriptions(first: 1) { nodes { id } } }',
        'user(userId: "u-1001") { emails(first: 1) { nodes { id } } }',
        'user(userId: "u-1001") { phones(first: 1) { nodes { id } } }',
        'order(orderId: "o-1001") { history(first: 1) { nodes { id } } }',
        "topPosts(first: 1) { nodes { id } }",
    ],
)
async def test_every_item_of_a_list_is_found_by_its_id(api: MemoryEndpoint, listing: str) -> None:
    found: Any = await api.ask(f"{{ {listing} }}")
    while "nodes" not in found:
        [found] = found.values()
    [node] = found["nodes"]
    again = await api.ask("query ($id: ID!) { node(id: $id) { id __typename } }", {"id": node["id"]})
    assert again["node"]["id"] == node["id"]


def test_every_type_has_an_id() -> None:
    nodes = {pattern.entity for pattern in MODEL.patterns.values() if isinstance(pattern, Lookup)}
    assert set(MODEL.entities) == nodes


ALL_ORDERS = "{ allOrders(first: 100) { nodes { orderId placedAt } pageInfo { hasNextPage } } }"
ACTIVE_ORDERS = "{ activeOrders(first: 100) { totalCount nodes { orderId } } }"


async def test_all_orders_are_listed_newest_first(api: MemoryEndpoint) -> None:
    page = (await api.ask(ALL_ORDERS))["allOrders"]
    stored = {row["orderId"]["S"] for row in rows(api, "Order")}
    assert {node["orderId"] for node in page["nodes"]} == stored
    assert [node["placedAt"] for node in page["nodes"]] == sorted((n["placedAt"] for n in page["nodes"]), reverse=True)
    assert not page["pageInfo"]["hasNextPage"]


async def test_active_orders_are_counted_as_they_come_and_go(api: MemoryEndpoint) -> None:
    async def counted() -> int:
        page = (await api.ask(ACTIVE_ORDERS))["activeOrders"]
        assert page["totalCount"] == len(page["nodes"])
        return int(page["totalCount"])

    before = await counted()
    order = '{userId: "u-1001", orderId: "o-new", lines: [{productId: "p-1001", quantity: 1}]}'
    assert await refused(api, f"placeOrder(input: {order})") == []
    assert await counted() == before + 1
    for status, more in (("CONFIRMED", 1), ("REVIEW", 0), ("CONFIRMED", 1), ("SHIPPED", 1), ("DELIVERED", 0)):
        assert await refused(api, f'changeOrderStatus(input: {{orderId: "o-new", status: {status}}})') == []
        assert await counted() == before + more
