"""A subscriber over WebSocket that connects again, to whichever gateway answers, from its last position."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Subprotocol

from tests.chaos.stream.history import Item, Received, Seen

_ITEM = "subscription ($id: ID!) { orderChanged(orderId: $id) { orderId total } }"
_LIST = """subscription { activeOrdersChanged(first: 100) {
  page { nodes { orderId total } } changes { kind node { orderId total } } } }"""
_ANSWER_SECONDS = 20.0
_SILENCE_SECONDS = 45.0  # the gateway pings every 30
# what a subscriber may meet while processes are killed
_PASSING = frozenset({"UNAVAILABLE", "TIMEOUT", "THROTTLED", "UNAUTHENTICATED"})
_CLOSES = frozenset({1000, 1001, 1005, 1006, 1011, 1012, 1013, 4403})


class Subscriber:
    def __init__(self, seen: Seen, urls: Sequence[str], token: Callable[[], tuple[str, float]], random: Random) -> None:
        self.seen = seen
        self._urls = [url.replace("http://", "ws://") for url in urls]
        self._token = token
        self._random = random
        self._position: str | None = None
        self._bearer, self._expires = token()
        self._items = {item.order: item for item in seen.items}

    async def watch(self) -> None:
        """Until it is cancelled."""
        while True:
            if time.time() >= self._expires:
                self._bearer, self._expires = await asyncio.to_thread(self._token)
            with suppress(OSError, WebSocketException, TimeoutError):
                await self._connected(self._random.choice(self._urls))
            await asyncio.sleep(self._random.uniform(0.05, 0.3))

    async def _connected(self, url: str) -> None:
        protocols = [Subprotocol("graphql-transport-ws")]
        async with connect(url, subprotocols=protocols, open_timeout=_ANSWER_SECONDS, close_timeout=1) as socket:
            await _send(socket, {"type": "connection_init", "payload": {"authorization": f"Bearer {self._bearer}"}})
            while (await self._receive(socket))["type"] != "connection_ack":
                continue
            self.seen.connections += 1
            await _send(socket, {"type": "subscribe", "id": "1", "payload": self._operation()})
            while self._take(message := await self._receive(socket)):
                if message["type"] == "ping":
                    await _send(socket, {"type": "pong"})

    async def _receive(self, socket: ClientConnection) -> dict[str, Any]:
        try:
            async with asyncio.timeout(_SILENCE_SECONDS):
                message: dict[str, Any] = json.loads(await socket.recv())
        except WebSocketException:
            if socket.close_code is not None and socket.close_code not in _CLOSES:
                self.seen.surprises.append(f"closed with {socket.close_code} {socket.close_reason}")
            raise
        return message

    def _operation(self) -> dict[str, Any]:
        known = (
            {"query": _LIST} if self.seen.listed else {"query": _ITEM, "variables": {"id": self.seen.items[0].order}}
        )
        if self._position is None:
            return known
        self.seen.resumes += 1
        return {**known, "extensions": {"after": self._position}}

    def _take(self, message: dict[str, Any]) -> bool:
        """False where the subscription is over."""
        if message["type"] == "next":
            self._event(message["payload"])
        elif message["type"] in ("error", "complete"):
            codes = [each["extensions"]["code"] for each in message.get("payload", ())]
            self.seen.surprises += [f"failed with {code}" for code in codes if code not in _PASSING]
            return False
        return True

    def _event(self, payload: dict[str, Any]) -> None:
        if payload.get("errors"):
            self.seen.surprises.append(f"an event has errors: {payload['errors']}")
            return
        extensions = payload["extensions"]
        self._position = extensions["position"]
        self.seen.expired_positions += "notice" in extensions
        for order in _orders(payload["data"]):
            item = self._items.get(order["orderId"])
            if item is None and self.seen.listed:
                # an order that nobody writes
                continue
            order_item = item or Item(self.seen.tenant, order["orderId"])
            self.seen.received.append(Received(order_item, int(float(order["total"])), time.time(), self._expires))


def _orders(data: dict[str, Any]) -> list[dict[str, Any]]:
    if "orderChanged" in data:
        return [data["orderChanged"]]
    event = data["activeOrdersChanged"]
    nodes = [] if event["page"] is None else event["page"]["nodes"]
    return [*nodes, *(change["node"] for change in event["changes"] if change["node"] is not None)]


async def _send(socket: ClientConnection, message: dict[str, Any]) -> None:
    await socket.send(json.dumps(message))
