"""A counter that is declared for items which exist: it is filled while others write, and counts each item once."""

import asyncio
import random
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.errors import ModelError
from gateway.graph.schema.schema import build_schema
from gateway.model.model import Model
from gateway.model.patterns import Counter, Listing
from gateway.ops.migrate.checkpoint import load, save
from gateway.ops.migrate.plan import plan
from gateway.ops.migrate.row_checker import RowFault
from gateway.store.write.change import created
from gateway.store.write.faults import Rejected
from gateway.store.write.writer import MutationResult, Writer
from tests.ops.migrate.whole import Stopped, Whole, backfill, beginning, ignored
from tests.store.fixtures import ACME, TABLE
from tests.store.write.test_counters import MODEL, OF, OPEN, counts, listed, values, writer

COUNT = 40


def declared(*listings: Listing) -> Model:
    [domain] = MODEL.domains
    return Model(domains=(replace(domain, patterns=(domain.patterns[0], *listings)),))


BEFORE = declared(replace(OPEN, counter=None), replace(OF, counter=None))
FILLING = declared(replace(OPEN, counter=Counter(3, filling=True)), replace(OF, counter=Counter(1, filling=True)))


@pytest.fixture
def memory() -> Whole:
    made = Whole(FILLING.table, TABLE)
    for number in range(COUNT):
        made.put(created(BEFORE, "Invoice", ACME, values(number, ("open", "paid")[number % 2], f"c{number % 3}")))
    return made


async def test_every_item_is_counted_once(memory: Whole) -> None:
    work = backfill(memory, FILLING, entity="Invoice")
    await work.run(beginning(), ignored)
    assert counts(memory) == listed(memory)
    assert work.tally.faults[RowFault.UNCOUNTED] == work.tally.repaired == COUNT
    again = backfill(memory, FILLING, entity="Invoice")
    await again.run(beginning(), ignored)
    assert (again.tally.wrong, counts(memory)) == (0, listed(memory))


@pytest.mark.parametrize("stop_after", [1, 3, 8, 21])
async def test_it_goes_on_where_it_was_killed(memory: Whole, tmp_path: Path, stop_after: int) -> None:
    path, runs = tmp_path / "checkpoint", 0
    memory.stop_after = stop_after
    while not load(path, beginning()).done:
        runs += 1
        assert runs < 100
        try:
            await backfill(memory, FILLING, entity="Invoice").run(load(path, beginning()), lambda s: save(path, s))
        except Stopped:
            memory.stop_after = len(memory.sent) + stop_after + runs
    assert runs > 1
    assert counts(memory) == listed(memory)


async def test_a_lost_checkpoint_counts_nothing_twice(memory: Whole) -> None:
    memory.stop_after = 25
    with pytest.raises(Stopped):
        await backfill(memory, FILLING, entity="Invoice").run(beginning(), ignored)
    memory.stop_after = None
    await backfill(memory, FILLING, entity="Invoice").run(beginning(), ignored)
    assert counts(memory) == listed(memory)


async def written(here: Writer, name: str, chance: random.Random) -> None:
    """One change of an item as a request makes it; where the backfill was faster, it is repeated."""
    for _ in range(20):
        item, change = await here.find("Invoice", {"invoiceId": name}), here.change()
        match chance.randrange(4), item:
            case _, None:
                item = change.create("Invoice", {**values(0), "invoiceId": name})
            case 0, _:
                change.remove(item)
            case 1, _:
                change.update(item, {"note": f"{chance.random()}"})
            case _:
                state, customer = chance.choice(("open", "paid")), chance.choice(("c0", "c1"))
                change.update(item, {"state": state, "customerId": customer})
        if not change.members:
            return
        try:
            await here.commit(change, MutationResult(item))
        except Rejected:
            await asyncio.sleep(0)
        else:
            return
    pytest.fail("the backfill stands in the way of a change")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("beside", [(FILLING,), (FILLING, MODEL)], ids=["filling", "filling and complete"])
async def test_what_others_write_meanwhile_is_counted(memory: Whole, seed: int, beside: tuple[Model, ...]) -> None:
    """INVARIANT: a counter is exact after its backfill, in whatever order calls happen."""
    chance = random.Random(seed)

    async def client(model: Model, number: int) -> None:
        for _ in range(15):
            await asyncio.sleep(0)
            # while it is filled everybody fills it; a release that shows it comes when the backfill is done
            await written(writer(memory, model), f"i{chance.randrange(COUNT + 5)}", chance)

    work = backfill(memory, FILLING, entity="Invoice", page=2)
    await asyncio.gather(work.run(beginning(3), ignored), *(client(FILLING, number) for number in range(4)))
    assert counts(memory) == listed(memory)
    await asyncio.gather(*(client(model, number) for number in range(4) for model in beside))
    assert counts(memory) == listed(memory)
    verify = backfill(memory, FILLING, entity="Invoice", dry=True)
    await verify.run(beginning(), ignored)
    assert verify.tally.wrong == 0


def test_the_plan_names_it_and_callers_do_not_see_it_yet() -> None:
    reasons = ("the counter of `openInvoices` is being filled", "the counter of `invoicesOf` is being filled")
    assert plan(FILLING).reasons == {"Invoice": reasons}
    assert plan(MODEL).empty
    assert plan(FILLING).fingerprint != plan(declared(OPEN, replace(OF, counter=Counter(1, filling=True)))).fingerprint
    assert "totalCount" not in build_schema(FILLING).as_str()
    assert "totalCount" in build_schema(MODEL).as_str()


def test_an_entity_cannot_have_the_attribute_of_the_marks() -> None:
    [domain] = MODEL.domains
    [invoice] = domain.entities
    attributes = (*invoice.attributes, replace(invoice.attributes[-1], name="countedBy"))
    with pytest.raises(ModelError, match="countedBy"):
        Model(domains=(replace(domain, entities=(replace(invoice, attributes=attributes),)),))
