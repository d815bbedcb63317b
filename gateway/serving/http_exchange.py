"""One HTTP request and its response, as an ASGI app sees them."""

import asyncio
import logging
import re
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp

if TYPE_CHECKING:
    from gateway.serving.hardened_http import HardenedHttp

_LOG = logging.getLogger("uvicorn.error")
STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_NO_BODY = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# the characters of names and values; a line without them is only its end
_VISIBLE = bytes([9, *range(0x20, 0x7F), *range(0x80, 0x100)])
# headers that determine where a body ends
_FRAMING = frozenset((b"content-length", b"transfer-encoding", b"connection"))
_FAILED = b"Internal Server Error"


class HttpExchange:
    """The head of a response is sent with the first bytes of its body, in one system call."""

    __slots__ = (
        "_bodiless",
        "_chunked",
        "_connection",
        "_delivered",
        "_event",
        "_expects_continue",
        "_head",
        "_left",
        "body",
        "complete",
        "disconnected",
        "keep_alive",
        "more_body",
        "scope",
        "started",
        "task",
    )

    def __init__(
        self, connection: "HardenedHttp", scope: dict[str, Any], keep_alive: bool, expects_continue: bool
    ) -> None:
        self._connection = connection
        self.scope = scope
        self.keep_alive = keep_alive
        self._expects_continue = expects_continue
        self._event: asyncio.Event | None = None
        self.task: asyncio.Task[None] | None = None  # the task that runs the app
        self.disconnected = False
        # the request: the part of its body that was not received by the app yet
        self.body = bytearray()
        self.more_body = True
        self._delivered = False
        # the response
        self.started = self.complete = self._chunked = self._bodiless = False
        self._head = b""
        self._left: int | None = None  # bytes of the body that are left; None if it ends with the connection

    @property
    def head_sent(self) -> bool:
        return self.started and not self._head

    def notify(self) -> None:
        """Wakes a waiting `receive`."""
        if self._event is not None:
            self._event.set()

    async def run(self, app: ASGIApp) -> None:
        try:
            await app(self.scope, self.receive, self.send)
        except BaseException as error:
            _LOG.error("Exception in ASGI application\n", exc_info=error)
            await self._fail()
        else:
            if not self.complete and not self.disconnected:
                _LOG.error("ASGI callable returned without completing response.")
                await self._fail()
        finally:
            if self.task is not None:
                self._connection.ended(self.task)

    async def _fail(self) -> None:
        if self.complete:
            return
        if self.head_sent:
            self._connection.close()
            return
        self.started = False
        length = b"%d" % len(_FAILED)
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", length)]
        headers.append((b"connection", b"close"))
        await self.send({"type": "http.response.start", "status": 500, "headers": headers})
        await self.send({"type": "http.response.body", "body": _FAILED})

    async def receive(self) -> dict[str, Any]:
        connection = self._connection
        if self._expects_continue and not connection.transport.is_closing():
            connection.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self._expects_continue = False
        while not self.disconnected and not self.complete:
            if self.body or not (self.more_body or self._delivered):
                message = {"type": "http.request", "body": bytes(self.body), "more_body": self.more_body}
                self.body.clear()
                self._delivered = not self.more_body
                return message
            self._event = self._event or asyncio.Event()
            connection.resume_reading()
            await self._event.wait()
            self._event.clear()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        connection = self._connection
        if connection.write_paused and not self.disconnected:
            await connection.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if self.complete or kind != ("http.response.body" if self.started else "http.response.start"):
            raise RuntimeError(f"unexpected ASGI message `{kind}`")
        if self.started:
            self._send_body(message.get("body", b""), more=message.get("more_body", False))
        else:
            self._start(message["status"], [*message.get("headers", ())])

    def _start(self, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        head_lines = b"".join([b"%b: %b\r\n" % header for header in headers])
        places = _framing_of(tuple([name for name, _ in headers]))
        # INVARIANT: each header is one line, so that none can contain another one.
        if places is None or head_lines.translate(None, _VISIBLE) != b"\r\n" * len(headers):
            raise RuntimeError("a header of the response is not valid")
        framing = {name: headers[place][1] for name, place in places}
        length = int(framing[b"content-length"]) if b"content-length" in framing else None
        chunked = framing.get(b"transfer-encoding", b"").lower() == b"chunked"
        if b"connection" in framing:
            # only the connection itself sets these headers
            self.keep_alive = self.keep_alive and b"close" not in framing[b"connection"].lower()
            head_lines = b"".join([b"%b: %b\r\n" % header for header in headers if header[0].lower() != b"connection"])
        self._bodiless = self.scope["method"] == "HEAD" or status in _NO_BODY
        if length is None and not chunked and not self._bodiless and self.scope["http_version"] != "1.0":
            chunked = True
            head_lines += b"transfer-encoding: chunked\r\n"
        # the client may not send a body that was not requested, and then the next request could not be distinguished
        # from it
        self.keep_alive = self.keep_alive and not (self._expects_continue and self.more_body)
        closing = b"\r\n" if self.keep_alive else b"connection: close\r\n\r\n"
        self._left, self._chunked = length, chunked
        self._head = b"%b%b%b%b" % (STATUS_LINES[status], self._connection.default_head(), head_lines, closing)
        self.started = True
        self._expects_continue = False

    def _send_body(self, body: bytes, *, more: bool) -> None:
        if self._bodiless:
            body = b""
        elif self._chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if more else b"0\r\n\r\n")
        elif self._left is not None:
            self._left -= len(body)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError("the body of the response is not as long as its content-length")
        if self._head:
            body, self._head = self._head + body, b""
        self._connection.write(body)
        if not more:
            self.complete = True
            self.notify()
            if not self.keep_alive:
                self._connection.close()
            self._connection.answered()


@lru_cache(maxsize=256)
def _framing_of(names: tuple[bytes, ...]) -> tuple[tuple[bytes, int], ...] | None:
    """Which of these headers determine where a body ends; None if a name is invalid. An app has few such heads."""
    if not all(map(_TOKEN.fullmatch, names)):
        return None
    return tuple((name.lower(), place) for place, name in enumerate(names) if name.lower() in _FRAMING)
