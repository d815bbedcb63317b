"""The work of a tenant is spread over turns of the event loop, so that other tenants do not wait for all of it."""

import asyncio

import pytest

from gateway.pacer import Pacer

BURST, OTHER, THIRD = "burst", "other", "third"


class Clock:
    """Time passes only when a test says so: every turn of the loop seems idle, unless the test makes it long."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pacer(clock: Clock) -> Pacer:
    """A pacer of two tenants, in a new round."""
    pacer = Pacer(clock)
    assert pacer.step_at_once(OTHER)
    assert pacer.step_at_once(BURST)
    clock.now += 0.001
    return pacer


def burst(pacer: Pacer, count: int, done: list[str], tenant: str = BURST) -> list["asyncio.Task[None]"]:
    async def work(number: int) -> None:
        if not pacer.step_at_once(tenant):
            await pacer.step(tenant)
        done.append(f"{tenant} {number}")

    return [asyncio.create_task(work(number)) for number in range(count)]


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_burst_takes_one_step_in_a_turn(pacer: Pacer) -> None:
    done: list[str] = []
    tasks = burst(pacer, 8, done)
    await turns(1)
    assert done == ["burst 0"]
    counts = []
    while len(done) < 8:
        before = len(done)
        await turns(1)
        counts.append(len(done) - before)
    assert max(counts) == 1
    assert done == [f"burst {number}" for number in range(8)]
    await asyncio.gather(*tasks)


async def test_another_tenant_does_not_wait_for_the_burst(pacer: Pacer) -> None:
    done: list[str] = []
    tasks = [*burst(pacer, 8, done), *burst(pacer, 1, done, OTHER)]
    await turns(1)
    assert done == ["burst 0", "other 0"]
    await asyncio.gather(*tasks)


async def test_tenants_with_bursts_take_turns(pacer: Pacer) -> None:
    done: list[str] = []
    await asyncio.gather(*burst(pacer, 4, done), *burst(pacer, 4, done, THIRD))
    assert done == [f"{tenant} {number}" for number in range(4) for tenant in (BURST, THIRD)]


async def test_a_busy_loop_finishes_its_work_before_the_next_step(pacer: Pacer, clock: Clock) -> None:
    done: list[str] = []
    tasks = burst(pacer, 2, done)
    for _ in range(6):
        await turns(1)
        clock.now += 0.0003
    assert done == ["burst 0"]
    await turns(3)
    assert len(done) == 2
    await asyncio.gather(*tasks)


async def test_a_loop_that_is_always_busy_does_not_starve_a_step(pacer: Pacer, clock: Clock) -> None:
    done: list[str] = []
    tasks = burst(pacer, 2, done)
    for _ in range(20):
        await turns(1)
        clock.now += 0.0003
        # steps of other tenants do not put it off
        pacer.step_at_once(f"tenant {clock.now}")
    assert len(done) == 2
    await asyncio.gather(*tasks)


def test_a_tenant_alone_never_waits(clock: Clock) -> None:
    pacer = Pacer(clock)
    assert pacer.step_at_once(BURST)
    clock.now += 1
    assert all(pacer.step_at_once(BURST) for _ in range(100))


def test_a_step_of_another_tenant_ends_that(clock: Clock) -> None:
    pacer = Pacer(clock)
    assert pacer.step_at_once(BURST)
    clock.now += 1
    assert pacer.step_at_once(BURST)
    assert pacer.step_at_once(OTHER)
    assert [pacer.step_at_once(BURST) for _ in range(2)] == [True, False]
    clock.now += 0.001
    assert pacer.step_at_once(BURST)


async def test_a_cancelled_step_is_left_out(pacer: Pacer) -> None:
    done: list[str] = []
    tasks = burst(pacer, 4, done)
    await turns(1)
    tasks[1].cancel()
    tasks[2].cancel()
    await turns(4)
    assert done == ["burst 0", "burst 3"]
    await asyncio.gather(*tasks, return_exceptions=True)
    assert pacer.waiting(BURST) == 0


async def test_a_step_that_fails_does_not_stop_the_others(pacer: Pacer) -> None:
    failures: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: failures.append(str(context["exception"])))

    def fails() -> bool:
        raise ValueError("planted")

    pacer.wait(BURST, fails)
    await asyncio.wait_for(pacer.step(BURST), 10)
    assert failures == ["planted"]


async def test_it_is_active_while_steps_wait_and_shortly_after(pacer: Pacer, clock: Clock) -> None:
    seen = []
    clock.now += 1
    seen.append(pacer.active)
    pacer.step_at_once(BURST)
    seen.append(pacer.active)
    clock.now += 0.01
    seen.append(pacer.active)
    waiting = asyncio.create_task(pacer.step(BURST))
    await turns(1)
    seen.append(pacer.active)
    assert seen == [False, True, False, True]
    await waiting


def test_nothing_waits_for_a_loop_that_has_ended(pacer: Pacer) -> None:
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(pacer.step(BURST))
    loop.call_soon(loop.stop)
    loop.run_forever()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(waiting)
    loop.close()

    async def go_on() -> None:
        await asyncio.wait_for(pacer.step(BURST), 10)

    asyncio.run(go_on())
