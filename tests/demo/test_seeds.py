import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.demo.commerce.order import OrderStatus
from gateway.demo.shops import ACME, GLOBEX, INITECH, SHOPS, Shop
from gateway.model.demo import SeedRow, seed_rows
from gateway.model.tenant import owns
from gateway.sandbox.dev.seeds import seed_items
from tests.fixtures import CANARIES

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def records(shop: Shop, now: datetime) -> list[SeedRow]:
    return [row for _, tenant, row in seed_rows(MODEL, now) if tenant == shop.tenant]


def _of(shop: Shop, entity: str) -> list[Mapping[str, Any]]:
    return [values for name, values in records(shop, NOW) if name == entity]


@pytest.fixture(scope="module")
def items() -> list[dict[str, Any]]:
    return seed_items(MODEL, NOW)


def test_every_row_carries_its_tenants_marker_and_no_others(items: list[dict[str, Any]]) -> None:
    assert set(CANARIES) == {"acme", "globex", "initech"}
    for item in items:
        text = json.dumps(item)
        owners = [shop for shop in SHOPS if owns(shop.tenant, item["PK"]["S"])]
        assert len(owners) == 1
        assert [marker for marker in CANARIES.values() if marker in text] == [CANARIES[owners[0].tenant]]


def test_texts_that_people_read_tell_the_tenants_apart_without_a_marker() -> None:
    for shop in SHOPS:
        assert all(shop.catalogue in order["note"] for order in _of(shop, "Order"))
        assert all(shop.catalogue in product["description"] for product in _of(shop, "Product"))
        assert all(shop.catalogue in post["content"] for post in _of(shop, "Post"))
        text = repr([*records(shop, NOW)])
        assert "canary" not in text
        assert [other.tenant for other in SHOPS if other.catalogue in text] == [shop.tenant]


def test_what_must_be_unique_is_marked_as_taken(items: list[dict[str, Any]]) -> None:
    marks = {item["PK"]["S"] for item in items if item["EntityType"]["S"] == "Unique"}
    assert "TENANT#acme#UNIQUE#Email#email#robin.hale@example.com" in marks
    assert "TENANT#globex#UNIQUE#Email#email#robin.hale@example.com" in marks


def test_every_entity_of_the_shop_has_rows(items: list[dict[str, Any]]) -> None:
    found = {item["EntityType"]["S"] for item in items}
    commerce = next(domain for domain in MODEL.domains if domain.name == "commerce")
    assert {entity.name for entity in commerce.entities} <= found


def test_no_two_rows_have_the_same_key(items: list[dict[str, Any]]) -> None:
    keys = Counter((item["PK"]["S"], item["SK"]["S"]) for item in items)
    assert max(keys.values()) == 1


def test_acme_and_globex_have_the_same_ids_with_other_contents() -> None:
    for entity, name, content in (
        ("User", "userId", "address"),
        ("Product", "productId", "title"),
        ("Order", "orderId", "productIds"),
    ):
        acme, globex, initech = (
            {values[name]: values[content] for values in _of(shop, entity)} for shop in (ACME, GLOBEX, INITECH)
        )
        assert acme.keys() == globex.keys()
        assert acme != globex
        assert acme.keys().isdisjoint(initech)


def test_the_same_address_finds_another_user_in_another_tenant() -> None:
    emails = [{values["email"] for values in _of(shop, "Email")} for shop in SHOPS]
    phones = [{values["phone"] for values in _of(shop, "Phone")} for shop in SHOPS]
    assert set.intersection(*emails)
    assert set.intersection(*phones)
    for shop in SHOPS:
        found = Counter(values["email"] for values in _of(shop, "Email"))
        assert max(found.values()) == 1


@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.tenant)
def test_a_shop_looks_alive(shop: Shop) -> None:
    count = Counter(name for name, _ in records(shop, NOW))
    assert {name: count[name] for name in ("User", "Product", "Stock", "Category", "Supplier", "Order")} == {
        "User": 25,
        "Product": 40,
        "Stock": 40,
        "Category": 5,
        "Supplier": 3,
        "Order": 60,
    }
    orders = _of(shop, "Order")
    assert {order["status"] for order in orders} == {status.name for status in OrderStatus}
    placed = [order["placedAt"] for order in orders]
    assert NOW - timedelta(days=61) < min(placed) < NOW - timedelta(days=50)
    assert NOW - timedelta(days=1) < max(placed) <= NOW


@pytest.mark.parametrize("shop", SHOPS, ids=lambda shop: shop.tenant)
def test_orders_are_right(shop: Shop) -> None:
    users = {user["userId"] for user in _of(shop, "User")}
    prices = {product["productId"]: product["price"] for product in _of(shop, "Product")}
    lines = _of(shop, "OrderLine")
    for order in _of(shop, "Order"):
        own = [line for line in lines if line["orderId"] == order["orderId"]]
        assert order["userId"] in users
        assert order["productIds"] == [line["productId"] for line in own]
        assert order["total"] == sum(line["quantity"] * prices[line["productId"]] for line in own)


def test_rows_are_the_same_at_every_start_and_move_with_the_clock() -> None:
    later = NOW + timedelta(days=3)
    first, second = list(records(ACME, NOW)), list(records(ACME, later))
    assert first == list(records(ACME, NOW))
    assert [values["placedAt"] + timedelta(days=3) for name, values in first if name == "Order"] == [
        values["placedAt"] for name, values in second if name == "Order"
    ]
