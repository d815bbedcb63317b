"""No N+1: the number of DynamoDB calls follows from the shape of an operation, not from how much it returns."""

from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.model.tenant import tenant_id
from gateway.store.write.items import items_for
from tests.graph.fixtures import NOW, MemoryEndpoint

SHARDS = 4

ORDERS = """
query ($first: Int!) {
  ordersByStatus(status: DELIVERED, first: $first) {
    nodes { orderId user { name } lines { quantity product { title price } } }
  }
}
"""

OPERATIONS: list[tuple[str, str, dict[str, int]]] = [
    ("a user is one read", '{ user(userId: "u-1001") { name } }', {"GetItem": 1}),
    (
        "a user with the newest orders is one Query",
        '{ user(userId: "u-1001") { name orders(first: 10) { nodes { orderId } } } }',
        {"Query": 1},
    ),
    (
        "an order with its lines is one Query",
        '{ order(orderId: "o-1001") { status lines { title quantity } } }',
        {"Query": 1},
    ),
    (
        "an order with lines and products adds one batch",
        '{ order(orderId: "%ORDER%") { lines { product { title } } } }',
        {"Query": 1, "BatchGetItem": 1},
    ),
    (
        "many users at once are one batch",
        '{ users(userIds: ["u-1001", "u-1002", "u-1003", "u-1001"]) { name } }',
        {"BatchGetItem": 1},
    ),
    (
        "a user by e-mail is a Query on the index and a read",
        '{ userByEmail(email: "jonas.kaya@acme.example") { userId name } }',
        {"Query": 1, "GetItem": 1},
    ),
    (
        "orders of a status read every shard once, and their users in one batch",
        "{ ordersByStatus(status: DELIVERED, first: 20) { nodes { orderId user { name } } } }",
        {"Query": SHARDS, "BatchGetItem": 1},
    ),
    (
        "five levels of references are a batch each",
        """{ activeOrders(first: 20) { nodes { user { userId } lines { product {
             title category { title } supplier { title } stock { available } } } } } }""",
        {"Query": SHARDS, "BatchGetItem": 6},
    ),
    (
        "products of a category with stock and category: the category is asked for once",
        """{ productsByCategory(categoryId: "tools", first: 8) {
             nodes { title stock { available } category { title } } } }""",
        {"Query": 1, "BatchGetItem": 1, "GetItem": 1},
    ),
    (
        "lines of a product with orders and users",
        '{ product(productId: "%PRODUCT%") { orderLines(first: 5) { nodes { order { status user { name } } } } } }',
        {"GetItem": 1, "Query": 1, "BatchGetItem": 2},
    ),
    (
        "the same thing asked for under two names is read once",
        '{ a: product(productId: "p-1001") { title } b: product(productId: "p-1001") { title } }',
        {"GetItem": 1},
    ),
    (
        "what was read of an item is still known when more of it was read",
        """{ stock(productId: "p-1001") { available product { title stock { updatedAt product { price
             stock { available } } } } } }""",
        {"GetItem": 4},
    ),
    (
        "a second page of a user's orders is read by itself",
        """{ user(userId: "u-1001") { name orders(first: 2, placedAt: {from: "2026-01-01T00:00:00Z"}) {
             nodes { orderId } } } }""",
        {"GetItem": 1, "Query": 1},
    ),
]


@pytest.mark.parametrize(("query", "expected"), [each[1:] for each in OPERATIONS], ids=[each[0] for each in OPERATIONS])
async def test_an_operation_makes_as_many_calls_as_its_shape_needs(
    api: MemoryEndpoint, query: str, expected: dict[str, int]
) -> None:
    await api.ask(query.replace("%ORDER%", _busiest(api, "orderId")).replace("%PRODUCT%", _busiest(api, "productId")))
    assert Counter(api.calls) == expected


def _busiest(api: MemoryEndpoint, name: str) -> str:
    """The order, or product, with the most lines."""
    rows = api.memory.rows.values()
    lines = (row for row in rows if row["EntityType"]["S"] == "OrderLine" and "#acme#" in row["PK"]["S"])
    [(found, _)] = Counter(str(row[name]["S"]) for row in lines).most_common(1)
    return found


async def test_the_number_of_calls_does_not_grow_with_the_number_of_orders(api: MemoryEndpoint) -> None:
    api.memory.put(_orders(60))
    counts = {}
    for first in (2, 10, 50):
        data = await api.ask(ORDERS, {"first": first})
        assert len(data["ordersByStatus"]["nodes"]) == first
        counts[first] = Counter(api.calls)
    assert counts[2] == counts[10] == {"Query": SHARDS, "BatchGetItem": 3}
    # fifty orders have more than a hundred lines: one more chunk of 100 keys, and no call more
    assert counts[50] == {"Query": SHARDS, "BatchGetItem": 4}


def _orders(count: int) -> list[dict[str, Any]]:
    tenant, rows = tenant_id("acme"), []
    for number in range(count):
        placed = NOW + timedelta(minutes=number)
        products = [f"p-{1001 + (number + step) % 30}" for step in range(3)]
        order = {
            "orderId": f"x-{number}",
            "userId": f"u-{1001 + number % 20}",
            "status": "DELIVERED",
            "placedAt": placed,
            "total": Decimal(3),
            "currency": "EUR",
            "productIds": products,
        }
        rows += items_for(MODEL, MODEL.entities["Order"], tenant, order)
        for product in products:
            line = {
                "orderId": f"x-{number}",
                "productId": product,
                "placedAt": placed,
                "title": "thing",
                "quantity": 1,
                "unitPrice": Decimal(1),
            }
            rows += items_for(MODEL, MODEL.entities["OrderLine"], tenant, line)
    return rows


async def test_only_what_is_asked_for_is_read(api: MemoryEndpoint) -> None:
    await api.ask('{ product(productId: "p-1001") { title } }')
    [(_, body)] = api.memory.sent
    names = set(body["ExpressionAttributeNames"].values())
    assert names == {"PK", "SK", "EntityType", "ttl", "title"}
