"""One task for each key at a time."""

import asyncio

import pytest

from gateway.errors import GatewayError, Overloaded, Unavailable
from gateway.single_flight import SingleFlight, copy_for_waiter


async def answer(value: int, gate: asyncio.Event) -> int:
    await gate.wait()
    return value


async def fail(error: Exception) -> int:
    raise error


async def test_a_flight_is_found_until_it_ends() -> None:
    single_flight, gate = SingleFlight[str, int, str](), asyncio.Event()
    flight = single_flight.start(("a", "b"), answer(7, gate), "context")
    assert single_flight.find("a") is single_flight.find("b") is flight
    assert (flight.context, len(single_flight)) == ("context", 1)
    gate.set()
    assert await flight.task == 7
    assert (single_flight.find("a"), single_flight.find("b"), len(single_flight)) == (None, None, 0)


async def test_a_waiter_that_is_cancelled_leaves_the_flight_to_the_others() -> None:
    single_flight, gate = SingleFlight[str, int, None](), asyncio.Event()
    flight = single_flight.start(("a",), answer(7, gate), None)
    gone, left = (asyncio.create_task(asyncio.wait((flight.task,))) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    gate.set()
    await left
    assert flight.task.result() == 7


async def test_a_later_flight_for_a_key_is_not_forgotten_when_the_earlier_one_ends() -> None:
    single_flight, first, second = SingleFlight[str, int, None](), asyncio.Event(), asyncio.Event()
    earlier = single_flight.start(("a",), answer(1, first), None)
    later = single_flight.start(("a",), answer(2, second), None)
    first.set()
    await earlier.task
    assert single_flight.find("a") is later
    await single_flight.close()


async def test_what_is_cancelled_is_not_found_and_others_go_on() -> None:
    single_flight, gate = SingleFlight[str, int, None](), asyncio.Event()
    dropped, kept = (single_flight.start((key,), answer(7, gate), None) for key in "ab")
    single_flight.cancel(lambda key: key == "a")
    assert single_flight.find("a") is None
    gate.set()
    await asyncio.wait((dropped.task, kept.task))
    assert dropped.task.cancelled()
    assert kept.task.result() == 7


async def test_close_ends_every_task_and_nothing_starts_after_it() -> None:
    single_flight = SingleFlight[str, int, None]()
    flight = single_flight.start(("a",), answer(7, asyncio.Event()), None)
    await single_flight.close()
    assert flight.task.cancelled()
    with pytest.raises(Unavailable):
        single_flight.start(("a",), answer(7, asyncio.Event()), None)


async def test_an_error_that_nobody_waits_for_is_not_reported_by_the_loop() -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    single_flight = SingleFlight[str, int, None]()
    flight = single_flight.start(("a",), fail(ValueError("lost")), None)
    await asyncio.wait((flight.task,))
    del flight
    await asyncio.sleep(0)
    assert reported == []


def test_each_waiter_gets_a_copy_of_the_error() -> None:
    error = Overloaded("too much", 3)
    try:
        raise error
    except GatewayError:
        copy = copy_for_waiter(error)
    assert isinstance(copy, Overloaded)
    assert (copy.message, copy.retry_after, copy.__traceback__) == ("too much", 3, None)
    assert copy is not error
