"""Every check notices what it is there for: a table that is right is broken in one way at a time."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.model.keys import ItemKey
from gateway.model.tenant import tenant_of
from gateway.sandbox.dev.seeds import seed_items
from tests.chaos.invariants import violations
from tests.chaos.stored import Contents, contents

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACME = "TENANT#acme#"
# two of the demo shops: each check looks at every row
ITEMS = [item for item in seed_items(MODEL, NOW) if tenant_of(item["PK"]["S"]) in ("acme", "globex")]
EMAIL = "robin.hale@example.com"
ORDER = ItemKey(f"{ACME}ORDER#o-1001", "META")
CATEGORY = ItemKey(f"{ACME}CATEGORY#tools", "DETAILS")

Break = Callable[[Contents], object]


def fresh() -> Contents:
    found = contents({**item} for item in ITEMS)
    record = {
        "PK": {"S": f"{ACME}IDEMPOTENCY#1"},
        "SK": {"S": "IDEMPOTENCY"},
        "EntityType": {"S": "Idempotency"},
        "ttl": {"N": "2000000000"},
        "fingerprint": {"S": "f" * 64},
        "outcome": {"S": f'{{"entity":"Order","key":["{ORDER.pk}","META"],"extras":{{}}}}'},
    }
    found.rows[ItemKey(record["PK"]["S"], record["SK"]["S"])] = record
    return found


def copy_of(found: Contents) -> ItemKey:
    order = found.rows[ORDER]["orderId"]
    return next(key for key, row in found.rows.items() if "CopyOf" in row and row.get("orderId") == order)


def changed(key: ItemKey, **attributes: dict[str, Any]) -> Break:
    return lambda found: found.rows[key].update(attributes)


def gone(key: ItemKey) -> Break:
    return lambda found: found.rows.pop(key)


def taken_over(found: Contents) -> None:
    found.rows[ItemKey(f"{ACME}UNIQUE#Email#email#{EMAIL}", "UNIQUE")]["owner"] = {"S": "somebody else"}


def twice(found: Contents) -> None:
    """The same address under a second user."""
    row = {**found.rows[ItemKey(f"{ACME}USER#u-1001", f"EMAIL#{EMAIL}")]}
    row |= {"PK": {"S": f"{ACME}USER#u-1002"}, "userId": {"S": "u-1002"}, "GSI1SK": {"S": "USER#u-1002"}}
    found.rows[ItemKey(row["PK"]["S"], row["SK"]["S"])] = row


def stray_copy(found: Contents) -> None:
    row = {**found.rows[copy_of(found)], "SK": {"S": "ORDER#2026-01-01T00:00:00.000000Z#o-1001"}}
    found.rows[ItemKey(row["PK"]["S"], row["SK"]["S"])] = row


def miscounted(found: Contents) -> None:
    row = next(row for key, row in found.rows.items() if key.pk.startswith(f"{ACME}COUNT#ACTIVE_ORDERS#"))
    row["counted"] = {"N": str(int(row["counted"]["N"]) + 1)}


def in_the_neighbours_index(found: Contents) -> None:
    found.rows[ORDER]["GSI2PK"] = {"S": "TENANT#globex#STATUS#PENDING#0"}


def test_the_demo_rows_are_right() -> None:
    assert violations(fresh()) == []


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        (in_the_neighbours_index, "foreign"),
        (changed(ORDER, title={"S": "nobody declared this"}), "derived"),
        (changed(ORDER, GSI3PK={"S": f"{ACME}REVIEW"}), "derived"),
        (changed(ORDER, EntityType={"S": "Ordre"}), "derived"),
        (changed(ORDER, references={"N": "1"}), "derived"),
        (changed(CATEGORY, references={"N": "0"}), "derived"),
        (changed(CATEGORY, references={"S": "1"}), "derived"),
        (gone(CATEGORY), "referred_to"),
        (changed(ORDER, status={"S": "CANCELLED"}), "histories"),
        (gone(ORDER), "histories"),
        (changed(ORDER, version={"N": "7"}), "copies"),
        (lambda found: found.rows.pop(copy_of(found)), "copies"),
        (stray_copy, "copies"),
        (gone(ORDER), "copies"),
        (taken_over, "marks"),
        (gone(ItemKey(f"{ACME}UNIQUE#Email#email#{EMAIL}", "UNIQUE")), "marks"),
        (twice, "marks"),
        (miscounted, "counters"),
        (changed(ORDER, countedBy={"SS": ["allOrders"]}), "derived"),
        (changed(ORDER, status={"S": "PENDING"}), "counters"),
        (gone(ItemKey(f"{ACME}USER#u-1001", f"EMAIL#{EMAIL}")), "main_addresses"),
        (gone(ItemKey(f"{ACME}USER#u-1001", "PROFILE")), "main_addresses"),
        (changed(ItemKey(f"{ACME}PRODUCT#p-1001", "STOCK"), available={"N": "-1"}), "negative_stock"),
        (changed(ORDER, total={"N": "0.01"}), "orders"),
        (gone(ORDER), "orders"),
        (changed(ItemKey(f"{ACME}IDEMPOTENCY#1", "IDEMPOTENCY"), fingerprint={"S": ""}), "records"),
        (
            changed(
                ItemKey(f"{ACME}IDEMPOTENCY#1", "IDEMPOTENCY"),
                outcome={"S": '{"entity":"Order","key":["TENANT#globex#ORDER#1","META"]}'},
            ),
            "records",
        ),
    ],
)
def test_a_violation_is_noticed(broken: Break, expected: str) -> None:
    found = fresh()
    broken(found)
    assert expected in {fault.partition(":")[0] for fault in violations(found)}


def test_an_item_that_others_keep_may_count_its_references() -> None:
    found = fresh()
    found.rows[CATEGORY]["references"] = {"N": "3"}
    assert violations(found) == []


def test_what_belongs_to_nobody_is_noticed() -> None:
    found = fresh()
    row = {**found.rows[ORDER], "PK": {"S": "ORDER#o-1001"}}
    found.rows[ItemKey("ORDER#o-1001", "META")] = row
    assert any(fault.startswith("foreign: ") and "nobody" in fault for fault in violations(found))


def test_the_marker_of_another_tenant_is_noticed() -> None:
    found = fresh()
    foreign = next(row["canary"] for key, row in found.rows.items() if key.pk.startswith("TENANT#globex#"))
    found.rows[ORDER]["note"] = foreign
    assert any(fault.startswith("foreign: ") and "globex" in fault for fault in violations(found))
