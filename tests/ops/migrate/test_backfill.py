"""The backfill: interrupted and resumed, met by others who write, and never further than what it has done."""

import asyncio
import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from gateway.aws.wire.errors import CancellationReason, Retry, ThroughputExceeded, TransactionCancelled
from gateway.errors import Conflict
from gateway.ops.migrate.checkpoint import Checkpoint, load, save
from gateway.ops.migrate.row_checker import RowFault
from gateway.ops.migrate.scan import Pace
from gateway.store.write.items import items_for
from gateway.store.write.writer import MutationResult
from tests.ops.migrate.whole import Stopped, Whole, backfill, beginning, ignored, new_row
from tests.store.fixtures import ACME, GLOBEX, TABLE
from tests.store.growing import BEFORE, NEW, OLD, State, model, old_rows, ticket
from tests.store.test_upgrades import writer

COUNT = 20


def expected(count: int = COUNT) -> dict[tuple[str, str], Any]:
    memory = Whole(NEW.table, TABLE)
    for number in range(count):
        memory.put(new_row(number))
    return memory.rows


@pytest.fixture
def memory() -> Whole:
    made = Whole(NEW.table, TABLE)
    made.put(old_rows(COUNT))
    return made


async def test_every_item_copy_and_index_entry_becomes_what_the_model_says(memory: Whole) -> None:
    work = backfill(memory)
    await work.run(beginning(), ignored)
    assert memory.rows == expected()
    assert (work.tally.repaired, work.tally.scanned) == (COUNT, 2 * COUNT)
    again = backfill(memory)
    await again.run(beginning(), ignored)
    assert (again.tally.wrong, again.tally.repaired) == (0, 0)


async def test_versions_stay_so_that_no_caller_meets_a_conflict(memory: Whole) -> None:
    memory.put(items_for(OLD, BEFORE, ACME, ticket(1), version=7))
    await backfill(memory).run(beginning(), ignored)
    assert memory.rows["TENANT#acme#TICKET#t001", "META"]["version"] == {"N": "7"}


@pytest.mark.parametrize("stop_after", [1, 2, 3, 5, 8, 13, 21])
async def test_it_goes_on_where_it_was_stopped(memory: Whole, tmp_path: Path, stop_after: int) -> None:
    """INVARIANT: a checkpoint never lies before what is written: an item is behind it only when it is done."""
    path, runs = tmp_path / "checkpoint", 0
    memory.stop_after = stop_after
    while True:
        runs += 1
        state = load(path, beginning())
        work = backfill(memory)
        try:
            await work.run(state, lambda state: save(path, state))
        except Stopped:
            assert_behind(memory, load(path, beginning()))
            memory.stop_after = len(memory.sent) + stop_after
            assert runs < 100
            # a run that is stopped before its first page gets nowhere, as it should
            if stop_after < 5:
                memory.stop_after += runs
            continue
        break
    assert runs > 1
    assert memory.rows == expected()
    assert load(path, beginning()).done


async def test_a_checkpoint_moves_on_inside_a_page(memory: Whole, tmp_path: Path) -> None:
    """At a slow pace a page takes minutes; a run that is killed in it must not begin it again."""
    path = tmp_path / "checkpoint"
    memory.stop_after = 15  # the scan of the only page, and some of its twenty writes
    with pytest.raises(Stopped):
        await backfill(memory, page=1_000).run(beginning(1), lambda state: save(path, state))
    stored = load(path, beginning(1))
    assert stored.begun
    assert_behind(memory, stored)
    memory.stop_after = None
    again = backfill(memory, page=1_000)
    await again.run(stored, ignored)
    assert memory.rows == expected()
    assert again.tally.scanned < 2 * COUNT


def assert_behind(memory: Whole, state: Checkpoint) -> None:
    """Whatever the checkpoint says is done has been written."""
    for (pk, sk), row in memory.rows.items():
        segment = state.segments[crc32(pk.encode()) % len(state.segments)]
        at = (segment.start["PK"]["S"], segment.start["SK"]["S"]) if segment.start else ("", "")
        if sk == "META" and (segment.done or (pk, sk) <= at):
            assert row["schema"] == {"N": "2"}, (pk, sk)


async def test_a_dry_run_counts_and_changes_nothing(memory: Whole) -> None:
    before = deepcopy(memory.rows)
    work = backfill(memory, dry=True)
    await work.run(beginning(), ignored)
    assert memory.rows == before
    assert work.tally.faults[RowFault.STALE] == 2 * COUNT, "items and copies"
    assert work.tally.faults[RowFault.MISSING] == COUNT
    assert {operation for operation, _ in memory.sent} == {"Scan"}


async def test_what_others_write_meanwhile_is_kept(memory: Whole) -> None:
    """Requests change items while the backfill goes over them, in every order their calls happen to have."""

    async def change(number: int) -> None:
        for effort in range(3):
            here = writer(memory, NEW)
            stored = await here.stored("Ticket", {"ticketId": f"t{number:03}"})
            made = here.change()
            made.update(stored, {"effort": effort, "state": State.DONE if effort == 2 else State.OPEN})
            try:
                await here.commit(made, MutationResult(stored))
            except Conflict:
                pytest.fail("a backfill is no change that a caller meets")

    work = backfill(memory, page=2)
    await asyncio.gather(work.run(beginning(3), ignored), *(change(number) for number in range(0, COUNT, 2)))
    for number in range(COUNT):
        changes = {"effort": 2, "state": State.DONE} if number % 2 == 0 else {}
        version = 4 if number % 2 == 0 else 1
        for row in new_row(number, version, **changes):
            assert memory.rows[row["PK"]["S"], row["SK"]["S"]] == row


async def test_an_item_that_was_written_since_it_was_read_is_read_again(memory: Whole) -> None:
    """By a release from before, which leaves it as stale as it was."""

    def old_release(whole: Whole) -> None:
        whole.before_write = lambda whole: None
        for row in items_for(OLD, BEFORE, ACME, ticket(0, effort=5), version=2):
            whole.rows[row["PK"]["S"], row["SK"]["S"]] = row

    memory.before_write = old_release
    work = backfill(memory)
    await work.run(beginning(1), ignored)
    assert work.tally.met == 1
    for row in new_row(0, 2, effort=5):
        assert memory.rows[row["PK"]["S"], row["SK"]["S"]] == row


async def test_an_item_that_was_removed_since_it_was_read_stays_removed(memory: Whole) -> None:
    def removed(whole: Whole) -> None:
        whole.before_write = lambda whole: None
        for row in old_rows(1):
            del whole.rows[row["PK"]["S"], row["SK"]["S"]]

    memory.before_write = removed
    work = backfill(memory)
    await work.run(beginning(1), ignored)
    assert work.tally.gone == 1
    assert memory.rows.keys() == expected().keys() - {(row["PK"]["S"], row["SK"]["S"]) for row in old_rows(1)}


async def test_an_item_that_changes_without_end_is_reported(memory: Whole) -> None:
    def busy(whole: Whole) -> None:
        row = whole.rows["TENANT#acme#TICKET#t000", "META"]
        row["version"] = {"N": str(int(row["version"]["N"]) + 1)}

    memory.before_write = busy
    with pytest.raises(Conflict, match="changes too often"):
        await backfill(memory).run(beginning(1), ignored)


async def test_throttling_and_conflicts_pass(memory: Whole) -> None:
    conflict = TransactionCancelled("the transaction was cancelled")
    conflict.reasons = (CancellationReason("TransactionConflict", ""),)
    throttled = ThroughputExceeded("too many requests", retry=Retry.THROTTLED)
    memory.script["TransactWriteItems"].extend([conflict, throttled])
    memory.script["Scan"].append(throttled)
    await backfill(memory).run(beginning(1), ignored)
    assert memory.rows == expected()


async def test_one_tenant_can_go_first(memory: Whole) -> None:
    memory.put(old_rows(5, GLOBEX))
    await backfill(memory, tenant=GLOBEX).run(beginning(), ignored)
    upgraded = {row["PK"]["S"].split("#")[1] for row in memory.rows.values() if "schema" in row}
    assert upgraded == {"globex"}


async def test_nothing_moves_from_one_tenant_to_another(memory: Whole) -> None:
    """A row whose values do not lead to its own key is reported and left alone."""
    foreign = {**old_rows(1)[0], "ticketId": {"S": "elsewhere"}}
    memory.rows["TENANT#acme#TICKET#t000", "META"] = foreign
    work = backfill(memory)
    await work.run(beginning(), ignored)
    assert memory.rows["TENANT#acme#TICKET#t000", "META"] == foreign
    assert work.tally.reasons() == [("Ticket: its key does not match its values", 1)]


async def test_an_index_alone_is_filled_by_single_updates(memory: Whole) -> None:
    """Without a new schema no copy is touched, and no transaction is needed."""
    filled = model(
        replace(
            BEFORE,
            indexes=(
                *BEFORE.indexes,
                replace(BEFORE.indexes[0], index="GSI3", pk="ALL#{shard}", filling=True),
            ),
        )
    )
    work = backfill(memory, filled)
    await work.run(beginning(), ignored)
    assert {operation for operation, _ in memory.sent} == {"Scan", "UpdateItem"}
    assert work.tally.faults == {RowFault.MISSING: COUNT}
    originals = [row for row in memory.rows.values() if "CopyOf" not in row]
    assert all("GSI3PK" in row and "schema" not in row for row in originals)
    assert not any("GSI3PK" in row for row in memory.rows.values() if "CopyOf" in row)


async def test_the_pace_is_kept() -> None:
    clock = asyncio.get_running_loop().time
    pace = Pace(1_000)
    started = clock()
    for _ in range(21):
        await pace.spend(50)
    # a second's worth at once, the rest as it is earned
    assert clock() - started >= 0.045
    assert pace.spent == 1_050


def test_a_checkpoint_is_text_that_says_how_far_it_is(tmp_path: Path) -> None:
    state = beginning(2)
    state.segments[1].start = {"PK": {"S": "TENANT#acme#X"}, "SK": {"S": "Y"}}
    save(tmp_path / "c", state)
    content = json.loads((tmp_path / "c").read_text())
    assert content["segments"][1]["start"]["SK"] == {"S": "Y"}
    assert (tmp_path / "c").stat().st_mode & 0o777 == 0o600
    assert load(tmp_path / "c", beginning(2)) == state
    assert [path.name for path in tmp_path.iterdir()] == ["c"]
