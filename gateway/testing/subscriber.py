"""A subscription to a gateway under test, over the usual WebSocket protocol but without a network."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import orjson
from anyio.from_thread import BlockingPortal
from starlette.types import ASGIApp, Message

PATIENCE = 10.0  # seconds that a test waits for an event


class SocketClient:
    """One end of a WebSocket whose other end is an ASGI app."""

    def __init__(self, app: ASGIApp, protocol: str = "graphql-transport-ws") -> None:
        self._sent: asyncio.Queue[Message] = asyncio.Queue()
        self._received: asyncio.Queue[Message] = asyncio.Queue()
        scope = {"type": "websocket", "path": "/graphql", "headers": [], "subprotocols": [protocol]}
        self._sent.put_nowait({"type": "websocket.connect"})
        self.served = asyncio.ensure_future(app(scope, self._sent.get, self._received.put))

    def send(self, message: Mapping[str, Any]) -> None:
        self.send_text(orjson.dumps(message).decode())

    def send_text(self, text: str) -> None:
        self._sent.put_nowait({"type": "websocket.receive", "text": text})

    async def receive(self, patience: float = PATIENCE) -> dict[str, Any]:
        """The next message, as JSON; `{"close": code, "reason": ...}` if the gateway closes."""
        async with asyncio.timeout(patience):
            while True:
                message = await self._received.get()
                if message["type"] == "websocket.close":
                    return {"close": message.get("code", 1000), "reason": message.get("reason")}
                if message["type"] == "websocket.send":
                    content: dict[str, Any] = orjson.loads(message["text"])
                    return content

    async def close(self) -> None:
        self._sent.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await self.served


class SubscriptionFailed(AssertionError):
    """The gateway ended the subscription; `errors` or `code` say why."""

    def __init__(self, message: Mapping[str, Any]) -> None:
        self.errors: list[dict[str, Any]] = message.get("payload") or []
        self.code: int | None = message.get("close")
        super().__init__(str(dict(message)))


class Events:
    """The events of one subscription."""

    def __init__(self, socket: SocketClient) -> None:
        self._socket = socket

    async def next(self, patience: float = PATIENCE) -> dict[str, Any]:
        """The next event: `data`, perhaps `errors`, and `extensions` with its `position`."""
        message = await self._socket.receive(patience)
        while message.get("type") == "ping":
            message = await self._socket.receive(patience)
        if message.get("type") != "next":
            raise SubscriptionFailed(message)
        payload: dict[str, Any] = message["payload"]
        return payload

    async def silence(self, seconds: float = 0.2) -> None:
        """Fails if an event arrives within this time."""
        try:
            event = await self.next(seconds)
        except TimeoutError:
            return
        raise AssertionError(f"an event came: {event}")


class BlockingEvents:
    """The same for tests that are not async."""

    def __init__(self, events: Events, portal: BlockingPortal) -> None:
        self._events = events
        self._portal = portal

    def next(self, patience: float = PATIENCE) -> dict[str, Any]:
        return self._portal.call(self._events.next, patience)

    def silence(self, seconds: float = 0.2) -> None:
        self._portal.call(self._events.silence, seconds)


@asynccontextmanager
async def subscribed(
    app: ASGIApp, bearer: str, text: str, variables: Mapping[str, Any], after: str | None
) -> AsyncIterator[Events]:
    socket = SocketClient(app)
    try:
        socket.send({"type": "connection_init", "payload": {"authorization": f"Bearer {bearer}"}})
        message = await socket.receive()
        if message.get("type") != "connection_ack":
            raise SubscriptionFailed(message)
        extensions = {} if after is None else {"extensions": {"after": after}}
        payload = {"query": text, "variables": dict(variables), **extensions}
        socket.send({"type": "subscribe", "id": "1", "payload": payload})
        yield Events(socket)
    finally:
        await socket.close()


@contextmanager
def blocking(portal: BlockingPortal, opened: Any) -> Iterator[BlockingEvents]:
    with portal.wrap_async_context_manager(opened) as events:
        yield BlockingEvents(events, portal)
