"""The costs in the descriptions of fields are the estimates of operations that ask for them."""

import re
from typing import Any

import pytest

from gateway.graph.schema.schema import core_schema
from tests.graph.fixtures import SCHEMA, MemoryEndpoint

CORE: Any = core_schema(SCHEMA)
ORDER = '{userId: "u-1001", lines: [{productId: "p-1001", quantity: 1}, {productId: "p-1002", quantity: 1}]}'


def numbers(kind: str, field: str, *ends: str) -> list[float]:
    """The numbers that the description says, each before one of these words."""
    description = CORE.type_map[kind].fields[field].description or ""
    cost = description.partition("Estimated cost: ")[2]
    found = [re.search(rf"([0-9.,]+){re.escape(end)}", cost) for end in ends]
    return [float(match[1].replace(",", "")) for match in found if match is not None]


@pytest.mark.parametrize(
    ("query", "field", "end", "times"),
    [
        ('{ product(productId: "p-1001") { title } }', "product", " capacity unit", 1),
        ('{ products(productIds: ["p-1001", "p-1002"]) { title } }', "products", " capacity units for each item", 2),
        ("{ me { userId } }", "me", " capacity unit", 1),
        ("{ allUsers { nodes { userId } } }", "allUsers", " capacity units for 20 items", 1),
        ('{ allUsers(filter: {name: {eq: "A"}}) { nodes { userId } } }', "allUsers", " with a filter", 1),
        ("{ reviewQueue { nodes { orderId } } }", "reviewQueue", " capacity units for 20 items", 1),
        ('{ ordersOfUser(userId: "u-1001") { nodes { orderId } } }', "ordersOfUser", " capacity units for 20 items", 1),
        ('{ userByEmail(email: "a@x.org") { userId } }', "userByEmail", " capacity unit", 1),
        ("{ ordersToShip { orderId } }", "ordersToShip", " capacity unit", 1),
    ],
)
async def test_a_query_is_estimated_as_its_field_says(query: str, field: str, end: str, times: int) -> None:
    assert await estimate(query) == numbers("Query", field, end)[0] * times


async def test_a_mutation_is_estimated_as_its_field_says() -> None:
    [alone, each] = numbers("Mutation", "placeOrder", " capacity units", " for each of `lines`")
    assert await estimate(f"mutation {{ placeOrder(input: {ORDER}) {{ errors {{ code }} }} }}") == alone + 2 * each
    items = '[{productId: "a", title: ""}, {productId: "b", title: ""}, {productId: "c", title: ""}]'
    [item] = numbers("Mutation", "bulkUpdateProduct", " capacity units for each item")
    assert await estimate(f"mutation {{ bulkUpdateProduct(input: {{items: {items}}}) {{ writtenCount }} }}") == 3 * item


def test_every_field_that_reads_or_writes_says_its_cost() -> None:
    for kind in (CORE.query_type, CORE.mutation_type):
        silent = [name for name, field in kind.fields.items() if "Estimated cost: " not in (field.description or "")]
        assert silent == (["node", "nodes"] if kind is CORE.query_type else [])


async def estimate(text: str) -> float:
    answer = (await MemoryEndpoint().post(text, token="acme/admin", extensions={"cost": True})).json()
    return float(answer["extensions"]["cost"]["estimate"])
