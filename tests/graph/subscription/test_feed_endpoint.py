"""`GET /changes` over HTTP: its lines, its refusals, and what ends it."""

import asyncio
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import orjson
import pytest

from gateway.graph.subscription import subscriptions as room
from gateway.model.tenant import TenantId
from tests.graph.subscription.shop import Shop, bearer, shop

PATIENCE = 10.0


class Answer:
    def __init__(self) -> None:
        self.sent: asyncio.Queue[MutableMapping[str, Any]] = asyncio.Queue()

    async def start(self) -> int:
        async with asyncio.timeout(PATIENCE):
            message = await self.sent.get()
        assert message["type"] == "http.response.start"
        return int(message["status"])

    async def line(self) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE):
            message = await self.sent.get()
        assert message["body"], "it ended"
        content: dict[str, Any] = orjson.loads(message["body"])
        return content

    async def change(self) -> dict[str, Any]:
        while "kind" not in (line := await self.line()):
            assert "errors" not in line
        return line


@asynccontextmanager
async def _requested(
    served: Shop, token: str | None, query: str = "", method: str = "GET"
) -> AsyncIterator[tuple[Answer, "asyncio.Future[Any]"]]:
    answer, left = Answer(), asyncio.Event()

    async def receive() -> dict[str, Any]:
        await left.wait()
        return {"type": "http.disconnect"}

    headers = [] if token is None else [(b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "method": method, "headers": headers, "query_string": query.encode(), "path": "/changes"}
    running = asyncio.ensure_future(served.gateway.streaming.changes(scope, receive, answer.sent.put))
    try:
        yield answer, running
    finally:
        left.set()
        await running


async def test_lines_come_as_items_change() -> None:
    async with shop() as served:
        order = await served.order()
        async with _requested(served, bearer(), "tenant=acme") as (answer, _):
            assert await answer.start() == 200
            first = await answer.line()
            assert first.keys() == {"position"}
            await served.set_status(order["orderId"], "SHIPPED")
            change = await answer.change()
            assert change.keys() == {"position", "change", "kind", "type", "id", "item"}
        async with _requested(served, bearer(), f"after={first['position']}") as (answer, _):
            await answer.start()
            assert (await answer.change())["change"] == change["change"]
        assert served.subscriptions.connections == 0
        assert len(served.bus._subscribers) == 0


@pytest.mark.parametrize(
    ("token", "query", "method", "status", "code"),
    [
        (None, "", "GET", 401, "UNAUTHENTICATED"),
        ("nonsense", "", "GET", 401, "UNAUTHENTICATED"),
        ("own", "tenant=globex", "GET", 403, "FORBIDDEN"),
        ("own", "after=forged", "GET", 400, "BAD_USER_INPUT"),
        ("own", "since=1", "GET", 400, "BAD_USER_INPUT"),
        ("own", "", "POST", 400, "BAD_USER_INPUT"),
    ],
)
async def test_what_is_wrong_has_its_status(token: str | None, query: str, method: str, status: int, code: str) -> None:
    async with (
        shop() as served,
        _requested(served, bearer() if token == "own" else token, query, method) as (answer, _),
    ):
        assert await answer.start() == status
        assert (await answer.line())["errors"][0]["extensions"]["code"] == code


async def test_a_suspended_tenant_gets_an_error_and_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "CHECK_SECONDS", 0.02)
    async with shop() as served, _requested(served, bearer()) as (answer, running):
        await answer.start()
        await answer.line()
        served.gateway.sessions.suspend(TenantId("acme"))
        assert "suspended" in (await answer.line())["errors"][0]["message"]
        async with asyncio.timeout(PATIENCE):
            await running


async def test_a_tenant_has_so_many_connections() -> None:
    async with shop(max_subscription_connections=1) as served, _requested(served, bearer()) as (answer, _):
        assert await answer.start() == 200
        async with _requested(served, bearer()) as (refused, _):
            await refused.start()
            assert (await refused.line())["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
        async with _requested(served, bearer("globex")) as (other, _):
            assert await other.start() == 200


async def test_feeds_are_counted() -> None:
    async with shop() as served:
        counts = served.gateway.streaming.changes.feed.counts
        order = await served.order()
        async with _requested(served, bearer()) as (answer, _):
            await answer.start()
            first = await answer.line()
            assert counts.open == 1
            await served.set_status(order["orderId"], "SHIPPED")
            await answer.change()
        async with _requested(served, bearer(), f"after={first['position']}") as (answer, _):
            await answer.start()
            await answer.change()
        assert (counts.open, counts.resumes, counts.replays, counts.expired_positions) == (0, 1, 1, 0)
        assert counts.sent >= 2
        assert counts.reads >= 2
        await served.bus.gap()
        async with _requested(served, bearer(), f"after={first['position']}") as (refused, _):
            assert await refused.start() == 400
        assert counts.expired_positions == 1
