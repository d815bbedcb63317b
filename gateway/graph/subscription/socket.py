"""GraphQL over WebSocket: the protocol graphql-transport-ws, as an ASGI app for one path.

https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md. The token is in the payload of `connection_init`, as
`{"authorization": "Bearer ..."}`, or in a header of the WebSocket request.
"""

import asyncio
import json
from collections.abc import Coroutine, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from gateway.aws.sts.callers import Callers, LastingCaller
from gateway.errors import GatewayError, LimitExceeded
from gateway.graph.errors import failure
from gateway.graph.http.endpoint import Send
from gateway.graph.http.http_error import HttpError, NumberTooLarge
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.http.request import (
    LARGE,
    Receive,
    Scope,
    check_values,
    graphql_request,
    merged_headers,
    strict_json,
)
from gateway.graph.http.responses import HttpResponse
from gateway.graph.http.running import DISCONNECT, notify_disconnect
from gateway.graph.subscription.close_codes import CloseCode, SocketClosed, close_code
from gateway.graph.subscription.cohort import SubscriptionEnded
from gateway.graph.subscription.event_reader import WatchFailed
from gateway.graph.subscription.operations import Operations
from gateway.graph.subscription.subscription import Subscription
from gateway.graph.subscription.subscriptions import WatchLimits

PROTOCOL: Final = "graphql-transport-ws"
_LONGEST_REASON = 123  # bytes that fit into a close frame
_MOST_ID = 256  # characters of a subscription's id


@dataclass(frozen=True, slots=True)
class Socket:
    operations: Operations
    callers: Callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (await receive())["type"] != "websocket.connect":
            return
        if PROTOCOL not in scope.get("subprotocols", ()):
            await send({"type": "websocket.accept"})
            await send(_close(CloseCode.BAD_PROTOCOL, f"the subprotocol must be {PROTOCOL}"))
            return
        await send({"type": "websocket.accept", "subprotocol": PROTOCOL})
        connection = SocketConnection(self.operations, self.callers, merged_headers(scope["headers"]), receive, send)
        try:
            await connection.run()
        except SocketClosed as closed:
            await send(_close(closed.code, closed.reason))
        finally:
            await connection.close()


def _close(code: CloseCode, reason: str) -> dict[str, Any]:
    # a reason that is too long would make the frame invalid
    return {
        "type": "websocket.close",
        "code": int(code),
        "reason": reason.encode()[:_LONGEST_REASON].decode("utf-8", "ignore"),
    }


@dataclass(eq=False, slots=True)
class SocketOperation:
    """One operation, from `subscribe` until its task ends or its client stops it.

    `scope` is where a running query or mutation registers the callback for a disconnected caller.
    """

    scope: dict[str, Any] = field(default_factory=dict)
    task: "asyncio.Task[None] | None" = None
    left: bool = False

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        self.task = asyncio.get_running_loop().create_task(work)

    def leave(self) -> "asyncio.Task[None]":
        """INVARIANT: as over HTTP, a mutation that has started is completed; everything else is cancelled."""
        assert self.task is not None  # noqa: S101  only an operation that was started can be left
        self.left = True
        if DISCONNECT in self.scope:
            notify_disconnect(self.scope)
        else:
            self.task.cancel()
        return self.task


@dataclass(eq=False, slots=True)
class SocketConnection:
    operations: Operations
    callers: Callers
    headers: Mapping[bytes, bytes]
    receive: Receive
    send: Send
    _lasting: LastingCaller | None = None
    _acknowledged: bool = False
    _begun: bool = False
    _running: dict[str, SocketOperation] = field(default_factory=dict)
    _carried_out: set["asyncio.Task[None]"] = field(
        default_factory=set
    )  # operations that the client no longer waits for
    _ended: "asyncio.Future[SocketClosed] | None" = None
    _open: ExitStack = field(default_factory=ExitStack)
    _heard: bool = True

    @property
    def limits(self) -> WatchLimits:
        return self.operations.subscriptions.limits

    async def run(self) -> None:
        """Runs until the client disconnects; raises `SocketClosed` if the connection must be closed."""
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        timer = loop.call_later(
            self.limits.init_seconds, self._end, CloseCode.INIT_TIMEOUT, "connection_init did not arrive in time"
        )
        reading = loop.create_task(self._read())
        pinging = loop.create_task(self._ping())
        try:
            await asyncio.wait((reading, self._ended), return_when=asyncio.FIRST_COMPLETED)
            if self._ended.done():
                raise self._ended.result()
            reading.result()
        finally:
            timer.cancel()
            for task in (reading, pinging):
                task.cancel()
            await asyncio.gather(reading, pinging, return_exceptions=True)

    async def close(self) -> None:
        for number in [*self._running]:
            self._leave(number)
        await asyncio.gather(*self._carried_out, return_exceptions=True)
        self._open.close()

    def _end(self, code: CloseCode, reason: str) -> None:
        if code is CloseCode.INIT_TIMEOUT and self._begun:
            return
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(SocketClosed(code, reason))

    async def _read(self) -> None:
        while True:
            message = await self.receive()
            if message["type"] != "websocket.receive":
                return
            self._heard = True
            values = self.operations.endpoint.documents.limits.values
            await self._handle(_parsed(message, self.limits.message_bytes, values))

    async def _ping(self) -> None:
        """Closes the connection of a client that has sent nothing since the last ping."""
        while True:
            await asyncio.sleep(self.limits.ping_seconds)
            if not self._heard:
                self._end(CloseCode.TRY_AGAIN, "no answer to a ping")
                return
            self._heard = False
            if self._acknowledged:
                await self._send({"type": "ping"})

    async def _handle(self, message: Mapping[str, Any]) -> None:
        match message:
            case {"type": "connection_init"}:
                await self._init(message.get("payload"))
            case {"type": "ping"}:
                await self._send({"type": "pong"})
            case {"type": "pong"}:
                pass
            case {"type": "subscribe", "id": str(number), "payload": dict() | HttpError() as payload} if (
                0 < len(number) <= _MOST_ID
            ):
                await self._subscribe(number, payload)
            case {"type": "complete", "id": str(number)}:
                self._leave(number)
            case _:
                raise SocketClosed(CloseCode.BAD_MESSAGE, "the message is not part of graphql-transport-ws")

    async def _init(self, payload: object) -> None:
        if self._begun:
            raise SocketClosed(CloseCode.INIT_TWICE, "connection_init was sent twice")
        self._begun = True
        if payload is not None and not isinstance(payload, dict):
            raise SocketClosed(CloseCode.BAD_MESSAGE, "the payload of connection_init must be an object")
        try:
            # INVARIANT: the token is verified before any operation is looked at, and is not kept.
            lasting = await self.callers.lasting(_authorization(payload or {}, self.headers), lambda principal: None)
            self._open.enter_context(self.operations.subscriptions.connected(lasting, self._gone))
        except GatewayError as error:
            raise SocketClosed(close_code(error), error.message) from error
        self._lasting = lasting
        await self._send({"type": "connection_ack"})
        self._acknowledged = True

    def _gone(self, error: GatewayError) -> None:
        self._end(close_code(error), error.message)

    async def _subscribe(self, number: str, payload: dict[str, Any] | HttpError) -> None:
        if self._lasting is None or not self._acknowledged:
            raise SocketClosed(CloseCode.UNAUTHORIZED, "subscribe came before the connection was acknowledged")
        if number in self._running:
            raise SocketClosed(CloseCode.ID_TAKEN, f"a subscription with the id {number} already exists")
        log = self.operations.endpoint.ids.begin(self.headers)
        carried_out = sum(not task.cancelling() for task in self._carried_out)
        if len(self._running) + carried_out >= self.limits.subscriptions:
            limit = LimitExceeded(f"a connection may have at most {self.limits.subscriptions} subscriptions")
            await self._send({"type": "error", "id": number, "payload": [failure(limit, log.request_id)]})
            return
        operation = self._running[number] = SocketOperation()
        operation.start(self._operation(number, payload, log, self._lasting, operation))

    def _leave(self, number: str) -> None:
        operation = self._running.pop(number, None)
        if operation is not None:
            task = operation.leave()
            self._carried_out.add(task)
            task.add_done_callback(self._carried_out.discard)

    async def _operation(
        self,
        number: str,
        payload: dict[str, Any] | HttpError,
        log: RequestLog,
        lasting: LastingCaller,
        operation: SocketOperation,
    ) -> None:
        try:
            if isinstance(payload, HttpError):
                raise payload
            request = graphql_request(payload)
            started = await self.operations.begin(lasting, request, log, scope=operation.scope)
            # what the client sent may take megabytes, and a subscription may stay for days
            del payload, request
            if operation.left:
                if isinstance(started, Subscription):
                    started.close()
            elif isinstance(started, HttpResponse):
                await self._answer(number, started)
            else:
                await self._events(number, started)
        except HttpError as error:
            content = {"message": error.message, "extensions": {"code": error.code, "requestId": log.request_id}}
            await self._finish(number, {"type": "error", "payload": [content]})
        finally:
            self._free(number)
            operation.task = None  # no cycle: it would keep all of it until the garbage collector runs

    def _free(self, number: str) -> None:
        """Makes the id available again, unless a later operation already uses it after `complete`."""
        operation = self._running.get(number)
        if operation is not None and operation.task is asyncio.current_task():
            del self._running[number]

    async def _answer(self, number: str, answer: HttpResponse) -> None:
        """Sends the response of a query or mutation, or the error of an operation that did not run."""
        if answer.data is None and answer.content.get("data") is None:
            await self._finish(number, {"type": "error", "payload": answer.content["errors"]})
            return
        await self._write(b'{"type":"next","id":%b,"payload":%b}' % (orjson.dumps(number), answer.text()))
        await self._finish(number, {"type": "complete"})

    async def _events(self, number: str, subscription: Subscription) -> None:
        name = orjson.dumps(number)
        try:
            while True:
                event = await subscription.next()
                await self._write(b'{"type":"next","id":%b,"payload":%b}' % (name, event.text))
        except SubscriptionEnded as ended:
            self._gone(ended.error)
        except WatchFailed as failed:
            await self._finish(number, {"type": "error", "payload": failed.errors})
        finally:
            subscription.close()

    async def _finish(self, number: str, message: dict[str, Any]) -> None:
        # the client may use the id again as soon as it receives the message
        self._free(number)
        await self._send({"id": number, **message})

    async def _send(self, message: dict[str, Any]) -> None:
        await self._write(orjson.dumps(message))

    async def _write(self, text: bytes) -> None:
        await self.send({"type": "websocket.send", "text": text.decode()})


def _parsed(message: Mapping[str, Any], limit: int, values: int) -> Mapping[str, Any]:
    text = message.get("text")
    if text is None:
        raise SocketClosed(CloseCode.BAD_MESSAGE, "messages must be text")
    raw = text.encode(errors="replace")
    if len(raw) > limit:
        raise SocketClosed(CloseCode.TOO_BIG, f"a message may have at most {limit} bytes")
    try:
        if len(raw) > LARGE:
            check_values(raw, values)
        content = strict_json(raw, "the message")
    except LimitExceeded as error:
        raise SocketClosed(CloseCode.TOO_BIG, error.message) from error
    except NumberTooLarge as error:
        # only its own operation fails
        return {**_without_numbers(raw), "payload": error}
    except HttpError as error:
        raise SocketClosed(CloseCode.BAD_MESSAGE, error.message) from error
    if not isinstance(content, dict):
        raise SocketClosed(CloseCode.BAD_MESSAGE, "the message must be a JSON object")
    return content


def _without_numbers(raw: bytes) -> dict[str, Any]:
    """The message with texts in place of its numbers, of which one is too large; empty if it is not valid otherwise."""
    try:
        content = json.loads(raw, parse_int=str, parse_float=str)
        orjson.dumps(content)  # stricter: no lone surrogates, which could not be sent back
    except (ValueError, RecursionError, orjson.JSONEncodeError):
        return {}
    return content if isinstance(content, dict) else {}


def _authorization(payload: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> bytes | None:
    """The payload takes precedence, because browsers cannot set headers of a WebSocket."""
    header = next((value for name, value in payload.items() if name.lower() == "authorization"), None)
    if isinstance(header, str):
        return header.encode("latin-1", "replace")
    return headers.get(b"authorization")
