"""What is served at three times the capacity when callers wait one second: by the old queue, and by the fair one.

The real endpoint on a database that answers after a fixed time. Capacity is what as many callers as there are places
get, one operation after the other; goodput is what is answered while its caller still waits. Read the shares.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count, repeat
from typing import Any

from bench.fairness import delay
from gateway.graph.http.endpoint import Endpoint
from gateway.graph.http.fair_queue import FairQueue
from gateway.graph.http.running import notify_disconnect
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.exchange import Exchange
from tests.graph.http.overload import FirstInFirstOut

PLACES, LATENCY, PATIENCE = 4, 0.05, 1.0
MEASURED, SECONDS, OVERLOAD = 2, 6, 3
QUERY = '{ user(userId: "u-1001") { name } }'
CHANGE = 'mutation ($id: ID!) { createCategory(input: {categoryId: $id, title: "x"}) { errors { code } } }'

Body = dict[str, Any]
Bodies = Callable[[], Iterator[Body]]


def _queries() -> Iterator[Body]:
    return repeat({"query": QUERY})


def _changes() -> Iterator[Body]:
    return ({"query": CHANGE, "variables": {"id": f"bench-{number}"}} for number in count())


def _endpoint(queue: Any) -> Endpoint:
    api = MemoryEndpoint()
    delay(api, LATENCY)
    return replace(api.endpoint, queue=queue)


async def _answered(endpoint: Endpoint, body: Body) -> bool:
    """Whether it was, before its caller left."""
    exchange = Exchange(endpoint, body)
    done, _ = await asyncio.wait([exchange.answered], timeout=PATIENCE)
    if not done:
        notify_disconnect(exchange.scope)
        await asyncio.wait([exchange.answered])
        return False
    return exchange.status == 200


async def _capacity(bodies: Bodies) -> float:
    endpoint, stream, ended = _endpoint(FairQueue(PLACES)), bodies(), False

    async def one_after_the_other() -> int:
        served = 0
        while not ended:
            served += await _answered(endpoint, next(stream))
        return served

    callers = [asyncio.ensure_future(one_after_the_other()) for _ in range(PLACES)]
    await asyncio.sleep(MEASURED)
    ended = True
    return sum(await asyncio.gather(*callers)) / MEASURED


async def _goodput(queue: Any, bodies: Bodies, rate: float) -> list[float]:
    """Operations a second, in each third of the time; arrivals keep to the clock, however slow the machine is."""
    endpoint, stream, loop = _endpoint(queue), bodies(), asyncio.get_running_loop()
    started = loop.time()
    good = [0, 0, 0]

    async def call() -> None:
        answered = await _answered(endpoint, next(stream))
        third = int((loop.time() - started) * 3 / SECONDS)
        if answered and third < 3:
            good[third] += 1

    callers = []
    for number in range(int(rate * SECONDS)):
        await asyncio.sleep(started + number / rate - loop.time())
        callers.append(asyncio.ensure_future(call()))
    for caller in callers:
        await caller
    return [each * 3 / SECONDS for each in good]


async def main() -> None:
    print(f"{'goodput in each third, as a share of capacity':<44}{'capacity/s':>11}{'offered/s':>11}{'goodput':>24}")
    for name, bodies in (("queries", _queries), ("mutations", _changes)):
        capacity = await _capacity(bodies)
        for kind, queue in (("old queue", FirstInFirstOut(PLACES)), ("fair queue", FairQueue(PLACES))):
            thirds = await _goodput(queue, bodies, OVERLOAD * capacity)
            shares = "".join(f"{each / capacity:>8.0%}" for each in thirds)
            print(f"{f'{name}, {kind}':<44}{capacity:>11.0f}{OVERLOAD * capacity:>11.0f}{shares:>24}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
