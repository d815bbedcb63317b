"""Counters of listings: exact under concurrent changes, lost answers and cancelled transactions."""

import asyncio
import random
from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.errors import CancellationReason, TransactionCancelled
from gateway.errors import Internal, Unavailable
from gateway.iam.policies.policies import generated
from gateway.model.entity import Attribute, Entity, Key, OnIndex, When
from gateway.model.model import Domain, Model
from gateway.model.patterns import Counter, Listing, Lookup
from gateway.model.tenant import TenantId
from gateway.model.types import Id, Text
from gateway.ops.policies.files import permissions_for
from gateway.store.access import Access
from gateway.store.table import Table
from gateway.store.write.change import Change, created
from gateway.store.write.counters import add_row, counter_members
from gateway.store.write.faults import Rejected
from gateway.store.write.upserts import discard
from gateway.store.write.upserts import replace as put_unread
from gateway.store.write.writer import MutationResult, Writer
from gateway.testing.memory import Memory
from tests.store.fixtures import ACME, TABLE, no_renewal, tenancy

INVOICE = Entity(
    name="Invoice",
    description="What somebody owes.",
    attributes=(
        Attribute("invoiceId", Id(), "Its id."),
        Attribute("customerId", Id(), "Who owes it."),
        Attribute("state", Id(), "Open or paid."),
        Attribute("note", Text(100), "A remark.", required=False),
    ),
    key=Key(pk="INVOICE#{invoiceId}", sk="META"),
    indexes=(
        OnIndex(index="GSI1", pk="CUSTOMER#{customerId}", sk="{state}#{invoiceId}"),
        OnIndex(
            index="GSI2", name="open", pk="OPEN", sk="{invoiceId}", when=When("state", ("open",)),
            low_cardinality_reason="few are open",
        ),
    ),
)  # fmt: skip
OPEN = Listing(name="openInvoices", entity="Invoice", index="open", counter=Counter(3), description="Open ones.")
OF = Listing(
    name="invoicesOf", entity="Invoice", index="GSI1", where=("state",), counter=Counter(1), description="By state."
)
MODEL = Model(
    domains=(
        Domain(
            name="invoices",
            description="Invoices.",
            entities=(INVOICE,),
            patterns=(Lookup(name="invoice", entity="Invoice", description="By id."), OPEN, OF),
        ),
    )
)


@dataclass
class Unreliable(Memory):
    """Half of its transactions are cancelled by others, or their answers are lost after they were applied."""

    chance: random.Random = field(default_factory=lambda: random.Random(7))

    async def call(self, operation: str, body: Mapping[str, Any], **how: Any) -> Any:
        if operation != "TransactWriteItems":
            return await super().call(operation, body, **how)
        await asyncio.sleep(0)
        fate = self.chance.random()
        if fate < 0.2:
            conflict = TransactionCancelled("the transaction met another")
            conflict.reasons = (CancellationReason("TransactionConflict", ""),) * len(body["TransactItems"])
            raise conflict
        answer = await super().call(operation, body, **how)
        if fate < 0.5:
            raise Unavailable("the answer was lost")
        return answer


PERMISSIONS = permissions_for(generated(MODEL), MODEL)


def writer(memory: Memory, model: Model = MODEL) -> Writer:
    place = tenancy()
    session = Session(ACME, "admin", Credentials("AKID", "secret"), place, PERMISSIONS(place, ACME, "admin", None))
    return Writer(model, Table(memory, model, no_renewal), Access(session))


def values(number: int, state: str = "open", customer: str = "c1") -> dict[str, Any]:
    return {"invoiceId": f"i{number}", "customerId": customer, "state": state}


def counts(memory: Memory) -> dict[str, int]:
    """The sum of all rows of each counter and partition."""
    found: Tally[str] = Tally()
    for (pk, _), row in memory.rows.items():
        if "#COUNT#" in pk:
            found[pk.removeprefix("TENANT#acme#COUNT#").rpartition("#")[0]] += int(row["counted"]["N"])
    return {name: number for name, number in found.items() if number}


def listed(memory: Memory) -> dict[str, int]:
    """What the listings would have, counted item by item."""
    found: Tally[str] = Tally()
    for row in memory.rows.values():
        if row["EntityType"]["S"] == "Invoice":
            found[f"INVOICES_OF#{row['customerId']['S']}#{row['state']['S']}"] += 1
            found["OPEN_INVOICES"] += row["state"]["S"] == "open"
    return {name: number for name, number in found.items() if number}


async def step(use: Writer, chance: random.Random) -> None:
    number = chance.randrange(12)
    change, item = use.change(), await use.find("Invoice", {"invoiceId": f"i{number}"})
    state, customer = chance.choice(("open", "paid")), chance.choice(("c1", "c2"))
    if item is None:
        item = change.create("Invoice", values(number, state, customer))
    elif chance.random() < 0.4:
        change.remove(item)
    else:
        item = change.update(item, {"state": state, "customerId": customer})
    await use.commit(change, MutationResult(item))


@pytest.mark.parametrize("seed", range(3))
async def test_counters_are_exact_whatever_happens_to_transactions(seed: int) -> None:
    memory = Unreliable(MODEL.table, TABLE, chance=random.Random(seed))
    chance, lost = random.Random(seed), 0

    async def client() -> int:
        failed = 0
        for _ in range(40):
            try:
                await step(writer(memory), chance)
            except (Rejected, Unavailable):
                failed += 1
        return failed

    lost = sum(await asyncio.gather(*(client() for _ in range(4))))
    assert lost > 10
    assert listed(memory)
    assert counts(memory) == listed(memory)


async def test_a_change_of_something_else_writes_no_counter() -> None:
    memory = Memory(MODEL.table, TABLE)
    use = writer(memory)
    change = use.change()
    item = change.create("Invoice", values(1))
    await use.commit(change, MutationResult(item))
    assert counts(memory) == {"OPEN_INVOICES": 1, "INVOICES_OF#c1#open": 1}
    noted = use.change()
    noted.update(item, {"note": "please pay"})
    assert [member.kind for member in noted.members] == ["Update"]
    paid = use.change()
    paid.update(item, {"state": "paid"})
    assert sorted(member.counts for member in paid.members if member.counts is not None) == [-1, -1, 1]


def test_what_several_items_add_to_one_row_is_one_member() -> None:
    change = Change(MODEL, ACME)
    for number in range(20):
        change.create("Invoice", values(number))
    added = [member for member in change.members if member.counts is not None]
    assert len(added) == 3 + 1
    assert sum(member.counts or 0 for member in added) == 40
    assert {member.body["ExpressionAttributeValues"][":number"]["N"] for member in added} == {
        str(member.counts) for member in added
    }


def test_rows_are_under_the_tenants_own_prefix() -> None:
    for tenant in (ACME, TenantId("globex")):
        members = counter_members(MODEL, INVOICE, tenant, None, values(1))
        assert all(member.key.pk.startswith(f"TENANT#{tenant}#COUNT#") for member in members)


def test_seeds_add_up_the_rows_of_counters() -> None:
    rows: dict[Any, Any] = {}
    for number in range(30):
        for row in created(MODEL, "Invoice", ACME, values(number)):
            assert add_row(MODEL, rows, row)
    memory = Memory(MODEL.table, TABLE, rows=rows)
    assert counts(memory) == listed(memory)
    assert not add_row(MODEL, rows, next(iter(created(MODEL, "Invoice", ACME, values(1)))))


def test_what_is_counted_is_not_written_unread() -> None:
    change = Change(MODEL, ACME)
    with pytest.raises(Internal, match="Invoice is counted"):
        put_unread(change, "Invoice", values(1))
    with pytest.raises(Internal, match="Invoice is counted"):
        discard(change, "Invoice", {"invoiceId": "i1"})


def test_a_model_without_counters_has_no_rows_of_them() -> None:
    plain = (replace(OPEN, counter=None), replace(OF, counter=None))
    domain = replace(MODEL.domains[0], patterns=(MODEL.domains[0].patterns[0], *plain))
    assert not Model(domains=(domain,)).counters
