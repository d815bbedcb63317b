"""How long a tenant waits beside one that floods the gateway: alone, without a queue, and with the fair one.

The database answers after a fixed time, as one does that is far away; what is measured is waiting, so that the ratio
between the rows counts and not their milliseconds.
"""

import asyncio
import statistics
import time
from dataclasses import replace
from typing import Any

from gateway.graph.http.endpoint import Endpoint
from gateway.graph.http.fair_queue import FairQueue
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.exchange import Exchange

LATENCY = 0.005  # seconds of one call
FLOOD, REQUESTS = 400, 15
QUERY = '{ user(userId: "u-1001") { name orders(first: 5) { nodes { orderId total } } } }'


def delay(api: MemoryEndpoint, seconds: float) -> None:
    """Every call to the table takes so long, as if it were some way off."""
    near = api.memory.call

    async def call(*given: Any, **named: Any) -> Any:
        await asyncio.sleep(seconds)
        return await near(*given, **named)

    api.memory.call = call  # type: ignore[method-assign]


async def _send(endpoint: Endpoint, tenant: str) -> Exchange:
    exchange = Exchange(endpoint, {"query": QUERY}, f"{tenant}/viewer")
    await exchange.answered
    return exchange


async def _waits(concurrent: int, flood: int) -> list[float]:
    """Seconds that the other tenant's operations took, one after the other."""
    api = MemoryEndpoint()
    delay(api, LATENCY)
    endpoint = replace(api.endpoint, queue=FairQueue(concurrent))
    ended = False

    async def keep_asking() -> None:
        while not ended:
            answer = await _send(endpoint, "acme")
            await asyncio.sleep(int(answer.headers.get("retry-after", 0)))

    crowd = [asyncio.ensure_future(keep_asking()) for _ in range(flood)]
    await asyncio.sleep(0.5)
    waits = []
    for _ in range(REQUESTS):
        started = time.perf_counter()
        answer = await _send(endpoint, "globex")
        assert answer.status == 200
        waits.append(time.perf_counter() - started)
    ended = True
    await asyncio.gather(*crowd)
    return waits


async def main() -> None:
    rows = {
        "alone": await _waits(100, 0),
        f"beside {FLOOD} of another, without a queue": await _waits(1_000_000, FLOOD),
        f"beside {FLOOD} of another, max_concurrent_operations 64": await _waits(64, FLOOD),
        f"beside {FLOOD} of another, max_concurrent_operations 16": await _waits(16, FLOOD),
    }
    alone = statistics.median(rows["alone"])
    print(f"{'one tenant, one operation after the other':<60}{'median ms':>10}{'alone':>8}")
    for name, waits in rows.items():
        median = statistics.median(waits)
        print(f"{name:<60}{median * 1000:>10.1f}{median / alone:>7.1f}x")


if __name__ == "__main__":
    asyncio.run(main())
