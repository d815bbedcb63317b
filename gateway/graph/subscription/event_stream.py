"""GraphQL over server-sent events: the "distinct connections mode" of graphql-sse, one operation per request.

https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md. Each event has the position as its `id`, so that a
client can resume with `Last-Event-ID`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from gateway.aws.sts.callers import Callers, LastingCaller
from gateway.errors import BadUserInput, GatewayError, Unauthenticated
from gateway.graph.errors import failure
from gateway.graph.http.endpoint import READ, Send
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.http.request import (
    EVENT_STREAM,
    JSON,
    TWICE,
    GraphQLRequest,
    LargeBody,
    Receive,
    Scope,
    accepts_event_stream,
    merged_headers,
    read_request,
)
from gateway.graph.http.responses import HEADS, HttpResponse, failed
from gateway.graph.http.running import DISCONNECT, RunningRequest
from gateway.graph.subscription.cohort import SubscriptionEnded
from gateway.graph.subscription.event_reader import WatchFailed
from gateway.graph.subscription.operations import Operations
from gateway.graph.subscription.subscription import Subscription
from gateway.graph.subscription.subscriptions import Draining

HEARTBEAT_SECONDS: Final = 15.0  # proxies close connections that stay silent for longer
LAST_WORD_SECONDS: Final = 5.0  # for a client to take it; one that does not read must not keep its connection
UNBUFFERED: Final = [
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
]
_HEAD = [(b"content-type", EVENT_STREAM + b"; charset=utf-8"), (b"vary", b"accept"), *UNBUFFERED]
_STREAMS = "send a subscription over a WebSocket (graphql-transport-ws) or with `Accept: text/event-stream`"
_COMPLETE = b"event: complete\ndata:\n\n"


@dataclass(frozen=True, slots=True)
class EventStream:
    operations: Operations
    callers: Callers
    heartbeat_seconds: float = HEARTBEAT_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = merged_headers(scope["headers"])
        endpoint = self.operations.endpoint
        log = endpoint.ids.begin(headers)
        running = endpoint.running.begin(endpoint.limits.seconds)
        scope[DISCONNECT] = running.disconnected
        try:
            if scope.get(READ) is not None and not accepts_event_stream(headers):
                raise BadUserInput(_STREAMS)
            # INVARIANT: the token is verified before a byte of the body is read, and is not kept.
            lasting = await lasting_caller(self.callers, headers, log)
            request = await self._request(scope, headers, receive, lasting, running)
        except asyncio.CancelledError:
            reason = running.take_cancellation()
            if reason is None:
                raise
            await self._refuse(failed(reason, log, JSON), log, send)
            return
        except Exception as error:
            await self._refuse(failed(error, log, JSON), log, send)
            return
        finally:
            endpoint.running.finish(running)
            del scope[DISCONNECT]
        await self._serve(scope, headers, request, lasting, log, receive, send)

    async def _request(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        receive: Receive,
        lasting: LastingCaller,
        running: RunningRequest,
    ) -> GraphQLRequest:
        read: GraphQLRequest | None = scope.get(READ)
        if read is not None:
            return read
        endpoint = self.operations.endpoint
        request = await read_request(scope, headers, receive, endpoint.limits.body_bytes)
        if not isinstance(request, LargeBody):
            return request
        return await endpoint.read_large(request, lasting.principal.tenant, running)

    async def _refuse(self, answer: HttpResponse, log: RequestLog, send: Send) -> None:
        """An error before the stream has started is a plain HTTP response with a fitting status."""
        endpoint = self.operations.endpoint
        log.write(answer.status, answer.codes, endpoint.write)
        endpoint.observe(log, answer.codes)
        await send_plain(answer, log, send)

    async def _serve(
        self,
        scope: Scope,
        headers: Mapping[bytes, bytes],
        request: GraphQLRequest,
        lasting: LastingCaller,
        log: RequestLog,
        receive: Receive,
        send: Send,
    ) -> None:
        ended: asyncio.Future[GatewayError] = asyncio.get_running_loop().create_future()
        last = headers.get(b"last-event-id")
        try:
            connected = self.operations.subscriptions.connected(lasting, lambda error: set_once(ended, error))
            with connected:
                after = last.decode("latin-1") if last else None
                started = await self.operations.begin(
                    lasting, request, log, method=scope["method"], after=after, scope=scope
                )
                try:
                    await send({"type": "http.response.start", "status": 200, "headers": [*_HEAD, _request_id(log)]})
                    if isinstance(started, HttpResponse):
                        await write(send, _event(started.text()) + _COMPLETE)
                    else:
                        events = self._events(started, log, send)
                        await stream_until_left(events, ended, receive, send, lambda error: _ending(error, log))
                finally:
                    if isinstance(started, Subscription):
                        started.close()
        except GatewayError as error:
            await self._refuse(failed(error, log, JSON), log, send)
            return
        except TimeoutError:
            return  # the server closes what is not complete
        await send({"type": "http.response.body", "body": b""})

    async def _events(self, subscription: Subscription, log: RequestLog, send: Send) -> None:
        while True:
            waiting = asyncio.ensure_future(subscription.next())
            try:
                while not (await asyncio.wait((waiting,), timeout=self.heartbeat_seconds))[0]:
                    await write(send, _heartbeat(subscription.position()))
                event = waiting.result()
            except SubscriptionEnded as over:
                await write(send, _ending(over.error, log))
                return
            except WatchFailed as over:
                await write(send, _event(orjson.dumps({"errors": over.errors})) + _COMPLETE)
                return
            finally:
                waiting.cancel()
            await write(send, _event(event.text, event.position))


async def lasting_caller(callers: Callers, headers: Mapping[bytes, bytes], log: RequestLog) -> LastingCaller:
    authorization = headers.get(b"authorization")
    if authorization is TWICE:
        raise Unauthenticated("more than one authorization header")
    return await callers.lasting(authorization, log.identified)


async def send_plain(answer: HttpResponse, log: RequestLog, send: Send) -> None:
    """Sends the response of a request that gets no stream."""
    content = answer.text()
    head = [*HEADS[JSON], (b"content-length", b"%d" % len(content)), _request_id(log)]
    head += answer.more_headers(packed=False)
    await send({"type": "http.response.start", "status": answer.status, "headers": head})
    await send({"type": "http.response.body", "body": content})


async def stream_until_left(
    sending: Coroutine[Any, Any, None],
    ended: "asyncio.Future[GatewayError]",
    receive: Receive,
    send: Send,
    last_word: Callable[[Exception], bytes],
) -> None:
    """Sends until the client leaves; if the connection ends for another reason, `last_word` tells the client which."""
    loop = asyncio.get_running_loop()
    left, telling = loop.create_task(_left(receive)), loop.create_task(sending)
    try:
        await asyncio.wait((left, telling, ended), return_when=asyncio.FIRST_COMPLETED)
        error = ended.result() if ended.done() else telling.exception() if telling.done() else None
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        if isinstance(error, Exception):
            async with asyncio.timeout(LAST_WORD_SECONDS):
                await write(send, last_word(error))
    finally:
        for task in (left, telling):
            task.cancel()
        await asyncio.gather(left, telling, return_exceptions=True)


def set_once(ended: "asyncio.Future[GatewayError]", error: GatewayError) -> None:
    if not ended.done():
        ended.set_result(error)


def _ending(error: Exception, log: RequestLog) -> bytes:
    """A draining process ends the stream without a message, so that client libraries reconnect at once; otherwise it
    sends the reason."""
    if isinstance(error, Draining):
        return b""
    return _event(orjson.dumps({"errors": [failure(error, log.request_id)]})) + _COMPLETE


def _event(text: bytes, position: str | None = None) -> bytes:
    # INVARIANT: the text is JSON on one line, so that nothing in it can begin another field or event
    number = b"" if position is None else b"id: %b\n" % position.encode()
    return b"%bevent: next\ndata: %b\n\n" % (number, text)


def _heartbeat(position: str | None) -> bytes:
    """A comment with the position, so that the position of an idle subscription does not expire."""
    return b":\n\n" if position is None else b":\nid: %b\n\n" % position.encode()


def _request_id(log: RequestLog) -> tuple[bytes, bytes]:
    return b"x-request-id", log.request_id.encode()


async def write(send: Send, content: bytes) -> None:
    await send({"type": "http.response.body", "body": content, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
