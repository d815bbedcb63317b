"""One request to the endpoint as the server would make it, with what was sent back for it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import orjson

Asgi = Callable[[Any, Any, Any], Awaitable[None]]


class Exchange:
    def __init__(self, endpoint: Asgi, body: dict[str, Any], token: str = "acme/admin") -> None:
        headers = [(b"content-type", b"application/json"), (b"authorization", f"Bearer {token}".encode())]
        self.scope: dict[str, Any] = {
            "type": "http",
            "method": "POST",
            "path": "/graphql",
            "query_string": b"",
            "headers": headers,
        }
        self._content = orjson.dumps(body)
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.answered: asyncio.Future[None] = asyncio.ensure_future(endpoint(self.scope, self._receive, self._send))

    async def _receive(self) -> dict[str, Any]:
        return {"type": "http.request", "body": self._content, "more_body": False}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message["body"]
