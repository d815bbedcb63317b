"""Clients of a gateway under test, for async and for plain tests."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import partial
from typing import Any, TypedDict, Unpack

import orjson
from anyio.from_thread import BlockingPortal
from starlette.types import ASGIApp, Message

from gateway.testing.services import CallLog, token
from gateway.testing.subscriber import BlockingEvents, Events, blocking, subscribed

Variables = Mapping[str, Any]


class CalledAs(TypedDict, total=False):
    """As whom an operation is sent: by default as `acme`, and as `viewer`, or for a mutation as `editor`."""

    tenant: str
    role: str
    subject: str | None


class GraphQLErrors(AssertionError):
    """The response of an operation has errors. `data` is the data next to them."""

    def __init__(self, status: int, content: Mapping[str, Any]) -> None:
        self.status = status
        self.errors: list[dict[str, Any]] = content["errors"]
        self.data: dict[str, Any] | None = content.get("data")
        super().__init__("; ".join(f"{_code(error)}: {error['message']}" for error in self.errors))

    @property
    def codes(self) -> list[str]:
        return [_code(error) for error in self.errors]


def _code(error: Mapping[str, Any]) -> str:
    return str(error.get("extensions", {}).get("code"))


class AsyncGatewayClient:
    """Sends operations as any tenant, role and subject; each passes tokens, sessions and policies."""

    def __init__(self, endpoint: ASGIApp, log: CallLog, roles: tuple[str, ...], socket: ASGIApp) -> None:
        self._endpoint = endpoint
        self._socket = socket
        self._log = log
        self._roles = roles

    @property
    def calls(self) -> list[str]:
        """The DynamoDB operations of the last query or mutation, such as `["Query", "BatchGetItem"]`."""
        return list(self._log.operations)

    async def query(self, text: str, variables: Variables | None = None, **caller: Unpack[CalledAs]) -> dict[str, Any]:
        """The data of the response; raises `GraphQLErrors` if it has errors."""
        self._log.operations.clear()
        body = orjson.dumps({"query": text, "variables": dict(variables or {})})
        status, content = await _posted(self._endpoint, body, self._token(caller))
        if "errors" in content:
            raise GraphQLErrors(status, content)
        data: dict[str, Any] = content["data"]
        return data

    async def mutate(self, text: str, variables: Variables | None = None, **caller: Unpack[CalledAs]) -> dict[str, Any]:
        """As `query`, in a role that may write. User errors are in the `errors` of the payload."""
        caller.setdefault("role", "editor")
        return await self.query(text, variables, **caller)

    def subscribe(
        self, text: str, variables: Variables | None = None, *, after: str | None = None, **caller: Unpack[CalledAs]
    ) -> AbstractAsyncContextManager[Events]:
        """`async with client.subscribe(...) as events:` and then `await events.next()`; `after` is a position.

        The in-memory engine reports changes; the sandbox sends only the first event.
        """
        return subscribed(self._socket, self._token(caller), text, variables or {}, after)

    def _token(self, caller: CalledAs) -> str:
        return token(**caller, roles=self._roles)


class GatewayClient:
    """The same for tests that are not async; the gateway runs in its own thread."""

    def __init__(self, client: AsyncGatewayClient, portal: BlockingPortal) -> None:
        self._client = client
        self._portal = portal

    @property
    def calls(self) -> list[str]:
        """The DynamoDB operations of the last query or mutation, such as `["Query", "BatchGetItem"]`."""
        return self._client.calls

    def query(self, text: str, variables: Variables | None = None, **caller: Unpack[CalledAs]) -> dict[str, Any]:
        """The data of the response; raises `GraphQLErrors` if it has errors."""
        return self._portal.call(partial(self._client.query, text, variables, **caller))

    def mutate(self, text: str, variables: Variables | None = None, **caller: Unpack[CalledAs]) -> dict[str, Any]:
        """As `query`, in a role that may write. User errors are in the `errors` of the payload."""
        return self._portal.call(partial(self._client.mutate, text, variables, **caller))

    def subscribe(
        self, text: str, variables: Variables | None = None, *, after: str | None = None, **caller: Unpack[CalledAs]
    ) -> AbstractContextManager[BlockingEvents]:
        """`with client.subscribe(...) as events:` and then `events.next()`; `after` is a position."""
        return blocking(self._portal, self._client.subscribe(text, variables, after=after, **caller))


async def _posted(endpoint: ASGIApp, body: bytes, bearer: str) -> tuple[int, dict[str, Any]]:
    """One request to the endpoint, without a network."""
    headers = [
        (b"host", b"gateway"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"authorization", f"Bearer {bearer}".encode()),
    ]
    scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}
    requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        if requests:
            return requests.pop()
        # the caller stays connected until it has its response
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await endpoint(scope, receive, send)
    return sent[0]["status"], orjson.loads(b"".join(message.get("body", b"") for message in sent[1:]))
