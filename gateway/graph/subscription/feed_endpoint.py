"""`GET /changes`: the change feed as JSON lines, for as long as the caller stays connected."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs

import orjson

from gateway.aws.sts.callers import Callers, LastingCaller
from gateway.errors import BadUserInput, Forbidden, GatewayError
from gateway.graph.errors import failure
from gateway.graph.http.endpoint import Send
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.http.request import GRAPHQL_JSON, Receive, Scope, merged_headers
from gateway.graph.http.responses import failed
from gateway.graph.subscription.change_feed import ChangeFeed, FeedChange
from gateway.graph.subscription.event_stream import (
    UNBUFFERED,
    lasting_caller,
    send_plain,
    set_once,
    stream_until_left,
    write,
)
from gateway.graph.subscription.subscriptions import Subscriptions

CHANGES_PATH: Final = "/changes"
IDLE_SECONDS: Final = 15.0  # between two lines; proxies close connections that stay silent for longer
_HEAD = [(b"content-type", b"application/jsonl; charset=utf-8"), *UNBUFFERED]


@dataclass(frozen=True, slots=True)
class FeedEndpoint:
    feed: ChangeFeed
    subscriptions: Subscriptions
    callers: Callers
    idle_seconds: float = IDLE_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = merged_headers(scope["headers"])
        log = self.feed.endpoint.ids.begin(headers)
        ended: asyncio.Future[GatewayError] = asyncio.get_running_loop().create_future()
        try:
            # INVARIANT: the token is verified before anything else is looked at, and is not kept.
            lasting = await lasting_caller(self.callers, headers, log)
            after = _start_position(scope, lasting)
            self.subscriptions.check_streamed(await lasting.caller())
            with self.subscriptions.connected(lasting, lambda error: set_once(ended, error)):
                async with aclosing(self.feed.follow(lasting, log, after, self.idle_seconds)) as changes:
                    # nothing is sent before this first line, so that an invalid request still gets its HTTP status
                    first = await anext(changes)
                    await send({"type": "http.response.start", "status": 200, "headers": _HEAD})
                    await write(send, _line(first))
                    await stream_until_left(
                        _send_changes(changes, send), ended, receive, send, lambda error: _last_line(error, log)
                    )
            await send({"type": "http.response.body", "body": b""})
        except GatewayError as error:
            await self._refuse(error, log, send)
        except TimeoutError:
            return  # the server closes what is not complete

    async def _refuse(self, error: GatewayError, log: RequestLog, send: Send) -> None:
        # with plain JSON, GraphQL answers 200 to an invalid request
        answer = failed(error, log, GRAPHQL_JSON)
        log.write(answer.status, answer.codes, self.feed.endpoint.write)
        await send_plain(answer, log, send)


def _start_position(scope: Scope, lasting: LastingCaller) -> str | None:
    """The position to start at; the parameter `tenant` asserts whose changes are expected."""
    if scope["method"] != "GET":
        raise BadUserInput("the change feed accepts only GET")
    parameters = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
    if unknown := parameters.keys() - {"after", "tenant"}:
        raise BadUserInput(f"`{min(unknown)[:50]}` is not a parameter of the feed, which are `after` and `tenant`")
    tenant = parameters.get("tenant", [lasting.principal.tenant])[-1]
    if tenant != lasting.principal.tenant:
        raise Forbidden("the token belongs to another tenant")
    return parameters["after"][-1] if "after" in parameters else None


def _line(change: FeedChange | str) -> bytes:
    return orjson.dumps({"position": change} if isinstance(change, str) else change.line()) + b"\n"


def _last_line(error: Exception, log: RequestLog) -> bytes:
    return orjson.dumps({"errors": [failure(error, log.request_id)]}) + b"\n"


async def _send_changes(changes: AsyncIterator[FeedChange | str], send: Send) -> None:
    async for change in changes:
        await write(send, _line(change))
