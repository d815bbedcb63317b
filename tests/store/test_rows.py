"""A row becomes an item only where it is the tenant's, of the expected type and not expired."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from gateway.errors import Internal, IsolationBreach
from gateway.model.table import Index
from gateway.model.tenant import TenantId
from gateway.store.rows import Item, Rows
from gateway.store.write.items import items_for
from tests.store.fixtures import ACME, GLOBEX, MODEL, NOW, TAG, THING, Colour

NAMES = frozenset({"thingId", "weight", "colour", "version"})
ROWS = Rows(MODEL, clock=NOW.timestamp)
GSI1 = Index("GSI1", "GSI1PK", "GSI1SK")


def row(tenant: TenantId = ACME, **changes: Any) -> dict[str, Any]:
    values = {"thingId": "t", "kind": "k", "at": NOW, "weight": Decimal("1.5"), "colour": Colour.RED}
    [item] = items_for(MODEL, THING, tenant, values, version=3)
    return {name: value for name, value in {**item, **changes}.items() if value is not None}


def read(given: dict[str, Any], expected: str = "Thing", tenant: TenantId = ACME) -> Item | None:
    return ROWS.item(tenant, given, expected, NAMES, "SK")


def test_an_item_has_what_was_asked_for_and_its_position() -> None:
    values = {"thingId": "t", "weight": Decimal("1.5"), "colour": Colour.RED, "version": 3}
    assert read(row()) == Item("Thing", values, "DETAILS")


def test_what_the_row_does_not_have_is_not_made_up() -> None:
    item = read(row(weight=None))
    assert item is not None
    assert "weight" not in item.values


@pytest.mark.parametrize(
    "partition",
    [
        {"S": "TENANT#globex#THING#t"},
        {"S": "TENANT#acme2#THING#t"},
        {"S": "TENANT#acme"},
        {"S": "THING#t"},
        {"S": ""},
        {"B": "VEVOQU5UI2FjbWUj"},
        None,
    ],
    ids=repr,
)
def test_a_row_of_another_tenant_is_never_used(partition: dict[str, str] | None) -> None:
    # INVARIANT: whatever an index or a cache answers, a row whose partition is not the tenant's is never used.
    with pytest.raises(IsolationBreach, match="a row of another tenant was read"):
        read(row(PK=partition))


def test_the_row_of_a_tenant_is_no_row_of_another() -> None:
    with pytest.raises(IsolationBreach):
        read(row(GLOBEX))
    assert read(row(GLOBEX), tenant=GLOBEX) is not None


@pytest.mark.parametrize("kind", [{"S": "Tag"}, {"S": ""}, {"N": "1"}, None], ids=repr)
def test_a_row_of_another_type_is_an_error(kind: dict[str, str] | None) -> None:
    with pytest.raises(Internal, match="expected an item of Thing"):
        read(row(EntityType=kind))


def test_the_tenant_is_looked_at_before_anything_else() -> None:
    with pytest.raises(IsolationBreach):
        read(row(GLOBEX, EntityType={"S": "Tag"}, ttl={"N": "0"}, weight={"S": "heavy"}))


@pytest.mark.parametrize(("seconds", "there"), [(-1, False), (0, False), (1, True)])
def test_an_expired_item_is_hidden_although_it_has_not_been_deleted(seconds: int, there: bool) -> None:
    assert (read(row(ttl={"N": str(int(NOW.timestamp()) + seconds)})) is not None) is there


def test_a_ttl_that_is_no_number_does_not_expire() -> None:
    assert read(row(ttl={"S": "yesterday"})) is not None


@pytest.mark.parametrize(
    "stored",
    [{"S": "heavy"}, {"N": "heavy"}, {"NULL": True}, {"N": None}, {}],
    ids=repr,
)
def test_a_value_that_is_not_as_declared_is_our_fault_and_named(stored: dict[str, Any]) -> None:
    with pytest.raises(Internal, match="`weight` of Thing is not stored as it is declared"):
        read(row(weight=stored))


def test_a_choice_that_no_longer_exists_is_named() -> None:
    with pytest.raises(Internal, match="`colour` of Thing"):
        read(row(colour={"S": "GREEN"}))


def test_an_entry_of_another_tenant_leads_nowhere() -> None:
    entry = {"PK": {"S": "TENANT#globex#THING#1"}, "SK": {"S": "DETAILS"}, "GSI1PK": {"S": "a"}, "GSI1SK": {"S": "b"}}
    with pytest.raises(IsolationBreach):
        ROWS.entry(ACME, GSI1, entry)
    assert ROWS.entry(GLOBEX, GSI1, entry).key.pk == "TENANT#globex#THING#1"


def test_an_index_that_does_not_carry_everything_leads_to_the_table() -> None:
    few = Index("GSI1", projection="INCLUDE", attributes=("word",))
    assert ROWS.stored_names(frozenset({"word"}), few, ()).through is None
    assert ROWS.stored_names(frozenset({"text"}), few, ()) == (
        ("GSI1PK", "GSI1SK", "PK", "SK", "ttl"),
        ("EntityType", "GSI1PK", "GSI1SK", "PK", "SK", "text", "ttl"),
    )
    keys = Index("GSI1", projection="KEYS_ONLY")
    assert ROWS.stored_names(frozenset(), keys, ()).read == ("GSI1PK", "GSI1SK", "PK", "SK")
    assert ROWS.stored_names(frozenset(), keys, ()).through is not None


def test_the_keys_the_type_and_the_expiry_are_always_read() -> None:
    assert ROWS.stored_names(frozenset({"word"}), None, ()).read == ("EntityType", "PK", "SK", "ttl", "word")
    assert ROWS.stored_names(frozenset(), GSI1, ()).read == ("EntityType", "GSI1SK", "PK", "SK", "ttl")


def test_the_position_is_the_sort_key_of_the_order_it_was_read_in() -> None:
    item = ROWS.item(ACME, row(), "Thing", frozenset(), "GSI1SK")
    assert item == Item("Thing", {}, "2026-03-01T12:00:00.000000Z#t")


def test_the_clock_is_that_of_the_machine_unless_another_is_given() -> None:
    [old] = items_for(MODEL, TAG, ACME, {"thingId": "t", "word": "w", "until": datetime(2001, 1, 1, tzinfo=UTC)})
    [new] = items_for(MODEL, TAG, ACME, {"thingId": "t", "word": "w", "until": datetime(9000, 1, 1, tzinfo=UTC)})
    rows = Rows(MODEL)
    assert rows.item(ACME, old, "Tag", frozenset(), "SK") is None
    assert rows.item(ACME, new, "Tag", frozenset(), "SK") is not None
