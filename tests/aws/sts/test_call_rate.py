"""The rate of calls to STS: never exceeded, callers first, a caller that would wait too long is refused at once."""

import asyncio
from math import inf

import pytest

from gateway.aws.sts.call_rate import CallRate, Priority, Ticket
from gateway.errors import Throttled
from tests.aws.virtual_time import run


class Calls:
    """Calls that take some time, and when they began."""

    def __init__(self, rate: CallRate, seconds: float = 0.1) -> None:
        self.rate = rate
        self.seconds = seconds
        self.began: list[tuple[float, str]] = []
        self.running = self.most_running = 0

    async def call(self, name: str, ticket: Ticket) -> None:
        async with self.rate.turn(ticket):
            self.began.append((asyncio.get_running_loop().time(), name))
            self.running += 1
            self.most_running = max(self.most_running, self.running)
            try:
                await asyncio.sleep(self.seconds)
            finally:
                self.running -= 1

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.began]


def most_within_a_second(starts: list[float]) -> int:
    # the moments of a float are not exact: what lies a second apart is not within it
    return max(sum(start <= other < start + 1.0 - 1e-6 for other in starts) for start in starts)


def caller(within: float = inf) -> Ticket:
    return Ticket(Priority.CALLER, asyncio.get_running_loop().time() + within)


@pytest.mark.slow
def test_ten_thousand_sessions_at_a_restart_stay_within_the_rate() -> None:
    async def restart() -> tuple[list[float], float]:
        calls = Calls(CallRate(50, 16))
        await asyncio.gather(*(calls.call("", Ticket(Priority.WARM_UP)) for _ in range(10_000)))
        assert calls.most_running <= 16
        return [start for start, _ in calls.began], asyncio.get_running_loop().time()

    began, ended = run(restart())
    assert len(began) == 10_000
    # in each second, not only on average
    assert most_within_a_second(began[:2_000]) == 50
    # and no slower than that
    assert 199 <= ended <= 201


@pytest.mark.slow
def test_a_caller_hardly_waits_while_ten_thousand_sessions_are_warmed_up() -> None:
    async def restart() -> list[float]:
        calls = Calls(CallRate(50, 16))
        loop = asyncio.get_running_loop()
        warming = [asyncio.create_task(calls.call("", Ticket(Priority.WARM_UP))) for _ in range(10_000)]
        waits = []
        for number in range(100):
            # at any part of a second
            await asyncio.sleep(0.37)
            began = loop.time()
            await calls.call(f"caller {number}", caller())
            waits.append(next(at for at, name in calls.began if name == f"caller {number}") - began)
        for task in warming:
            task.cancel()
        await asyncio.gather(*warming, return_exceptions=True)
        return waits

    # a place of the rate becomes free 50 times a second; in one burst they would be used up for the rest of it
    assert max(run(restart())) < 0.1


def test_a_busy_loop_may_make_up_for_a_moment_and_not_for_more() -> None:
    async def scene() -> int:
        calls = Calls(CallRate(1_000, 2_000))
        # nothing was asked for a long time
        await asyncio.sleep(60)
        waiting = [asyncio.create_task(calls.call("", Ticket(Priority.WARM_UP))) for _ in range(900)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        at_once = len(calls.began)
        await asyncio.gather(*waiting)
        return at_once

    assert 50 <= run(scene()) <= 55


def test_retries_count_and_take_no_further_place() -> None:
    async def scene() -> list[float]:
        rate = CallRate(2, 1)
        began = []
        async with rate.turn(caller()):
            began.append(asyncio.get_running_loop().time())
            for _ in range(4):
                await rate.retry()
                began.append(asyncio.get_running_loop().time())
        return began

    assert run(scene()) == [0.0, 0.0, 1.0, 1.0, 2.0]


def test_callers_come_before_refreshes_and_those_before_warm_up() -> None:
    async def scene() -> list[str]:
        calls = Calls(CallRate(1, 1))
        waiting = [
            asyncio.create_task(calls.call(name, ticket))
            for name, ticket in [
                ("first", Ticket(Priority.WARM_UP)),
                ("warm-up", Ticket(Priority.WARM_UP)),
                ("refresh", Ticket(Priority.REFRESH)),
                ("caller 1", caller()),
                ("caller 2", caller()),
            ]
        ]
        await asyncio.gather(*waiting)
        return calls.names

    assert run(scene()) == ["first", "caller 1", "caller 2", "refresh", "warm-up"]


def test_what_a_caller_begins_to_wait_for_is_moved_ahead() -> None:
    async def scene() -> list[str]:
        calls = Calls(CallRate(1, 1))
        tickets = {name: Ticket(Priority.WARM_UP) for name in ("first", "second", "third")}
        waiting = [asyncio.create_task(calls.call(name, ticket)) for name, ticket in tickets.items()]
        await asyncio.sleep(0)
        calls.rate.promote(tickets["third"], inf)
        await asyncio.gather(*waiting)
        return calls.names

    assert run(scene()) == ["first", "third", "second"]


def test_a_caller_that_would_wait_past_its_deadline_is_refused_at_once() -> None:
    async def scene() -> None:
        calls = Calls(CallRate(10, 10))
        waiting = [asyncio.create_task(calls.call("", caller(within=2.5))) for _ in range(30)]
        await asyncio.sleep(0)
        refused = asyncio.create_task(calls.call("late", caller(within=2.5)))
        with pytest.raises(Throttled, match="too many sessions"):
            await refused
        assert asyncio.get_running_loop().time() == 0.0
        await asyncio.gather(*waiting)
        assert len(calls.began) == 30
        assert calls.began[-1][0] <= 2.5

    run(scene())


def test_a_caller_behind_slow_calls_is_refused_when_its_deadline_comes() -> None:
    async def scene() -> None:
        calls = Calls(CallRate(10, 1), seconds=60)
        slow = asyncio.create_task(calls.call("slow", caller()))
        await asyncio.sleep(0)
        with pytest.raises(Throttled):
            await calls.call("late", caller(within=3))
        assert asyncio.get_running_loop().time() == 3.0
        await slow

    run(scene())


def test_a_promoted_ticket_that_cannot_be_served_in_time_is_refused() -> None:
    async def scene() -> None:
        calls = Calls(CallRate(1, 1))
        ticket = Ticket(Priority.WARM_UP)
        first = asyncio.create_task(calls.call("first", caller()))
        await asyncio.sleep(0)
        second = asyncio.create_task(calls.call("second", ticket))
        await asyncio.sleep(0)
        calls.rate.promote(ticket, asyncio.get_running_loop().time() + 0.5)
        with pytest.raises(Throttled):
            await second
        await first
        assert calls.names == ["first"]

    run(scene())


def test_a_caller_that_gives_up_leaves_its_place_to_the_next() -> None:
    async def scene() -> list[str]:
        calls = Calls(CallRate(1_000, 1))
        holding = asyncio.create_task(calls.call("holding", caller()))
        await asyncio.sleep(0)
        left, stayed = (asyncio.create_task(calls.call(name, caller())) for name in ("left", "stayed"))
        await asyncio.sleep(0)
        # the place is given and taken back in the same breath
        holding.cancel()
        await asyncio.wait((holding,))
        left.cancel()
        await asyncio.wait((left, stayed))
        assert left.cancelled()
        # nothing is left over: the next one begins at once
        await calls.call("next", caller())
        return calls.names

    assert run(scene())[-2:] == ["stayed", "next"]


def test_cancelled_tickets_cost_nothing_of_the_rate() -> None:
    async def scene() -> float:
        calls = Calls(CallRate(1, 1))
        await calls.call("first", caller())
        waiting = [asyncio.create_task(calls.call("", caller())) for _ in range(20)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await calls.call("second", caller())
        return calls.began[-1][0]

    assert run(scene()) == 1.0
