"""Jobs side by side: in order, all or nothing, and nothing left behind."""

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.errors import Throttled
from gateway.store.access import Access, Call, gather_or_cancel, gather_settled, shared
from tests.store.fixtures import session

TURNS = 5


@pytest.fixture(autouse=True)
async def nothing_left_behind() -> AsyncIterator[None]:
    gc.freeze()  # what was there before is not looked at below
    loop = asyncio.get_running_loop()
    unheard: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: unheard.append(context))
    yield
    # the plugin that runs the tests has tasks of its own
    assert not [task for task in asyncio.all_tasks() if "TestRunner" not in repr(task.get_coro())]
    gc.collect()
    await asyncio.sleep(0)
    assert unheard == []
    loop.set_exception_handler(None)


async def job(answer: int, turns: int = TURNS, error: Exception | None = None, log: list[str] | None = None) -> int:
    try:
        for _ in range(turns):
            await asyncio.sleep(0)
        if error is not None:
            raise error
        return answer
    except asyncio.CancelledError:
        if log is not None:
            log.append(f"{answer} cancelled")
        await asyncio.sleep(0)  # cleaning up takes a moment
        raise


async def test_answers_have_the_order_of_the_jobs() -> None:
    assert await gather_or_cancel([job(1, turns=9), job(2, turns=1), job(3, turns=5)]) == [1, 2, 3]


async def test_no_job_and_one_job_are_fine() -> None:
    assert await gather_or_cancel([]) == []
    assert await gather_or_cancel([job(1)]) == [1]


async def test_jobs_run_side_by_side() -> None:
    gate = asyncio.Event()

    async def opens() -> int:
        gate.set()
        return 1

    async def waits() -> int:
        await gate.wait()
        return 2

    assert await asyncio.wait_for(gather_or_cancel([waits(), opens()]), timeout=60) == [2, 1]


async def test_the_first_failure_is_raised_as_it_is_and_ends_the_others() -> None:
    log: list[str] = []
    error = Throttled("slow down")
    with pytest.raises(Throttled) as raised:
        await gather_or_cancel([job(1, 1_000, log=log), job(2, 1, error), job(3, 1_000, log=log)])
    assert raised.value is error
    assert sorted(log) == ["1 cancelled", "3 cancelled"]


async def test_failures_at_the_same_time_are_all_retrieved() -> None:
    with pytest.raises(Throttled, match="first"):
        await gather_or_cancel([job(n, 1, Throttled(text)) for n, text in enumerate(("first", "second", "third"))])


async def test_one_job_alone_fails_as_it_is() -> None:
    error = Throttled("slow down")
    with pytest.raises(Throttled) as raised:
        await gather_or_cancel([job(1, error=error)])
    assert raised.value is error


async def test_a_caller_that_is_cancelled_cancels_its_jobs_and_waits_for_them() -> None:
    log: list[str] = []
    task = asyncio.ensure_future(gather_or_cancel([job(1, 1_000, log=log), job(2, 1_000, log=log)]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(log) == ["1 cancelled", "2 cancelled"]


async def test_a_caller_that_is_cancelled_before_its_jobs_began_leaves_nothing_behind() -> None:
    task = asyncio.ensure_future(gather_or_cancel([job(1), job(2)]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_job_that_fails_while_it_is_cancelled_hides_nothing() -> None:
    async def stubborn() -> int:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError as cancelled:
            raise Throttled("while cleaning up") from cancelled
        return 0

    with pytest.raises(Throttled, match="first"):
        await gather_or_cancel([stubborn(), job(1, 2, Throttled("first"))])


async def test_what_is_settled_runs_to_its_end_with_failures_in_their_places() -> None:
    error = Throttled("slow down")
    assert await gather_settled([job(1, 1, error), job(2, turns=9), job(3, turns=0)]) == [error, 2, 3]


async def test_one_job_alone_is_settled_too() -> None:
    error = Throttled("slow down")
    assert await gather_settled([job(1)]) == [1]
    assert await gather_settled([job(1, error=error)]) == [error]
    assert await gather_settled([]) == []


async def test_a_cancelled_job_is_no_result() -> None:
    async def given_up() -> int:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await gather_settled([given_up(), job(1)])


async def test_a_caller_that_is_cancelled_also_cancels_what_it_settles() -> None:
    log: list[str] = []
    task = asyncio.ensure_future(gather_settled([job(1, 1_000, log=log), job(2, 1_000, log=log)]))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert sorted(log) == ["1 cancelled", "2 cancelled"]


async def test_what_is_shared_outlives_one_of_those_who_wait() -> None:
    found = asyncio.ensure_future(job(1, turns=5))
    first, second = asyncio.ensure_future(shared(found)), asyncio.ensure_future(shared(found))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1
    assert first.cancelled()


async def test_a_failure_that_nobody_waits_for_any_more_makes_no_noise() -> None:
    found = asyncio.ensure_future(job(1, 5, Throttled("slow down")))
    waiting = asyncio.ensure_future(shared(found))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([found, waiting])


async def test_an_access_sums_up_what_its_calls_consumed() -> None:
    access = Access(session())
    assert access.capacity == 0
    access.calls += [Call("GetItem", None, 1, 0.5, 0.01), Call("Query", "GSI1", 20, 2.5, 0.02)]
    assert access.capacity == 3.0


async def test_an_answer_to_a_lane_is_given_to_the_reference_once_for_the_same_request() -> None:
    access, late = Access(session()), Throttled("slow down")
    access.replay += [("GetItem", b"a", b"1"), ("Query", b"a", b"2"), ("GetItem", b"b", late)]
    assert access.replayed("Query", b"b") is None
    assert access.replayed("GetItem", b"b") is late
    assert access.replayed("GetItem", b"a") == b"1"
    assert access.replayed("GetItem", b"a") is None
    assert access.replayed("Query", b"a") == b"2"
    assert access.replay == []
