"""Subscriptions: events per second and core, and the memory of idle ones.

Both are measured on the engine in memory, so that the gateway's own work is seen. `bench.stream` measures how long it
takes from a write to its note.
"""

import asyncio
import gc
import resource
import time

from gateway.graph.http.request import GraphQLRequest
from gateway.graph.subscription.subscription import Subscription
from tests.graph.subscription.shop import ITEM, Shop, bearer, shop

SUBSCRIBERS, CHANGES, IDLE = 200, 50, 10_000


async def opened(served: Shop, token: str, order: str) -> Subscription:
    operations = served.gateway.streaming.socket.operations
    lasting = await served.gateway.streaming.socket.callers.lasting(f"Bearer {token}".encode(), lambda principal: None)
    found = await operations.begin(lasting, GraphQLRequest(ITEM, {"id": order}), operations.endpoint.ids.begin({}))
    assert isinstance(found, Subscription)
    return found


async def change(served: Shop, order: str, number: int) -> None:
    row, before = (f"TENANT#acme#ORDER#{order}", "META"), dict(served.memory.rows)
    served.memory.rows[row] = {**before[row], "status": {"S": ("SHIPPED", "CONFIRMED")[number % 2]}}
    assert served.memory.on_change is not None
    await served.memory.on_change(before, served.memory.rows)


async def fan_out() -> None:
    """One item changes; everybody who watches it is sent an event, made of one read."""
    async with shop() as served:
        order = await served.order()
        watching = [await opened(served, bearer(), order["orderId"]) for _ in range(SUBSCRIBERS)]
        for each in watching:
            await each.next()
        reads, spent = served.subscriptions.counts.reads, 0.0
        for number in range(CHANGES):
            await change(served, order["orderId"], number)
            started = time.process_time()
            for each in watching:
                await each.next()
            spent += time.process_time() - started
        events = SUBSCRIBERS * CHANGES
        print(f"   events to {SUBSCRIBERS} subscribers of one item {events / spent:>32,.0f} /s")
        print(f"   reads for {events:,} events {served.subscriptions.counts.reads - reads:>44,}")


async def single() -> None:
    """Each event has a read of its own: subscribers of different tenants and roles share none."""
    async with shop() as served:
        order = await served.order()
        watching = await opened(served, bearer(), order["orderId"])
        await watching.next()
        spent = 0.0
        for number in range(CHANGES * 4):
            await change(served, order["orderId"], number)
            started = time.process_time()
            await watching.next()
            spent += time.process_time() - started
        print(f"   events that are read one by one {CHANGES * 4 / spent:>38,.0f} /s")


async def idle() -> None:
    async with shop(max_subscriptions_per_tenant=2 * IDLE + 1) as served:
        order = (await served.order())["orderId"]
        waiting = [await opened(served, bearer(), order)]
        await waiting[0].next()
        for shared in (True, False):
            gc.collect()
            before = memory()
            more = [await opened(served, bearer(), order if shared else f"o-{number}") for number in range(IDLE)]
            for each in more:
                await each.next()
            gc.collect()
            what = "of one cohort" if shared else "of a cohort each"
            print(f"   memory of an idle subscription, {what:<20} {(memory() - before) / IDLE / 1024:>15,.1f} KiB")
            waiting += more


def memory() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


async def main() -> None:
    await fan_out()
    await single()
    await idle()


if __name__ == "__main__":
    asyncio.run(main())
