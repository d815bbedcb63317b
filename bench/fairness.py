"""How long a tenant waits beside one that floods the gateway: alone, first come first served, and by turns.

The database answers after a fixed time, as one does that is far away; what is measured is waiting, so that the ratio
between the rows counts and not their milliseconds.
"""

import asyncio
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from gateway.graph.query.lane.lane import Lanes
from gateway.graph.turns import Turns
from gateway.store.table import Table
from tests.graph.world import IN_LANES, World, no_renewal

LATENCY = 0.005  # seconds of one call
FLOOD, ASKED = 400, 15
QUERY = b'{"query": "{ user(userId: \\"u-1001\\") { name orders(first: 5) { nodes { orderId total } } } }"}'


class Distant:
    """A table that is some way off."""

    def __init__(self, world: World) -> None:
        self._memory = world.memory

    async def call(self, operation: str, body: Mapping[str, Any], **more: Any) -> Any:
        await asyncio.sleep(LATENCY)
        return await self._memory.call(operation, body, **more)


def _request(tenant: str) -> Request:
    headers = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {tenant}/viewer".encode())]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": QUERY, "more_body": False}

    return Request(scope, receive)


async def _waits(running: int, flood: int) -> list[float]:
    """Seconds that the other tenant's operations took, one after the other."""
    world = World()
    reference = world.endpoint.reference
    table = Table(Distant(world), reference.model, no_renewal)
    lanes = Lanes(reference.model, table, reference.cursors, reference.limits, IN_LANES)
    endpoint = replace(world.endpoint, reference=replace(reference, table=table), lanes=lanes, turns=Turns(running))
    ended = False

    async def keep_asking() -> None:
        while not ended:
            await endpoint(_request("acme"))

    crowd = [asyncio.ensure_future(keep_asking()) for _ in range(flood)]
    await asyncio.sleep(0.5)
    waits = []
    for _ in range(ASKED):
        started = time.perf_counter()
        answer = await endpoint(_request("globex"))
        assert answer.status_code == 200
        waits.append(time.perf_counter() - started)
    ended = True
    await asyncio.gather(*crowd)
    return waits


async def main() -> None:
    rows = {
        "alone": await _waits(100, 0),
        f"beside {FLOOD} of another, first come first served": await _waits(1_000_000, FLOOD),
        f"beside {FLOOD} of another, by turns (max_running 64)": await _waits(64, FLOOD),
        f"beside {FLOOD} of another, by turns (max_running 16)": await _waits(16, FLOOD),
    }
    alone = statistics.median(rows["alone"])
    print(f"{'one tenant, one operation after the other':<60}{'median ms':>10}{'alone':>8}")
    for name, waits in rows.items():
        median = statistics.median(waits)
        print(f"{name:<60}{median * 1000:>10.1f}{median / alone:>7.1f}x")


if __name__ == "__main__":
    asyncio.run(main())
