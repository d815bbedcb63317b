"""One field over several listings: chosen for each request, in lanes and by the reference."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.graph.schema.schema import build_schema
from gateway.model.model import Model
from gateway.model.patterns import Choice
from tests.graph.fixtures import DEMO_SHOP, MemoryEndpoint, ServedModel, no_lanes

QUERY = """query ($status: OrderStatus, $at: DateTimeRange, $order: ListOrder, $after: String, $first: Int = 100) {
  ordersOfUser(userId: "u-1001", status: $status, placedAt: $at, order: $order, first: $first, after: $after) {
    nodes { orderId status } pageInfo { endCursor } } }"""
SPAN = {"from": "2026-02-01T00:00:00Z"}


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("at", [None, SPAN])
async def test_the_index_follows_from_the_variables_of_each_request(api: MemoryEndpoint, lanes: bool, at: Any) -> None:
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    whole = (await api.ask(QUERY, {"at": at}))["ordersOfUser"]["nodes"]
    assert [body.get("IndexName") for _, body in api.memory.sent] == [None]
    assert len({order["status"] for order in whole}) > 1
    for status in {order["status"] for order in whole}:
        found = (await api.ask(QUERY, {"at": at, "status": status}))["ordersOfUser"]["nodes"]
        assert found == [order for order in whole if order["status"] == status]
        assert [body.get("IndexName") for _, body in api.memory.sent] == ["GSI1"]
    # and back again: what was prepared for one is not taken for the other
    assert (await api.ask(QUERY, {"at": at, "status": None}))["ordersOfUser"]["nodes"] == whole
    assert not lanes or set(api.lanes) == {"lane"}


@pytest.fixture(scope="module")
def products() -> ServedModel:
    """The shipped model with one field for two lists of products."""
    names = ("productsByCategory", "productsBySupplier")
    domain = MODEL.domains[0]
    choice = Choice(name="productsBy", patterns=names, description="Products by category or supplier.")
    model = Model(domains=(replace(domain, patterns=(*domain.patterns, choice)), *MODEL.domains[1:]))
    return replace(DEMO_SHOP, model=model, schema=build_schema(model))


PRODUCTS = """query ($category: ID, $supplier: ID, $price: DecimalRange) { activeOrders { nodes { orderId } }
  productsBy(categoryId: $category, supplierId: $supplier, price: $price) { nodes { productId } } }"""


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "nothing"),
        ({"category": "c", "supplier": "s"}, "`categoryId`, `supplierId`"),
        ({"supplier": "s", "price": {"from": "1"}}, "`price`, `supplierId`"),
    ],
)
async def test_a_combination_without_a_listing_is_refused_before_anything_is_read(
    products: ServedModel, given: dict[str, Any], words: str
) -> None:
    api = MemoryEndpoint(served=products)
    answer = (await api.post(PRODUCTS, given)).json()
    [error] = answer["errors"]
    assert "data" not in answer or answer["data"] is None
    assert error["extensions"]["code"] == "BAD_USER_INPUT"
    ways = "`categoryId` (optionally `price`); `supplierId`"
    assert error["message"] == f"`productsBy` cannot be queried by {words}; it can be queried by {ways}"
    assert not api.memory.sent


async def test_each_listing_has_the_price_of_its_own(api: MemoryEndpoint) -> None:
    operation = api.endpoint.documents.get(QUERY).by_name[None]
    prices = [operation.variant({"status": status}).price.estimate({"first": 50}) for status in (None, "DELIVERED")]
    roots: list[Any] = [operation.variant({"status": status}).tree.roots[0] for status in (None, "DELIVERED")]
    assert [root.listing.name for root in roots] == ["ordersOfUser", "ordersOfUserByStatus"]
    assert all(prices)


async def test_a_cursor_belongs_to_the_listing_that_answered(api: MemoryEndpoint) -> None:
    page = (await api.ask(QUERY, {"first": 1}))["ordersOfUser"]
    answer = (await api.post(QUERY, {"after": page["pageInfo"]["endCursor"], "status": "DELIVERED"})).json()
    assert answer["errors"][0]["extensions"]["code"] == "BAD_USER_INPUT"


async def test_another_tenant_reads_its_own_partitions_only(api: MemoryEndpoint) -> None:
    for status in (None, "DELIVERED"):
        await api.ask(QUERY, {"status": status}, "globex/admin")
        keys = [body["ExpressionAttributeValues"][":pk"]["S"] for _, body in api.memory.sent]
        assert keys == ["TENANT#globex#USER#u-1001"]
