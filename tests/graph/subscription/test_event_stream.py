"""graphql-sse with distinct connections: one request, one operation, events with ids."""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from gateway.graph.http.request import GraphQLRequest
from gateway.graph.http.running import notify_disconnect
from gateway.graph.subscription import event_stream
from gateway.graph.subscription import subscriptions as room
from gateway.graph.subscription.event_stream import EventStream
from tests.graph.subscription.shop import ITEM, Shop, bearer, shop

QUERY = '{ product(productId: "p-1001") { title } }'


class Stream:
    def __init__(self, app: Any, body: dict[str, Any] | None, headers: dict[str, str], query: str = "") -> None:
        self._left = asyncio.Event()
        self._body = None if body is None else orjson.dumps(body)
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._rest = b""
        self.status: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self.headers: dict[str, str] = {}
        sent = {"authorization": f"Bearer {bearer()}", "accept": "text/event-stream", **headers}
        self.scope: dict[str, Any] = {
            "type": "http",
            "method": "GET" if body is None else "POST",
            "path": "/graphql",
            "query_string": query.encode(),
            "headers": [(b"content-type", b"application/json")]
            + [(name.encode(), value.encode()) for name, value in sent.items() if value],
        }
        self.served = asyncio.ensure_future(app(self.scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            self.status.set_result(message["status"])
        else:
            await self._pieces.put(message["body"])

    async def event(self) -> dict[str, str]:
        """The next event, by its fields; a comment is `{"": ...}`."""
        async with asyncio.timeout(10):
            while b"\n\n" not in self._rest:
                self._rest += await self._pieces.get()
        text, self._rest = self._rest.split(b"\n\n", 1)
        return {name: value.strip() for name, _, value in (line.partition(":") for line in text.decode().split("\n"))}

    async def content(self) -> Any:
        await self.served
        return orjson.loads(self._pieces.get_nowait())

    def leave(self) -> None:
        self._left.set()


@asynccontextmanager
async def _stream(served: Shop, body: dict[str, Any] | None, query: str = "", **headers: str) -> AsyncIterator[Stream]:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    stream = Stream(served.gateway.endpoint, body, names, query)
    try:
        yield stream
    finally:
        stream.leave()
        await stream.served


async def test_events_come_with_their_positions_and_go_on_from_one() -> None:
    async with shop() as served:
        order = await served.order()
        body = {"query": ITEM, "variables": {"id": order["orderId"]}}
        async with _stream(served, body) as stream:
            first = await stream.event()
            assert await stream.status == 200
            assert stream.headers["content-type"].startswith("text/event-stream")
            assert (first["event"], orjson.loads(first["data"])["data"]["orderChanged"]["status"]) == (
                "next",
                "CONFIRMED",
            )
            await served.set_status(order["orderId"], "SHIPPED")
            second = await stream.event()
            assert orjson.loads(second["data"])["data"]["orderChanged"]["status"] == "SHIPPED"
            assert orjson.loads(second["data"])["extensions"]["position"] == second["id"]
        await served.set_status(order["orderId"], "DELIVERED")
        async with _stream(served, body, last_event_id=second["id"]) as stream:
            assert orjson.loads((await stream.event())["data"])["data"]["orderChanged"]["status"] == "DELIVERED"
        assert served.subscriptions.active == served.subscriptions.connections == 0


async def test_a_subscription_may_be_asked_by_get() -> None:
    async with shop() as served:
        query = urlencode({"query": ITEM, "variables": '{"id": "o-none"}'})
        async with _stream(served, None, query) as stream:
            assert orjson.loads((await stream.event())["data"])["data"] == {"orderChanged": None}


async def test_a_query_is_one_event_and_complete() -> None:
    async with shop() as served, _stream(served, {"query": QUERY}) as stream:
        assert "title" in orjson.loads((await stream.event())["data"])["data"]["product"]
        assert (await stream.event())["event"] == "complete"
        await stream.served


async def test_an_error_of_the_operation_is_an_event() -> None:
    async with shop() as served, _stream(served, {"query": "subscription { nothing }"}) as stream:
        found = orjson.loads((await stream.event())["data"])
        assert found["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
        assert (await stream.event())["event"] == "complete"


@pytest.mark.parametrize(
    ("body", "headers", "status", "code"),
    [
        ({"query": ITEM}, {"authorization": ""}, 401, "UNAUTHENTICATED"),
        ({"query": 1}, {}, 400, "BAD_REQUEST"),
        ([], {}, 400, "BAD_REQUEST"),
    ],
)
async def test_a_subscriber_that_cannot_be_served_gets_a_plain_answer(
    body: Any, headers: dict[str, str], status: int, code: str
) -> None:
    async with shop() as served:
        stream = Stream(served.gateway.endpoint, body, headers)
        assert await stream.status == status
        assert (await stream.content())["errors"][0]["extensions"]["code"] == code


async def test_a_tenant_has_so_many_streams() -> None:
    async with shop(max_subscription_connections=0) as served:
        stream = Stream(served.gateway.endpoint, {"query": ITEM, "variables": {"id": "o-1"}}, {})
        assert (await stream.content())["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


@pytest.mark.parametrize("accept", ["application/json", "", "application/json, text/event-stream;q=0"])
async def test_a_subscription_without_a_stream_is_told_how_to_get_one(accept: str) -> None:
    async with shop() as served:
        stream = Stream(served.gateway.endpoint, {"query": ITEM, "variables": {"id": "o-1"}}, {"accept": accept})
        [error] = (await stream.content())["errors"]
        assert "text/event-stream" in error["message"]
        assert error["extensions"]["code"] == "BAD_USER_INPUT"


async def test_a_client_that_accepts_both_gets_json_for_a_query_and_events_for_a_subscription() -> None:
    both = "application/graphql-response+json, application/json, text/event-stream, multipart/mixed"
    async with shop() as served:
        stream = Stream(served.gateway.endpoint, {"query": QUERY}, {"accept": both})
        assert "title" in (await stream.content())["data"]["product"]
        body = {"query": ITEM, "variables": {"id": "o-none"}}
        async with _stream(served, body, accept=both) as events:
            assert orjson.loads((await events.event())["data"])["data"] == {"orderChanged": None}


async def test_a_client_that_accepts_nothing_else_gets_events() -> None:
    async with (
        shop() as served,
        _stream(served, {"query": QUERY}, accept="text/event-stream, application/json;q=0") as it,
    ):
        assert "title" in orjson.loads((await it.event())["data"])["data"]["product"]
        assert (it.headers["content-type"], it.headers["vary"]) == ("text/event-stream; charset=utf-8", "accept")


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json, text/event-stream"])
async def test_nothing_of_a_request_is_kept_once_its_subscription_has_begun(accept: str) -> None:
    body = {"query": ITEM, "variables": {"id": "o-none", "unused": "u" * 99}, "extensions": {"large": [[]] * 99}}
    async with shop() as served, _stream(served, body, accept=accept) as stream:
        await stream.event()
        kept = [item for item in gc.get_objects() if type(item) is GraphQLRequest]
        assert not [request for request in kept if "large" in request.extensions or "unused" in request.variables]
        assert [request for request in kept if request.variables == {"id": "o-none"} and request.query is None]


async def test_an_idle_stream_has_heartbeats_with_its_position() -> None:
    async with shop() as served:
        events = served.gateway.streaming.event_stream
        app = EventStream(events.operations, events.callers, heartbeat_seconds=0.02)
        stream = Stream(app, {"query": ITEM, "variables": {"id": "o-none"}}, {})
        first = await stream.event()
        beat = await stream.event()
        assert beat == {"": "", "id": first["id"]}
        stream.leave()
        await stream.served


async def test_a_suspended_tenant_gets_an_error_and_a_drained_one_does_not() -> None:
    async with shop() as served:
        body = {"query": ITEM, "variables": {"id": "o-none"}}
        async with _stream(served, body) as stream:
            await stream.event()
            served.gateway.sessions.suspend("acme")  # type: ignore[arg-type]  # a tenant id
            found = orjson.loads((await stream.event())["data"])
            assert found["errors"][0]["extensions"]["code"] == "TENANT_SUSPENDED"
            assert (await stream.event())["event"] == "complete"
        served.gateway.sessions.resume("acme")  # type: ignore[arg-type]  # as above
        async with _stream(served, body) as stream:
            await stream.event()
            served.draining.append(True)
            await stream.served
            assert stream._pieces.get_nowait() == b""


async def test_a_client_that_does_not_read_keeps_nothing_once_it_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "CHECK_SECONDS", 0.02)
    monkeypatch.setattr(event_stream, "LAST_WORD_SECONDS", 0.02)

    class Unread(Stream):
        async def _send(self, message: Any) -> None:
            await super()._send(message)
            if message.get("body"):
                await asyncio.Event().wait()

    async with shop() as served:
        stream = Unread(served.gateway.endpoint, {"query": ITEM, "variables": {"id": "o-none"}}, {})
        await stream.event()
        served.gateway.sessions.suspend("acme")  # type: ignore[arg-type]  # a tenant id
        async with asyncio.timeout(10):
            await stream.served
        assert (served.subscriptions.active, served.subscriptions.connections) == (0, 0)


async def test_a_client_that_is_gone_before_the_answer_begins_leaves_nothing_behind() -> None:
    class Gone(Stream):
        async def _send(self, message: Any) -> None:
            raise ConnectionResetError

    async with shop() as served:
        stream = Gone(served.gateway.endpoint, {"query": ITEM, "variables": {"id": "o-none"}}, {})
        with pytest.raises(ConnectionResetError):
            await stream.served
        assert (served.subscriptions.active, served.subscriptions.connections) == (0, 0)


class Slow(Stream):
    """A client that never sends the rest of its body."""

    async def _receive(self) -> dict[str, Any]:
        body, self._body = self._body, None
        if body is not None:
            return {"type": "http.request", "body": body[:1], "more_body": True}
        return await super()._receive()


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async with shop(request_timeout_seconds=0.2) as served:
        stream = Slow(served.gateway.endpoint, {"query": ITEM}, {})
        async with asyncio.timeout(20):
            content = await stream.content()
        assert (await stream.status, content["errors"][0]["extensions"]["code"]) == (504, "TIMEOUT")
        assert len(served.gateway.endpoint.running) == 0


async def test_a_query_ends_when_its_client_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """As over plain HTTP; the server calls what it finds in the scope of the request."""
    async with shop() as served:
        begun, call = asyncio.Event(), served.memory.call

        async def never(*given: Any, **more: Any) -> Any:
            begun.set()
            await asyncio.Event().wait()
            return await call(*given, **more)

        monkeypatch.setattr(served.memory, "call", never)
        stream = Stream(served.gateway.endpoint, {"query": QUERY}, {})
        async with asyncio.timeout(10):
            await begun.wait()
            notify_disconnect(stream.scope)
            await stream.served
        assert served.lines[-1]["codes"] == ["CLIENT_CLOSED"]
