"""Items of an older schema: upgraded when they are read, made permanent when they are written."""

import decimal
from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.errors import Internal
from gateway.iam.policies.hidden_data import personal_attributes
from gateway.iam.policies.policies import generated
from gateway.model.entity import Attribute, Entity, Upgrade
from gateway.model.error_code import UserErrorCode
from gateway.model.model import Model
from gateway.model.types import DecimalNumber, Integer, Text
from gateway.ops.policies.files import permissions_for
from gateway.store.access import Access
from gateway.store.plan import Window, plan_listing
from gateway.store.rows import Item, Rows
from gateway.store.table import Table
from gateway.store.write.change import Change
from gateway.store.write.faults import Fault, Rejected
from gateway.store.write.items import items_for
from gateway.store.write.upserts import tally
from gateway.store.write.writer import MutationResult, Writer
from gateway.testing.memory import Memory
from tests.store.fixtures import ACME, TABLE, tenancy
from tests.store.growing import AFTER, BEFORE, NEW, OLD, SPLIT, State, model, old_rows, ticket

KEY = ("TENANT#acme#TICKET#t000", "META")
COPY = ("TENANT#acme#USER#u", "TICKET#2026-03-01T12:00:00.000000Z#t000")
EVERYTHING = frozenset((*AFTER.attribute, "version"))


async def no_renewal(refused: Session) -> Session:
    raise AssertionError("nothing expires here")


def writer(memory: Memory, known: Model) -> Writer:
    place = tenancy()
    may = permissions_for(generated(known), known)(place, ACME, "editor", None)
    session = Session(ACME, "editor", Credentials("AKID", "secret"), place, may)
    return Writer(known, Table(memory, known, no_renewal), Access(session))


@pytest.fixture
def memory() -> Memory:
    made = Memory(NEW.table, TABLE)
    made.put(old_rows(6))
    return made


def read(known: Model, row: dict[str, Any], *names: str) -> dict[str, Any]:
    item = Rows(known).item(ACME, row, "Ticket", frozenset(names), "SK")
    assert item is not None
    return item.values


def test_an_old_item_reads_as_a_new_one(memory: Memory) -> None:
    [found] = [read(NEW, memory.rows[KEY], *EVERYTHING)]
    assert (found["givenName"], found["familyName"]) == ("Ada", "Number000")
    assert "fullName" not in found
    assert found["version"] == 1


def test_only_what_is_asked_for_is_upgraded(memory: Memory) -> None:
    rows = Rows(NEW)
    assert rows.stored_names(frozenset({"state"}), None, ("Ticket",)).read == (
        *("EntityType", "PK", "SK", "schema"),
        *("state", "ttl"),
    )
    assert "fullName" in rows.stored_names(frozenset({"givenName"}), None, ("Ticket",)).read
    bare = {name: value for name, value in memory.rows[KEY].items() if name != "fullName"}
    assert read(NEW, bare, "state") == {"state": State.OPEN}


def test_without_upgrades_nothing_more_is_read() -> None:
    assert "schema" not in Rows(OLD).stored_names(frozenset({"state"}), None, ("Ticket",)).read
    assert "schema" not in items_for(OLD, BEFORE, ACME, ticket(1))[0]


def test_an_item_of_the_newest_schema_is_left_alone() -> None:
    values = {**ticket(1), "givenName": "Bob", "familyName": "Own"}
    del values["fullName"]
    row = items_for(NEW, AFTER, ACME, values)[0]
    assert row["schema"] == {"N": "2"}
    item = Rows(NEW).item(ACME, row, "Ticket", EVERYTHING, "SK")
    assert item is not None
    assert (item.values["givenName"], item.stale) == ("Bob", False)


def _chain() -> Entity:
    """A text becomes a number under the same name, and later its half under another."""
    amount = Attribute("amount", Text(10), "As text.")
    number = Attribute("amount", DecimalNumber(), "As number.")
    half = Attribute("half", DecimalNumber(), "Half of it.", required=False)
    return replace(
        BEFORE,
        attributes=(*BEFORE.attributes, half),
        schema=3,
        upgrades=(
            Upgrade(
                to=2, needs=(amount,), gives=("amount",), change=lambda old: {"amount": decimal.Decimal(old["amount"])}
            ),
            Upgrade(to=3, needs=(number,), gives=("half",), change=lambda old: {"half": old["amount"] / 2}),
        ),
    )


@pytest.mark.parametrize(
    ("stored", "half"),
    [
        ({"amount": {"S": "5"}}, decimal.Decimal("2.5")),
        ({"amount": {"N": "5"}, "schema": {"N": "2"}}, decimal.Decimal("2.5")),
        ({"half": {"N": "9"}, "schema": {"N": "3"}}, decimal.Decimal(9)),
        ({"half": {"N": "9"}, "schema": {"N": "4"}}, decimal.Decimal(9)),
    ],
)
def test_upgrades_follow_each_other_from_where_the_item_stands(stored: dict[str, Any], half: decimal.Decimal) -> None:
    row = {**items_for(OLD, BEFORE, ACME, ticket(1))[0], **stored}
    assert read(model(_chain()), row, "half") == {"half": half}


def test_items_that_are_older_than_a_required_attribute_get_it_from_an_upgrade_that_needs_nothing() -> None:
    colour = Attribute("colour", Text(20), "Added later.")
    upgrade = Upgrade(to=2, needs=(), gives=("colour",), change=lambda old: {"colour": "white"})
    grown = replace(BEFORE, attributes=(*BEFORE.attributes, colour), schema=2, upgrades=(upgrade,))
    row = items_for(OLD, BEFORE, ACME, ticket(1))[0]
    assert read(model(grown), row, "colour") == {"colour": "white"}
    assert read(model(replace(grown, schema=1, upgrades=())), row, "colour") == {}


@pytest.mark.parametrize("change", [lambda old: {"other": 1}, lambda old: {"givenName": old["nothing"]}])
def test_an_upgrade_that_goes_wrong_is_reported(change: Any) -> None:
    broken = replace(AFTER, upgrades=(replace(SPLIT, change=change),))
    with pytest.raises(Internal, match="Ticket"):
        read(model(broken), old_rows(1)[0], "givenName")


async def test_the_next_write_makes_the_upgrade_permanent_with_copy_and_indexes(memory: Memory) -> None:
    here = writer(memory, NEW)
    stored = await here.stored("Ticket", {"ticketId": "t000"})
    change = here.change()
    change.update(stored, {"effort": 3})
    await here.commit(change, MutationResult(stored))
    values = {**ticket(0, effort=3), "givenName": "Ada", "familyName": "Number000"}
    del values["fullName"]
    original, copy = items_for(NEW, AFTER, ACME, values, version=2)
    assert memory.rows[KEY] == original
    assert memory.rows[COPY] == copy


async def test_while_an_index_is_filled_every_write_puts_the_item_into_it(memory: Memory) -> None:
    """Also one that changes nothing the index is made of, to an item that is of the newest schema."""
    values = {**ticket(0), "givenName": "Ada", "familyName": "New"}
    del values["fullName"]
    row = items_for(NEW, AFTER, ACME, values)[0]
    memory.rows[KEY] = {name: value for name, value in row.items() if not name.startswith("GSI1")}
    memory.rows[KEY]["GSI2PK"] = {"S": "TENANT#acme#STATE#OPEN#1"}
    here = writer(memory, NEW)
    change = here.change()
    change.update(await here.stored("Ticket", {"ticketId": "t000"}), {"effort": 1})
    await here.commit(change, MutationResult(Item("Ticket", {}, "")))
    for name in ("GSI1PK", "GSI1SK", "GSI2PK", "GSI2SK"):
        assert memory.rows[KEY][name] == row[name]


async def test_a_release_that_does_not_know_a_schema_does_not_write_over_it(memory: Memory) -> None:
    """INVARIANT: an item that a newer release has stored is not changed by one that does not know its schema."""
    old = writer(memory, OLD)
    read_before = await old.stored("Ticket", {"ticketId": "t000"})
    new = writer(memory, NEW)
    upgraded = new.change()
    upgraded.update(await new.stored("Ticket", {"ticketId": "t000"}), {"effort": 1})
    await new.commit(upgraded, MutationResult(Item("Ticket", {}, "")))
    before = dict(memory.rows[KEY])
    changed = Item(read_before.entity, {**read_before.values, "version": 2}, read_before.position, read_before.stale)
    for item in (read_before, changed):
        change = old.change()
        change.update(item, {"effort": 9})
        with pytest.raises(Rejected) as caught:
            await old.commit(change, MutationResult(item))
        assert caught.value.faults[0].code is UserErrorCode.CONFLICT
    assert memory.rows[KEY] == before


async def test_listings_read_the_shards_of_before_and_after(memory: Memory) -> None:
    here = writer(memory, NEW)
    for number in (1, 2, 3):
        change = here.change()
        change.update(await here.stored("Ticket", {"ticketId": f"t{number:03}"}), {"effort": 1})
        await here.commit(change, MutationResult(Item("Ticket", {}, "")))
    shards = {row["GSI2PK"]["S"][-1] for row in memory.rows.values() if "GSI2PK" in row}
    assert shards > {"0", "1"}, "some have moved"
    plan = plan_listing(
        NEW, NEW.listing("ticketsByState"), ACME, {"state": State.OPEN}, Window(10), frozenset({"ticketId"})
    )
    page = await here.table.query(here.access, plan)
    assert [item.values["ticketId"] for item in page.items] == [f"t{number:03}" for number in range(6)]


def test_numbers_that_upgrades_give_are_not_added_to() -> None:
    counted = replace(
        BEFORE,
        copies=(),
        schema=2,
        upgrades=(
            Upgrade(
                to=2,
                needs=(Attribute("hours", Integer(), "Before."),),
                gives=("effort",),
                change=lambda old: {"effort": old["hours"]},
            ),
        ),
    )
    known = Model(domains=(replace(OLD.domains[0], entities=(counted,), patterns=()),))
    change = Change(known, ACME)
    fault = Fault(UserErrorCode.CONFLICT, "no")
    with pytest.raises(Internal, match="upgrade"):
        change.add("Ticket", {"ticketId": "t"}, {"effort": 1}, fault, never_below_zero=False)
    bare = replace(counted, attributes=(counted.attributes[0], counted.attributes[-1]), indexes=())
    with pytest.raises(Internal, match="upgrades"):
        tally(
            Change(Model(domains=(replace(known.domains[0], entities=(bare,)),)), ACME),
            "Ticket",
            {"ticketId": "t"},
            {"effort": 1},
        )


def test_numbers_of_items_with_copies_are_not_added_to() -> None:
    fault = Fault(UserErrorCode.CONFLICT, "no")
    with pytest.raises(Internal, match="copies"):
        Change(OLD, ACME).add("Ticket", {"ticketId": "t"}, {"effort": 1}, fault, never_below_zero=False)


def test_what_was_personal_stays_hidden_until_it_is_gone() -> None:
    assert {"fullName", "givenName", "familyName"} <= set(personal_attributes(NEW))
