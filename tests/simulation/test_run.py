"""The protocols under a seeded scheduler: right for every seed, wrong without a guard; a failing seed is a test."""

import asyncio
import subprocess
import sys
from functools import cache

import pytest

from gateway.testing.memory import Row
from tests.drawn import drawn
from tests.simulation.history import DECLARED, TENANTS, History, Looked
from tests.simulation.loop import simulate
from tests.simulation.network import LAG, State
from tests.simulation.run import main, one, replay

SEEDS = range(drawn(8, 4))
shared = cache(one)  # for tests that only read a history


# a seed that was wrong once stays here: 38 shared a read of an index that was older than its own change
@pytest.mark.parametrize("seed", [*SEEDS, 38])
def test_nothing_is_lost_doubled_too_old_or_foreign(seed: int) -> None:
    history, steps = shared(seed)
    assert history.check() == []
    assert steps > 200
    assert any(history.acknowledged.values())


def test_histories_hold_what_they_are_about() -> None:
    """Reads from caches, changes that were acknowledged, sessions that had to be renewed, trouble of every kind."""
    histories = [shared(seed)[0] for seed in SEEDS]
    assert sum(history.cached for history in histories) > 50
    assert all(any(history.edits_told.values()) for history in histories)
    events = " ".join(event for history in histories for event in history.events)
    for words in ("dies", "is suspended", "sts is down", "one taken", "made before", " is None", " as None"):
        assert words in events


def test_the_same_seed_is_the_same_history() -> None:
    assert one(3) == shared(3)
    assert shared(3)[1] != shared(4)[1]


@pytest.mark.slow
def test_a_seed_is_the_same_history_in_every_process(capsys: pytest.CaptureFixture[str]) -> None:
    """Or a seed that failed in CI could not be replayed."""
    command = [sys.executable, "-m", "tests.simulation.run", "--seed", "5"]
    elsewhere = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert "nothing is wrong" in elsewhere.stdout
    assert replay(5) == 0
    assert capsys.readouterr().out == elsewhere.stdout


def test_a_seed_that_is_wrong_is_reported_with_the_command_that_replays_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(History, "check", lambda history: ["something was lost"])
    assert main(1, first=7) == 1
    output = capsys.readouterr().out
    assert "seed 7 is wrong" in output
    assert "something was lost" in output
    assert "python -m tests.simulation.run --seed 7" in output
    assert replay(7) == 1
    assert "acknowledged by process" in capsys.readouterr().out


def test_without_idempotency_keys_a_repeat_is_made_twice() -> None:
    """The checker can say no: callers that repeat under a new key each time double their changes."""
    found = (fault for seed in range(6, 14) for fault in one(seed, repeats_with_key=False)[0].check())
    assert any("asked for" in fault for fault in found)  # the first seed tells


def test_client_tokens_are_not_what_keeps_a_change_from_being_doubled() -> None:
    """DynamoDB forgets them after ten minutes; the record in the change's own transaction stays."""
    assert [one(seed, remembers_tokens=False)[0].check() for seed in range(2)] == [[]] * 2


def test_the_checker_names_what_is_wrong() -> None:
    history = History()
    history.left, history.records = dict.fromkeys(TENANTS, 990), dict.fromkeys(TENANTS, 9)
    history.edits_told[TENANTS[1]] = {"lost", "there"}
    history.edits[TENANTS[1]] = ["there", None, "there"]
    history.acknowledged[TENANTS[0]] = set(map(str, range(10)))
    history.faults.append("GetItem of acme names TENANT#acme2#PRODUCT#p")
    found = history.check()
    assert "GetItem of acme names TENANT#acme2#PRODUCT#p" in found
    assert "acme: 10 changes were made, 9 are recorded" in found
    assert "acme: 10 acknowledged, 9 made" in found
    assert "acme2: acknowledged and lost: ['lost']" in found
    assert "acme2: a change was made twice" in found


def row(title: str, category: str = "c") -> Row:
    return {"title": {"S": title}, "categoryId": {"S": category}}


STATES: list[State] = [(100.0, row("a")), (200.0, row("b")), (300.0, None), (400.0, row("d", "other"))]


@pytest.mark.parametrize(
    ("begun", "own", "seen", "wrong"),
    [
        (200 + DECLARED.seconds + LAG - 0.1, None, "a", False),
        (200 + DECLARED.seconds + LAG + 0.1, None, "a", True),
        (210.0, (0, 150.0), "a", False),
        (210.0, (1, 205.0), "a", True),
        (210.0, None, None, True),
        (310.0, None, None, False),
        (420.0, None, None, True),
        (210.0, None, "d", True),
    ],
)
def test_an_item_is_checked_by_its_age_and_by_the_changes_of_its_process(
    begun: float, own: tuple[int, float] | None, seen: str | None, wrong: bool
) -> None:
    assert (Looked(begun, own).of_item(STATES, begun, seen) is not None) is wrong


@pytest.mark.parametrize(
    ("begun", "own", "seen", "wrong"),
    [
        (202.0, (1, 201.0), "a", False),
        (220.0, (1, 201.0), "a", True),
        (220.0, None, "a", False),
        (210.0, None, None, True),
        (450.0, None, None, False),
        (450.0, None, "d", True),
    ],
)
def test_a_page_is_checked_against_what_its_index_may_still_show(
    begun: float, own: tuple[int, float] | None, seen: str | None, wrong: bool
) -> None:
    assert (Looked(begun, own).of_page(STATES, begun, seen, "c", empty=False) is not None) is wrong


def test_the_command_counts_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(2_000) == 0
    assert "nothing lost, nothing doubled" in capsys.readouterr().out


def test_time_passes_only_when_nobody_can_run() -> None:
    async def sleeps() -> float:
        await asyncio.gather(asyncio.sleep(3_600), asyncio.sleep(10))
        return asyncio.get_running_loop().time()

    assert simulate(1, sleeps())[0] == 3_600


def test_a_deadlock_is_reported() -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="nothing can run"):
        simulate(1, waits())
