"""Subscriptions: events per second and core, the memory of idle ones, and the time from a write to its event.

Events and memory are measured on the engine in memory, so that the gateway's own work is seen. The time is that of a
client: a gateway in a process of its own reads the stream of the sandbox, and tells its events over HTTP.
"""

import asyncio
import gc
import http.client
import json
import random
import resource
import time
from collections.abc import Iterator

from gateway.cli.dev import aws_variables
from gateway.graph.http.request import GraphQLRequest
from gateway.graph.subscription.subscription import Subscription
from gateway.sandbox.dev.issuer import ask_for_token
from gateway.sandbox.dev.supervisor import until_healthy
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import HOST, free_port
from gateway.settings import environment_with
from tests.graph.subscription.shop import ITEM, Shop, bearer, shop
from tests.graphql_http import ask

SUBSCRIBERS, CHANGES, IDLE, WRITES = 200, 50, 10_000, 200
STOCK = """mutation { setStock(input: {productId: "p-1003", available: 100000}) { errors { message } } }"""
PLACE = """mutation { placeOrder(input: {userId: "u-1001", lines: [{productId: "p-1003", quantity: 1}]}) {
  order { orderId } errors { message } } }"""
ORDERS = """subscription { ordersOfUserChanged(userId: "u-1001") {
  page { nodes { orderId } } changes { node { orderId } } } }"""


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


def latency() -> None:
    """From a mutation, and from its answer, until a subscriber has read the event, at random moments of the poll."""
    with Sandbox(Options(port=free_port(8620))) as sandbox:
        port = free_port(8640)
        stream = {"stream": "inside", "stream_role_arn": sandbox.ready.stream_role_arn}
        settings = sandbox.settings(port=port, log_level="WARNING", **stream)
        child = Child("gateway", "serve", environment=environment_with(settings, aws_variables(sandbox)))
        try:
            until_healthy(child, HOST, port)
            token = ask_for_token(sandbox.url, "acme", "editor")
            waits = [*_waits(port, token)]
        finally:
            child.stop()
    for what, times in zip(("answer to the mutation", "mutation"), zip(*waits, strict=True), strict=True):
        p50, p99 = (sorted(times)[int(len(times) * share)] * 1000 for share in (0.5, 0.99))
        print(f"   {what} to client, polled every 0.25 s: p50 {p50:.0f} ms, p99 {p99:.0f} ms ({WRITES} writes)")


def _waits(port: int, token: str) -> Iterator[tuple[float, float]]:
    url, events = f"http://{HOST}:{port}/graphql", _events(port, token)
    ask(url, token, STOCK, {})
    next(events)
    for _ in range(WRITES):
        time.sleep(random.random() / 2)
        sent = time.perf_counter()
        order = ask(url, token, PLACE, {})["placeOrder"]["order"]["orderId"]
        written = time.perf_counter()
        while order not in next(events):
            pass
        yield time.perf_counter() - written, time.perf_counter() - sent


def _events(port: int, token: str) -> Iterator[list[str]]:
    """Of each event the orders that it tells of."""
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    headers = {"authorization": f"Bearer {token}", "accept": "text/event-stream", "content-type": "application/json"}
    connection.request("POST", "/graphql", json.dumps({"query": ORDERS}), headers)
    answer = connection.getresponse()
    while line := answer.readline():
        if line.startswith(b"data: {"):
            page = json.loads(line[6:])["data"]["ordersOfUserChanged"]
            yield [change["node"]["orderId"] for change in page["changes"]]
    raise AssertionError("the events ended")


async def main() -> None:
    await fan_out()
    await single()
    await idle()
    await asyncio.to_thread(latency)


if __name__ == "__main__":
    asyncio.run(main())
