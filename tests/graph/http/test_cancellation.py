"""When time runs out, everything that runs below the operation ends with it."""

import asyncio
from typing import Any

import pytest
from httpx2 import Response

from gateway.graph.http.endpoint import EndpointLimits
from tests.graph.fixtures import MemoryEndpoint
from tests.graph.http.test_endpoint import code

SECONDS = 60.0
OPERATIONS = {
    "one item": '{ product(productId: "p-1001") { title } }',
    "a batch": '{ users(userIds: ["u-1001", "u-1002"]) { name } }',
    "an item with a collection": '{ user(userId: "u-1001") { orders(first: 2) { nodes { orderId } } } }',
    "every shard": "{ activeOrders(first: 5) { nodes { orderId } } }",
    "waves of buckets": '{ readings(deviceId: "d-1") { nodes { value } } }',
    "roots side by side": '{ a: product(productId: "p") { title } b: categories { nodes { title } } }',
    "by graphql-core": '{ product(productId: "p-1001") { title @include(if: true) } node(id: "x") { id } }',
    "a change": 'mutation { removeProduct(input: {productId: "p-1001"}) { errors { code } } }',
}


class Stuck:
    """A DynamoDB whose calls never end by themselves."""

    def __init__(self) -> None:
        self.running = 0
        self.begun = asyncio.Event()
        self.all_ended = asyncio.Event()

    async def call(self, *_: Any, **__: Any) -> Any:
        self.running += 1
        self.begun.set()
        self.all_ended.clear()
        try:
            await asyncio.Event().wait()
        finally:
            self.running -= 1
            if not self.running:
                self.all_ended.set()


async def late(api: MemoryEndpoint, query: str, stuck: Stuck, monkeypatch: pytest.MonkeyPatch) -> Response:
    """The answer when time runs out while calls are under way; the clock jumps, so that the test does not wait."""
    answer = asyncio.ensure_future(api.post(query, token="acme/admin"))
    await asyncio.wait_for(stuck.begun.wait(), 30)
    for _ in range(20):
        await asyncio.sleep(0)  # what runs side by side has begun too
    loop = asyncio.get_running_loop()
    now = loop.time
    with monkeypatch.context() as changed:
        changed.setattr(loop, "time", lambda: now() + SECONDS)
        return await answer


@pytest.mark.parametrize("query", OPERATIONS.values(), ids=OPERATIONS.keys())
async def test_what_runs_below_is_cancelled(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api, stuck = MemoryEndpoint(limits=EndpointLimits(seconds=SECONDS)), Stuck()
    api.memory.call = stuck.call  # type: ignore[method-assign]
    before = asyncio.all_tasks()
    response = await late(api, query, stuck, monkeypatch)
    assert (response.status_code, code(response)) == (504, "TIMEOUT")
    await asyncio.wait_for(stuck.all_ended.wait(), 30)
    left = asyncio.all_tasks() - before
    if left:
        await asyncio.wait(left, timeout=30)
    assert asyncio.all_tasks() <= before


async def test_what_was_not_begun_is_not_begun_later(monkeypatch: pytest.MonkeyPatch) -> None:
    api = MemoryEndpoint(limits=EndpointLimits(seconds=SECONDS))
    real, stuck, seen = api.memory.call, Stuck(), []

    async def call(operation: str, *given: Any, **named: Any) -> Any:
        seen.append(operation)
        return await (real if operation == "Query" else stuck.call)(operation, *given, **named)

    api.memory.call = call  # type: ignore[method-assign]
    query = "{ activeOrders(first: 5) { nodes { user { name } lines { product { title } } } } }"
    assert code(await late(api, query, stuck, monkeypatch)) == "TIMEOUT"
    await asyncio.wait_for(stuck.all_ended.wait(), 30)
    count = len(seen)
    await asyncio.sleep(0.02)
    assert len(seen) == count
