"""The queue of operations: who is next, who is refused, and that no place is ever lost."""

import asyncio
import gc
import random

import pytest

from gateway.errors import Overloaded
from gateway.graph.http.fair_queue import MAX_WAIT, FairQueue
from gateway.model.tenant import TenantId, tenant_id
from tests.graph.http.virtual_time import run_virtually

FLOOD, OTHER, THIRD = tenant_id("flood"), tenant_id("other"), tenant_id("third")
LATE = 1e9


class Stage:
    """Operations that run until they are told to end."""

    def __init__(self, concurrent: int = 2, queued: int = 100) -> None:
        self.queue = FairQueue(concurrent, queued)
        self.began: list[str] = []
        self.ends: list[asyncio.Event] = []

    def enter(self, tenant: TenantId, name: str = "", cost: float = 1, deadline: float = LATE) -> "asyncio.Task[None]":
        return asyncio.ensure_future(self._run(tenant, name or tenant, cost, deadline))

    async def _run(self, tenant: TenantId, name: str, cost: float, deadline: float) -> None:
        await self.queue.acquire(tenant, cost, deadline)
        try:
            self.began.append(name)
            end = asyncio.Event()
            self.ends.append(end)
            await end.wait()
        finally:
            self.queue.release()

    async def finish_one(self) -> None:
        self.ends.pop(0).set()
        await settle()

    async def finish(self) -> None:
        while self.ends:
            await self.finish_one()
        assert (self.queue.running, self.queue.waiting, self.queue.tenants) == (0, 0, 0)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_tenant_that_sends_many_at_once_waits_for_itself() -> None:
    stage = Stage()
    flood = [stage.enter(FLOOD) for _ in range(20)]
    await settle()
    others = [stage.enter(OTHER), stage.enter(OTHER), stage.enter(THIRD)]
    await settle()
    assert stage.began == [FLOOD] * 2
    assert (stage.queue.running, stage.queue.waiting) == (2, 21)
    for _ in range(7):
        await stage.finish_one()
    assert stage.began[2:] == [FLOOD, OTHER, THIRD, FLOOD, OTHER, FLOOD, FLOOD]
    await stage.finish()
    await asyncio.gather(*flood, *others)


async def test_tenants_share_by_cost_and_not_by_count() -> None:
    stage = Stage(concurrent=1)
    tasks = [stage.enter(THIRD)]
    await settle()
    for _ in range(40):
        tasks += [stage.enter(FLOOD, cost=10), stage.enter(OTHER, cost=1)]
    await settle()
    for _ in range(1 + 33):
        await stage.finish_one()
    assert stage.began.count(FLOOD) == 4, "what three cost, and the fourth as the first that is served again"
    assert stage.began.count(OTHER) == 30
    await stage.finish()
    await asyncio.gather(*tasks)


async def test_what_a_tenant_had_is_remembered_while_it_has_nothing_in_the_queue() -> None:
    """Else a tenant that sends one expensive operation after the other would have more than its share."""
    stage = Stage(concurrent=1)
    tasks = [stage.enter(THIRD), stage.enter(FLOOD, "first", cost=10)]
    await settle()
    tasks += [stage.enter(OTHER) for _ in range(20)]
    await settle()
    await stage.finish_one()
    assert stage.began[-1] == "first"
    tasks.append(stage.enter(FLOOD, "second", cost=10))
    await settle()
    for _ in range(11):
        await stage.finish_one()
    assert stage.began[2:12] == [OTHER] * 10
    await stage.finish_one()
    assert "second" in stage.began
    await stage.finish()
    await asyncio.gather(*tasks)


async def test_one_tenant_alone_may_use_everything() -> None:
    stage = Stage(concurrent=10)
    tasks = [stage.enter(FLOOD) for _ in range(10)]
    await settle()
    assert len(stage.began) == 10
    await stage.finish()
    await asyncio.gather(*tasks)


def test_a_free_place_is_taken_without_waiting() -> None:
    """Not even a turn of the loop: there is none here."""
    queue = FairQueue(1)
    with pytest.raises(StopIteration):
        queue.acquire(FLOOD, 1, LATE).send(None)
    assert (queue.running, queue.tenants) == (1, 0)


def test_a_burst_is_served_in_order_and_a_standing_queue_newest_first() -> None:
    async def main() -> None:
        stage = Stage(concurrent=1)
        tasks = [stage.enter(FLOOD, name) for name in "abcde"]
        await settle()
        await stage.finish_one()
        assert stage.began == ["a", "b"], "a burst: in order"
        await asyncio.sleep(MAX_WAIT / 2)
        await stage.finish_one()
        await stage.finish_one()
        assert stage.began == ["a", "b", "e", "d"], "it is standing: newest first"
        await stage.finish()
        await asyncio.gather(*tasks)

    run_virtually(main())


async def test_of_too_many_in_the_queue_the_oldest_is_refused_and_others_are_not() -> None:
    stage = Stage(concurrent=1, queued=3)
    tasks = [stage.enter(FLOOD, name) for name in "abcde"]
    await settle()
    with pytest.raises(Overloaded, match="overloaded"):
        await tasks.pop(1)
    tasks.append(stage.enter(OTHER))
    await settle()
    await stage.finish()
    await asyncio.gather(*tasks)
    assert sorted(stage.began) == ["a", "c", "d", "e", OTHER]


async def test_without_a_queue_what_finds_no_place_is_refused() -> None:
    stage = Stage(concurrent=1, queued=0)
    first = stage.enter(FLOOD)
    await settle()
    with pytest.raises(Overloaded):
        await stage.queue.acquire(FLOOD, 1, LATE)
    await stage.finish()
    await first


def test_nothing_waits_longer_than_the_age_limit() -> None:
    async def main() -> None:
        stage = Stage(concurrent=1)
        first = stage.enter(FLOOD)
        await settle()
        with pytest.raises(Overloaded):
            await stage.queue.acquire(OTHER, 1, LATE)
        assert asyncio.get_running_loop().time() == pytest.approx(2 * MAX_WAIT)
        await stage.finish()
        await first

    run_virtually(main())


def test_nothing_waits_until_it_is_too_late_for_its_own_deadline() -> None:
    async def main() -> None:
        stage = Stage(concurrent=1)
        first = stage.enter(FLOOD)
        await settle()
        with pytest.raises(Overloaded):
            await stage.queue.acquire(OTHER, 1, 0.1)
        assert asyncio.get_running_loop().time() <= 0.1
        await stage.finish()
        await first

    run_virtually(main())


async def _hint(queue: FairQueue, seconds: float) -> int:
    """The hint of one that comes when a queue has been standing for so long; the operations take 0.1 s."""
    loop = asyncio.get_running_loop()

    async def one(name: TenantId) -> None:
        await queue.acquire(name, 1, loop.time() + 10)
        await asyncio.sleep(0.1)
        queue.release()

    tasks = []
    while loop.time() < seconds:
        tasks.append(asyncio.ensure_future(one(FLOOD)))
        await asyncio.sleep(0.02)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    return max(outcome.retry_after for outcome in outcomes if isinstance(outcome, Overloaded))


def test_the_longer_an_overload_lasts_the_later_callers_are_asked_to_come_again() -> None:
    assert run_virtually(_hint(FairQueue(1), 0.9)) == 1
    assert 4 <= run_virtually(_hint(FairQueue(1), 5)) <= 6
    assert run_virtually(_hint(FairQueue(1), 60)) == 30


class Timed:
    """Operations that run for a time; True where they were served."""

    def __init__(self) -> None:
        self.queue = FairQueue(1)

    async def run(self, seconds: float, tenant: TenantId = FLOOD, cost: float = 1, patience: float = 10) -> bool:
        loop = asyncio.get_running_loop()
        try:
            await self.queue.acquire(tenant, cost, loop.time() + patience)
        except Overloaded:
            return False
        await asyncio.sleep(seconds)
        self.queue.release()
        return True

    async def slow(self) -> None:
        """Until operations take longer than they may."""
        for seconds in (0.9, 3, 7, 14, 24, 39):
            assert all(await asyncio.gather(self.run(seconds, patience=999), self.run(seconds, patience=999)))


def test_where_operations_take_long_they_may_wait_long() -> None:
    run_virtually(Timed().slow())


def test_a_gateway_that_was_slow_does_not_stop_letting_operations_in() -> None:
    async def main() -> None:
        timed = Timed()
        await timed.slow()
        assert all(await asyncio.gather(timed.run(0.01), timed.run(0.01)))

    run_virtually(main())


def test_how_slow_a_gateway_was_is_forgotten() -> None:
    async def main() -> None:
        timed = Timed()
        await timed.slow()
        await asyncio.sleep(100)
        assert all(await asyncio.gather(*(timed.run(0.01) for _ in range(20))))

    run_virtually(main())


async def _measured(timed: Timed) -> list["asyncio.Task[bool]"]:
    """A queue that knows its rate: a cost of 100 a second."""
    await asyncio.gather(*(timed.run(0.01, THIRD) for _ in range(30)))
    first = asyncio.ensure_future(timed.run(0.01, THIRD))
    await settle()
    return [first]


def test_a_short_queue_of_many_tenants_refuses_nobody() -> None:
    async def main() -> None:
        timed = Timed()
        tasks = await _measured(timed)
        tasks += [asyncio.ensure_future(timed.run(0.01, tenant_id(f"tenant-{number}"))) for number in range(20)]
        tasks += [asyncio.ensure_future(timed.run(0.01, FLOOD)) for _ in range(10)]
        assert all(await asyncio.gather(*tasks)), "all of it takes 0.3 seconds"

    run_virtually(main())


async def test_a_tenant_that_comes_late_has_no_more_than_its_share() -> None:
    stage = Stage(concurrent=1)
    tasks = [stage.enter(FLOOD) for _ in range(40)]
    await settle()
    for _ in range(20):
        await stage.finish_one()
    tasks += [stage.enter(OTHER) for _ in range(10)]
    await settle()
    stage.began.clear()
    for _ in range(10):
        await stage.finish_one()
    assert 4 <= stage.began.count(OTHER) <= 6
    await stage.finish()
    await asyncio.gather(*tasks)


async def test_a_caller_who_leaves_the_queue_takes_no_place() -> None:
    stage = Stage(concurrent=1)
    first, second, third = stage.enter(FLOOD), stage.enter(FLOOD), stage.enter(OTHER)
    await settle()
    second.cancel()
    await settle()
    assert stage.queue.waiting == 1
    await stage.finish_one()
    assert stage.began == [FLOOD, OTHER]
    await stage.finish()
    await asyncio.gather(first, third)


async def test_a_place_that_comes_too_late_is_passed_on() -> None:
    """Cancelled in the moment in which the place was granted."""
    stage = Stage(concurrent=1)
    first, second, third = stage.enter(FLOOD), stage.enter(FLOOD), stage.enter(OTHER)
    await settle()
    stage.ends.pop(0).set()
    await asyncio.sleep(0)  # the first one releases, and the second one's place is granted
    second.cancel()
    await settle()
    assert stage.began == [FLOOD, OTHER]
    await stage.finish()
    await asyncio.gather(first, third)


async def test_a_place_is_not_given_to_one_who_is_just_leaving() -> None:
    """Cancelled, but it has not learned of it yet."""
    stage = Stage(concurrent=1)
    await stage.queue.acquire(THIRD, 1, LATE)
    leaving, other = stage.enter(FLOOD), stage.enter(OTHER)
    await settle()
    leaving.cancel()
    stage.queue.release()
    await settle()
    assert stage.began == [OTHER]
    await stage.finish()
    await other


@pytest.mark.usefixtures("frozen_heap")
async def test_a_refusal_that_nobody_hears_is_not_an_error() -> None:
    problems: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: problems.append(context))
    stage = Stage(concurrent=1, queued=1)
    first, second = stage.enter(FLOOD), stage.enter(FLOOD)
    await settle()
    third = stage.enter(FLOOD)
    await asyncio.sleep(0)  # the second one is refused
    second.cancel()
    await settle()
    del second
    gc.collect()
    assert not problems
    await stage.finish()
    await asyncio.gather(first, third)


def test_nothing_is_lost_and_nothing_is_kept_whatever_happens() -> None:
    """Thousands of tenants that come, leave, are refused and served, in any order."""
    chance = random.Random(5)

    async def main() -> None:
        queue = FairQueue(3, 5)
        loop = asyncio.get_running_loop()
        most = 0

        async def one(number: int) -> None:
            nonlocal most
            tenant = tenant_id(f"tenant-{number % 1_500}")
            async with asyncio.timeout(chance.choice((0.01, 0.1, 1, 60))):
                await queue.acquire(tenant, chance.choice((0.5, 10, 500)), loop.time() + chance.choice((0.05, 10)))
            most = max(most, queue.running)
            await asyncio.sleep(chance.choice((0.001, 0.01, 0.2)))
            queue.release()

        tasks = []
        for number in range(5_000):
            tasks.append(asyncio.ensure_future(one(number)))
            await asyncio.sleep(chance.expovariate(100))
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(each) for each in outcomes} == {type(None), TimeoutError, Overloaded}
        assert most == 3
        assert (queue.running, queue.waiting, queue.tenants) == (0, 0, 0)

    run_virtually(main())


def test_tenants_with_nothing_in_the_queue_are_forgotten_during_an_overload() -> None:
    async def main() -> None:
        queue = FairQueue(1)
        loop = asyncio.get_running_loop()
        most = 0

        async def one(tenant: TenantId) -> None:
            nonlocal most
            await queue.acquire(tenant, 1, loop.time() + 10)
            most = max(most, queue.tenants)
            await asyncio.sleep(0.01)
            queue.release()

        tasks = []
        for number in range(3_000):
            tasks += [asyncio.ensure_future(one(FLOOD)), asyncio.ensure_future(one(tenant_id(f"tenant-{number}")))]
            await asyncio.sleep(0.014)
            assert queue.waiting or number < 10, "there is no moment in which everything would be forgotten anyway"
        await asyncio.gather(*tasks, return_exceptions=True)
        assert most < 200

    run_virtually(main())


async def test_a_free_place_is_taken_at_once_and_given_back() -> None:
    queue = FairQueue(1)
    assert queue.acquire_at_once()
    assert not queue.acquire_at_once()
    assert queue.running == 1
    queue.release()
    assert queue.running == 0
