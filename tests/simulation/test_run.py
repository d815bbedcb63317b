"""The protocols under a seeded scheduler: right for every seed, wrong without a guard; a failing seed is a test."""

import asyncio

import pytest

from tests.simulation.loop import simulate
from tests.simulation.run import TENANTS, History, main, one


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_lost_doubled_too_old_or_foreign(seed: int) -> None:
    history, steps = one(seed)
    assert history.check() == []
    assert steps > 200
    assert any(history.acknowledged.values())


def test_the_same_seed_is_the_same_history() -> None:
    assert one(3) == one(3)
    assert one(3)[1] != one(4)[1]


def test_without_idempotency_keys_a_repeat_is_made_twice() -> None:
    """The checker can say no: callers that repeat under a new key each time double their changes."""
    found = [fault for seed in range(4) for fault in one(seed, repeats_with_key=False)[0].check()]
    assert any("asked for" in fault for fault in found)


def test_client_tokens_are_not_what_keeps_a_change_from_being_doubled() -> None:
    """DynamoDB forgets them after ten minutes; the record in the change's own transaction stays."""
    assert [one(seed, remembers_tokens=False)[0].check() for seed in range(6)] == [[]] * 6


def test_the_checker_names_what_is_wrong() -> None:
    history = History()
    history.left, history.records = dict.fromkeys(TENANTS, 990), dict.fromkeys(TENANTS, 9)
    history.acknowledged[TENANTS[0]] = set(map(str, range(10)))
    history.faults.append("GetItem of acme names TENANT#acme2#PRODUCT#p")
    found = history.check()
    assert "GetItem of acme names TENANT#acme2#PRODUCT#p" in found
    assert "acme: 10 changes were made, 9 are recorded" in found
    assert "acme: 10 acknowledged, 9 made" in found


def test_the_command_counts_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(2_000) == 0
    assert "nothing lost, nothing doubled" in capsys.readouterr().out


def test_time_passes_only_when_nobody_can_run() -> None:
    async def sleeps() -> float:
        await asyncio.gather(asyncio.sleep(3_600), asyncio.sleep(10))
        return asyncio.get_running_loop().time()

    assert simulate(1, sleeps())[0] == 3_600


def test_a_deadlock_is_told() -> None:
    async def waits() -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="nothing can run"):
        simulate(1, waits())
