"""The comparison of ledger and table notices what was lost, made twice, or made although it was refused."""

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.demo.commerce.order import OrderStatus
from gateway.demo.publishing.like import CounterName
from gateway.model.keys import ItemKey
from gateway.model.tenant import tenant_id
from gateway.store.write.items import items_for
from tests.chaos.expected import contradictions
from tests.chaos.ledger import Entry, Ledger
from tests.chaos.stored import contents
from tests.chaos.workload import DEVICE, STOCK, Shop, reading

ACME = tenant_id("acme")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOTE = "canary-acme-1 1"


def rows(entity: str, version: int = 1, **values: Any) -> list[dict[str, Any]]:
    return items_for(MODEL, MODEL.entities[entity], ACME, values, version)


def order(**changes: Any) -> list[dict[str, Any]]:
    values = {
        "orderId": "o",
        "userId": "f-1",
        "status": OrderStatus.CONFIRMED,
        "placedAt": NOW,
        "total": Decimal(1),
        "currency": "EUR",
        "productIds": ["p"],
        "note": NOTE,
    }
    return rows("Order", 2, **{**values, **changes})


def event(name: str, status: OrderStatus) -> list[dict[str, Any]]:
    return rows("OrderEvent", orderId="o", eventId=name, at=NOW, status=status, actor="a")


def written(entry: Entry) -> list[list[str]]:
    """What the record of a change of a user or a product says it wrote."""
    given = entry.input
    if "userId" in given and entry.mutation in ("createUser", "updateUser", "addEmail"):
        return [[f"TENANT#acme#USER#{given['userId']}", "PROFILE"]]
    return [[f"TENANT#acme#PRODUCT#{given.get('productId')}", "DETAILS"]]


class Scenario:
    """A shop after one change of every kind, as it should be."""

    def __init__(self) -> None:
        self.shop = Shop(ACME, ["p"], opened=NOW)
        self.ledger = Ledger()
        measured = reading(self.shop, 1)
        self.acknowledge("placeOrder", {"lines": [{"productId": "p", "quantity": 3}], "note": NOTE}, {"orderId": "o"})
        self.acknowledge("changeOrderStatus", {"orderId": "o", "status": "CONFIRMED"})
        self.acknowledge("adjustStock", {"productId": "p", "by": 1})
        self.acknowledge("createUser", {"userId": "f-1", "name": "m", "email": "e@x.org"})
        self.acknowledge("updateUser", {"userId": "f-1", "name": "n"})
        self.acknowledge("createProduct", {"productId": "f-2", "price": "1.0", "categoryId": "c", "tags": ["a", "b"]})
        self.acknowledge("likePost", {"postId": "f-1", "userId": "fan"})
        self.acknowledge("recordReadings", {"deviceId": DEVICE, "readings": [measured]})
        recorded = NOW + timedelta(milliseconds=1)
        taken: dict[str, Any] = {"deviceId": DEVICE, "recordedAt": recorded, "value": Decimal(1), "expiresAt": recorded}
        counter: dict[str, Any] = {"counter": CounterName.LIKES, "subjectId": "f-1", "slot": 3}
        product: dict[str, Any] = {
            "title": "t",
            "price": Decimal(1),
            "currency": "EUR",
            "categoryId": "c",
            "tags": {"b", "a"},
        }
        category = {**rows("Category", categoryId="c", title="t")[0], "references": {"N": "1"}}
        self.found = contents(
            [
                *order(),
                *event("1", OrderStatus.PENDING),
                *event("2", OrderStatus.CONFIRMED),
                category,
                *rows("Stock", productId="p", available=STOCK - 2, updatedAt=NOW),
                *rows("User", 2, userId="f-1", name="n", email="e@x.org", createdAt=NOW),
                *rows("Product", productId="f-2", **product),
                *rows("Like", userId="fan", postId="f-1", likedAt=NOW, slot=3),
                *rows("Counter", **counter, count=1),
                *rows("Reading", **taken),
                *rows("LatestReading", **taken),
            ]
        )
        for entry in self.ledger.entries:
            self.record(entry.record, written=written(entry))

    def acknowledge(self, mutation: str, given: dict[str, Any], item: dict[str, Any] | None = None) -> None:
        self.ledger.acknowledge(self.ledger.open(ACME, mutation, given), item)

    def update(self, given: dict[str, Any], *, wrote: bool) -> None:
        """An acknowledged update of a user or a product, whose record says whether it wrote the item."""
        self.acknowledge("updateUser" if "userId" in given else "updateProduct", given)
        entry = self.ledger.entries[-1]
        self.record(entry.record, written=written(entry) if wrote else [])

    def record(self, key: ItemKey, order: str = "o", written: Sequence[list[str]] = ()) -> None:
        row = {"PK": {"S": key.pk}, "SK": {"S": key.sk}, "EntityType": {"S": "Idempotency"}}
        outcome = {"key": [f"TENANT#acme#ORDER#{order}", "META"], "written": list(written)}
        self.found.rows[key] = {**row, "outcome": {"S": json.dumps(outcome)}}

    def put(self, entity: str, version: int = 1, **values: Any) -> None:
        self.found.rows.update(contents(rows(entity, version, **values)).rows)

    def drop(self, path: str, sk: str) -> None:
        del self.found.rows[ItemKey(f"TENANT#acme#{path}", sk)]

    def faults(self) -> set[str]:
        return {fault.partition(":")[0] for fault in contradictions(self.found, self.ledger, [self.shop])}


def lost_record(scenario: Scenario) -> None:
    del scenario.found.rows[scenario.ledger.entries[0].record]


def strange_record(scenario: Scenario) -> None:
    scenario.record(ItemKey("TENANT#acme#IDEMPOTENCY#strange", "IDEMPOTENCY"))


def refused_and_made(scenario: Scenario) -> None:
    entry = scenario.ledger.open(ACME, "adjustStock", {"productId": "p", "by": 1})
    entry.refused = ("OUT_OF_STOCK",)
    scenario.record(entry.record)


def second_order(scenario: Scenario) -> None:
    """Once more under another id, as an order that was placed twice would be."""
    scenario.found.rows.update(contents(order(orderId="o2")).rows)


def fix(entity: str, version: int = 1, **values: Any) -> Callable[[Scenario], None]:
    return lambda scenario: scenario.put(entity, version, **values)


def drop(path: str, sk: str) -> Callable[[Scenario], None]:
    return lambda scenario: scenario.drop(path, sk)


def counts(path: str, number: str, sk: str = "DETAILS") -> Callable[[Scenario], None]:
    return lambda scenario: scenario.found.rows[ItemKey(f"TENANT#acme#{path}", sk)].update(references={"N": number})


def test_what_the_ledger_says_is_what_the_table_holds() -> None:
    assert Scenario().faults() == set()


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (lost_record, "outcomes"),
        (strange_record, "outcomes"),
        (refused_and_made, "outcomes"),
        (lambda scenario: scenario.ledger.open(ACME, "adjustStock", {"productId": "p", "by": 1}), "outcomes"),
        (fix("Stock", productId="p", available=STOCK - 1, updatedAt=NOW), "stock"),
        (drop("ORDER#o", "META"), "placed"),
        (second_order, "placed"),
        (lambda scenario: scenario.acknowledge("cancelOrder", {"orderId": "o"}), "moved"),
        (drop("USER#f-1", "PROFILE"), "people"),
        (fix("User", 3, userId="f-1", name="n", email="e@x.org", createdAt=NOW), "people"),
        (fix("User", userId="f-9", name="n", email="e@x.org", createdAt=NOW), "people"),
        (fix("User", 2, userId="f-1", name="n", email="other@x.org", createdAt=NOW), "people"),
        (lambda scenario: scenario.update({"userId": "f-1", "name": "new"}, wrote=True), "people"),
        (lambda scenario: scenario.update({"userId": "f-1", "name": "new"}, wrote=False), "people"),
        (lambda scenario: scenario.update({"userId": "f-1", "name": "m"}, wrote=False), "people"),
        (lambda scenario: scenario.update({"productId": "f-2", "tags": ["a"]}, wrote=False), "products"),
        (drop("ORDER#o", "HISTORY#2"), "moved"),
        (counts("CATEGORY#c", "2"), "references"),
        (counts("USER#f-1", "1", "PROFILE"), "references"),
        (drop("CATEGORY#c", "DETAILS"), "references"),
        (drop("PRODUCT#f-2", "DETAILS"), "products"),
        (drop("LIKES#fan", "POST#f-1"), "likes"),
        (fix("Counter", counter=CounterName.LIKES, subjectId="f-1", slot=3, count=2), "likes"),
        (drop("DEVICE#f-device#2026-03-01-12", "2026-03-01T12:00:00.001000Z"), "readings"),
        (lambda scenario: scenario.ledger.surprises.append("an internal error"), "surprise"),
    ],
)
def test_a_contradiction_is_noticed(broken: Callable[[Scenario], object], expected: str) -> None:
    scenario = Scenario()
    broken(scenario)
    assert expected in scenario.faults()


def test_a_refusal_after_an_attempt_without_a_result_is_settled_by_the_record() -> None:
    scenario = Scenario()
    entry = scenario.ledger.open(ACME, "adjustStock", {"productId": "p", "by": 5})
    entry.refused, entry.uncertain = ("OUT_OF_STOCK",), 1
    assert scenario.faults() == set(), "it was not made"
    scenario.record(entry.record)
    assert scenario.faults() == {"stock"}, "it was made, and the stock does not show it"
    scenario.put("Stock", productId="p", available=STOCK + 3, updatedAt=NOW)
    assert scenario.faults() == set()


def test_an_order_whose_answer_never_came_is_found_by_its_record() -> None:
    scenario = Scenario()
    entry = scenario.ledger.entries[0]
    entry.acknowledged, entry.item, entry.refused, entry.uncertain = False, None, ("CONFLICT",), 2
    assert scenario.faults() == set()


@pytest.mark.parametrize(
    "given",
    [
        {"userId": "f-1", "name": "n"},
        {"userId": "f-1", "email": "e@x.org"},
        {"productId": "f-2", "tags": ["b", "a"], "price": "1.0"},
    ],
)
def test_an_update_to_what_is_there_already_changes_nothing(given: dict[str, Any]) -> None:
    scenario = Scenario()
    scenario.update(given, wrote=False)
    assert scenario.faults() == set()


def test_an_update_may_leave_a_value_that_is_replaced_while_it_runs() -> None:
    """`m` was replaced by `n` at the same time, so the item may have had either."""
    scenario = Scenario()
    replaced = next(entry for entry in scenario.ledger.entries if entry.mutation == "updateUser")
    scenario.update({"userId": "f-1", "name": "m"}, wrote=False)
    scenario.ledger.entries[-1].began = replaced.began
    assert scenario.faults() == set()
