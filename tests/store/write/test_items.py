"""An item as it is stored: every key is derived from the model and belongs to the tenant."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.demo import MODEL as SHIPPED
from gateway.demo.commerce.order import OrderStatus
from gateway.errors import BadUserInput
from gateway.store.write.items import expires_at, items_before_and_after, items_for
from tests.store.fixtures import ACME, GLOBEX, MODEL, NOW, READING, TAG, THING

ORDER = SHIPPED.entities["Order"]
PRODUCT = SHIPPED.entities["Product"]


def order(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "orderId": "o-1",
        "userId": "u-1",
        "status": OrderStatus.PENDING,
        "placedAt": datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC),
        "total": Decimal("12.50"),
        "currency": "EUR",
        "productIds": ["p-1"],
    }
    return values | changes


def test_an_item_has_its_key_its_type_and_its_version() -> None:
    [item] = items_for(MODEL, TAG, ACME, {"thingId": "t1", "word": "blue"}, version=7)
    assert item == {
        "PK": {"S": "TENANT#acme#THING#t1"},
        "SK": {"S": "AT#blue"},
        "EntityType": {"S": "Tag"},
        "version": {"N": "7"},
        "thingId": {"S": "t1"},
        "word": {"S": "blue"},
    }


def test_an_order_is_written_with_its_copy_under_the_user() -> None:
    original, copy = items_for(SHIPPED, ORDER, ACME, order())
    assert (original["PK"]["S"], original["SK"]["S"]) == ("TENANT#acme#ORDER#o-1", "META")
    assert (copy["PK"]["S"], copy["SK"]["S"]) == ("TENANT#acme#USER#u-1", "ORDER#2026-02-03T04:05:06.000000Z#o-1")
    assert copy["CopyOf"] == {"S": "byUser"}
    assert {name: copy[name] for name in order()} == {name: original[name] for name in order()}


def test_a_copy_is_in_no_index_so_that_an_item_is_found_once() -> None:
    original, copy = items_for(SHIPPED, ORDER, ACME, order())
    assert {"GSI2PK", "GSI2SK", "GSI3PK", "GSI3SK"} <= set(original)
    assert not [name for name in copy if name.startswith("GSI")]


@pytest.mark.parametrize(
    ("status", "place"),
    [(OrderStatus.SHIPPED, "ACTIVE#"), (OrderStatus.REVIEW, "REVIEW"), (OrderStatus.DELIVERED, None)],
)
def test_an_order_is_in_the_sparse_index_only_while_its_condition_holds(status: OrderStatus, place: str | None) -> None:
    [original, _] = items_for(SHIPPED, ORDER, ACME, order(status=status))
    partition = original.get("GSI3PK", {}).get("S")
    assert (partition is None) is (place is None)
    assert place is None or partition.startswith(f"TENANT#acme#{place}")


def test_an_index_key_made_of_an_absent_attribute_is_left_out() -> None:
    values = {"productId": "p", "title": "T", "price": Decimal(5), "currency": "EUR", "categoryId": "c"}
    [item] = items_for(SHIPPED, PRODUCT, ACME, values)
    assert item["GSI1SK"] == {"S": "PRICE#0000000005.00#p"}
    assert "GSI2PK" not in item


@given(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,20}", fullmatch=True), st.datetimes(timezones=st.just(UTC)))
def test_every_partition_key_of_every_item_belongs_to_the_tenant(name: str, timestamp: datetime) -> None:
    # INVARIANT: every partition key, of the table and of every index, is written here and nowhere else.
    written = [
        *items_for(SHIPPED, ORDER, GLOBEX, order(orderId=name, userId=name, placedAt=timestamp)),
        *items_for(MODEL, THING, GLOBEX, {"thingId": name, "kind": name, "at": timestamp, "rank": 1}),
    ]
    partitions = [value["S"] for item in written for key, value in item.items() if key.endswith("PK")]
    assert len(partitions) == 2 + 3 + 1 + 3
    assert all(partition.startswith("TENANT#globex#") for partition in partitions)


@pytest.mark.parametrize("name", ["PK", "GSI2PK", "GSI2SK", "EntityType", "version", "ttl", "CopyOf", "nonsense"])
def test_a_key_cannot_be_given(name: str) -> None:
    # INVARIANT: index keys are derived by the model, never taken from input.
    with pytest.raises(BadUserInput, match=f"Order has no attribute `{name}`"):
        items_for(SHIPPED, ORDER, ACME, order(**{name: "TENANT#globex#STATUS#PENDING#0"}))


def test_what_is_required_must_be_there() -> None:
    with pytest.raises(BadUserInput, match="`currency` of Order is required"):
        items_for(SHIPPED, ORDER, ACME, order(currency=None))


def test_an_item_with_an_expiry_carries_it_in_epoch_seconds() -> None:
    [tag] = items_for(MODEL, TAG, ACME, {"thingId": "t", "word": "w", "until": NOW})
    [reading] = items_for(MODEL, READING, ACME, {"device": "d", "at": NOW, "value": 1})
    assert tag["ttl"] == {"N": str(int(NOW.timestamp()))}
    assert reading["ttl"] == {"N": str(int((NOW + timedelta(days=30)).timestamp()))}


def test_without_its_timestamp_an_item_does_not_expire() -> None:
    [tag] = items_for(MODEL, TAG, ACME, {"thingId": "t", "word": "w"})
    assert "ttl" not in tag
    assert expires_at(THING, {"at": NOW}) is None


_CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(OrderStatus),
        "total": st.sampled_from([Decimal("12.50"), Decimal("12.5"), Decimal(0)]),
        "note": st.sampled_from([None, "", "fragile"]),
        "placedAt": st.sampled_from([NOW, datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)]),
        "userId": st.sampled_from(["u-1", "u-2"]),
        "productIds": st.sampled_from([["p-1"], ["p-1", "p-2"]]),
    },
)


@given(stored=_CHANGES, changes=_CHANGES)
def test_an_update_makes_the_items_that_rewriting_both_would_make(
    stored: dict[str, Any], changes: dict[str, Any]
) -> None:
    """Order has copies and sparse indexes: what a change decides is made again, and everything else is the same."""
    before = {name: value for name, value in order(**stored).items() if value is not None}
    after = {name: value for name, value in {**before, **changes}.items() if value is not None}
    old, new = items_before_and_after(SHIPPED, ORDER, ACME, before, changes, 8)
    assert old == items_for(SHIPPED, ORDER, ACME, before)
    assert new[0] == items_for(SHIPPED, ORDER, ACME, after)[0]
    assert new[1:] == items_for(SHIPPED, ORDER, ACME, after, 8)[1:]


@pytest.mark.parametrize(
    ("before", "changes"),
    [
        ({"sensorId": "s-1"}, {}),
        (None, {"strange": 1}),
        (None, {"orderId": None}),
        (None, {"status": None}),
        (None, {"total": "much"}),
    ],
)
def test_an_update_refuses_what_rewriting_both_would_refuse(
    before: dict[str, Any] | None, changes: dict[str, Any]
) -> None:
    values = order() if before is None else before
    after = {name: value for name, value in {**values, **changes}.items() if value is not None}
    with pytest.raises(BadUserInput) as expected:
        [items_for(SHIPPED, ORDER, ACME, each) for each in (values, after)]
    with pytest.raises(BadUserInput) as refused:
        items_before_and_after(SHIPPED, ORDER, ACME, values, changes, 2)
    assert refused.value.message == expected.value.message


def test_an_update_moves_the_expiry_with_the_timestamp_it_counts_from() -> None:
    """And leaves it where it is otherwise."""
    session = SHIPPED.entities["Session"]
    before = {"sessionId": "s-1", "userId": "u-1", "createdAt": NOW, "expiresAt": NOW + timedelta(hours=1)}
    for changes in ({"expiresAt": NOW + timedelta(hours=2)}, {"userId": "u-2"}):
        old, new = items_before_and_after(SHIPPED, session, ACME, before, changes, 2)
        assert old == items_for(SHIPPED, session, ACME, before)
        assert new[0] == items_for(SHIPPED, session, ACME, {**before, **changes})[0]
