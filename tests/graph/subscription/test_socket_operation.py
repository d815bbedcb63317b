"""What becomes of an operation whose client leaves it: by `complete`, or with the whole connection."""

import asyncio
from typing import Any

import pytest

from gateway.testing.subscriber import SocketClient
from tests.graph.subscription.shop import ITEM, STATUS, Shop, bearer, shop

QUERY = '{ product(productId: "p-1001") { title } }'
PATIENCE = 10.0


class Gate:
    """Holds up the next call to DynamoDB."""

    def __init__(self, served: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.open, self.cancelled = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._call = served.memory.call
        monkeypatch.setattr(served.memory, "call", self._held)

    async def _held(self, *given: Any, **named: Any) -> Any:
        self.reached.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return await self._call(*given, **named)


async def _connected(served: Shop) -> SocketClient:
    client = SocketClient(served.gateway.streaming.socket)
    client.send({"type": "connection_init", "payload": {"authorization": f"Bearer {bearer(role='editor')}"}})
    assert await client.receive() == {"type": "connection_ack"}
    return client


def _leave(client: SocketClient, how: str) -> "asyncio.Future[None]":
    if how == "complete":
        client.send({"type": "complete", "id": "1"})
        return asyncio.ensure_future(asyncio.sleep(0))
    return asyncio.ensure_future(client.close())


@pytest.mark.parametrize("how", ["complete", "close"])
async def test_a_mutation_that_has_begun_is_carried_out(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop() as served, asyncio.timeout(PATIENCE):
        order = await served.order()
        client, gate = await _connected(served), Gate(served, monkeypatch)
        payload = {"query": STATUS, "variables": {"id": order["orderId"], "status": "SHIPPED"}}
        client.send({"type": "subscribe", "id": "1", "payload": payload})
        await gate.reached.wait()
        leaving = _leave(client, how)
        if how == "complete":
            client.send({"type": "ping"})
            # nothing is sent for an operation that the client has completed
            assert await client.receive() == {"type": "pong"}
        for _ in range(20):  # turns of the loop, more than it takes to hear that the client has gone
            await asyncio.sleep(0)
        gate.open.set()
        row = (f"TENANT#acme#ORDER#{order['orderId']}", "META")
        while served.memory.rows[row]["status"] != {"S": "SHIPPED"}:  # noqa: ASYNC110  rows are a plain dict
            await asyncio.sleep(0)
        await leaving
        if how == "complete":
            client.send({"type": "ping"})
            assert await client.receive() == {"type": "pong"}
            await client.close()
        assert served.lines[-1]["operation_type"] == "mutation"
        assert not gate.cancelled.is_set()


@pytest.mark.parametrize("how", ["complete", "close"])
async def test_a_query_is_ended(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop() as served, asyncio.timeout(PATIENCE):
        client, gate = await _connected(served), Gate(served, monkeypatch)
        client.send({"type": "subscribe", "id": "1", "payload": {"query": QUERY}})
        await gate.reached.wait()
        await _leave(client, how)
        await gate.cancelled.wait()
        if how == "complete":
            await client.close()
        assert served.lines[-1]["codes"] == ["CLIENT_CLOSED"]


async def test_what_is_carried_out_counts_for_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    async with shop(max_subscriptions_per_connection=1) as served, asyncio.timeout(PATIENCE):
        order = await served.order()
        client, gate = await _connected(served), Gate(served, monkeypatch)
        payload = {"query": STATUS, "variables": {"id": order["orderId"], "status": "SHIPPED"}}
        client.send({"type": "subscribe", "id": "1", "payload": payload})
        await gate.reached.wait()
        client.send({"type": "complete", "id": "1"})
        client.send({"type": "subscribe", "id": "1", "payload": {"query": QUERY}})
        refused = await client.receive()
        assert refused["payload"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
        gate.open.set()
        await client.close()


async def test_a_subscription_that_is_completed_at_once_makes_room_at_once() -> None:
    async with shop(max_subscriptions_per_connection=1) as served:
        client = await _connected(served)
        payload = {"query": ITEM, "variables": {"id": "o-none"}}
        for number in range(5):
            client.send({"type": "subscribe", "id": str(number), "payload": payload})
            assert (await client.receive())["id"] == str(number)
            client.send({"type": "complete", "id": str(number)})
        await client.close()
        assert served.subscriptions.active == 0
