"""HTTP/1.1 for uvicorn's server, with limits on how much an unauthenticated client may send and how slowly.

httptools parses. Of uvicorn, only the configuration and the state of its server are used.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from math import inf
from typing import Any, cast
from urllib.parse import unquote

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser, parse_url
from uvicorn.config import Config
from uvicorn.server import ServerState

from gateway.graph.http.running import notify_disconnect
from gateway.serving.http_exchange import STATUS_LINES, HttpExchange
from gateway.serving.websocket import HardenedWebSocket, asks_for_websocket

_BUFFERED_BYTES = 64 * 1024  # of a body that the app has not received yet; beyond this, reading pauses
_PIECE_BYTES = 4 * 1024  # parsed at once; limits how many requests can arrive while another is answered
_VERSIONS = ("1.1", "1.0")
_REFUSED = b"content-length: 0\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class HttpLimits:
    # request line and headers; load balancers accept no more
    head_bytes: int = 64 * 1024
    # for the whole head, from its first byte
    head_seconds: float = 20.0
    # without the client reading any of the response; on a slow line the system sends it in large chunks
    stalled_seconds: float = 60.0
    # in which the rest of a body is dropped, after a response that closes the connection
    linger_seconds: float = 2.0
    # of one WebSocket message; the app has its own, lower limit
    message_bytes: int = 1_000_000


_BOUNDS = HttpLimits()


class HeadTooLargeError(Exception):
    """Stops the parser; it is never shown."""


class AmbiguousHeadError(Exception):
    """Stops the parser, which answers 400, because a proxy might parse the request differently."""


class HardenedHttp(asyncio.Protocol):
    """One connection. Disconnects clients that send no head, an endless one or a byte per minute, or that do not read
    the response.

    Requests that arrive before the previous one is answered wait for their turn. While the process drains, each
    response closes its connection, so that no client sends a request into a closing one. If a client disconnects
    before the response, the app is notified, so that a query can be cancelled.
    """

    def __init__(
        self,
        draining: Callable[[], bool],
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        bounds: HttpLimits = _BOUNDS,
    ) -> None:
        if not config.loaded:
            config.load()
        self._draining = draining
        self._app = config.loaded_app
        self._app_state = app_state
        self._root_path = config.root_path
        self._keep_alive_seconds = config.timeout_keep_alive
        self._state = server_state
        self._loop = _loop or asyncio.get_running_loop()
        self._bounds = bounds
        self._parser = HttpRequestParser(self)
        # otherwise a client that sends more after its last request would get no response
        self._parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.transport: asyncio.Transport = None  # type: ignore[assignment]  # set as soon as there is a connection
        # the request whose head or body is being received
        self._url = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._newest: HttpExchange | None = None
        self._in_head = self._in_body = self._too_large = False
        self._websocket: dict[str, Any] | None = None  # the scope of an upgrade request
        self._successor: HardenedWebSocket | None = None  # what the connection has become
        # heads, pieces of bodies and ends that were parsed, and the bytes since the last of them
        self._steps = self._bytes_since = 0
        # bytes behind the waiting requests, and whether further bytes are still parsed
        self._unparsed = b""
        self._deaf = self._lingering = False
        self._refusal: int | None = None
        # the request that is being answered, and those behind it
        self._running: HttpExchange | None = None
        self._waiting: deque[HttpExchange] = deque()
        self._read_paused = self.write_paused = False
        self._written = 0
        self._writable = asyncio.Event()
        # the last request's headers, and the part of its scope that the next request reuses if its headers are equal
        self._asked: tuple[bytes, bytes, str] = b"", b"", ""
        self._shared: dict[str, Any] = {}
        self._default_headers: list[tuple[bytes, bytes]] = []
        self._default_head = b""
        # one timer for a late head and for idleness; it is moved when it fires, since it rarely does
        self._closes_at = self._armed_for = inf
        self._timer: asyncio.TimerHandle | None = None
        self._stall_timer: asyncio.TimerHandle | None = None

    # called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports behave like asyncio's without being derived from them
        self.transport = cast(asyncio.Transport, transport)
        self._state.connections.add(self)  # type: ignore[arg-type]  # uvicorn knows its own protocols only
        self._scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "server": _address(transport, "sockname"),
            "client": _address(transport, "peername"),
            "scheme": "https" if transport.get_extra_info("sslcontext") else "http",
            "root_path": self._root_path,
        }
        self._await_head()

    def connection_lost(self, error: Exception | None) -> None:
        self._state.connections.discard(self)
        self._waiting.clear()
        self._unparsed = b""
        self._leave()
        self.resume_writing()
        for timer in (self._timer, self._stall_timer):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        if self._unparsed:
            self._unparsed += data
        elif len(data) <= _PIECE_BYTES:
            self._parse(data)
        else:
            self._parse_pieces(data)

    def _parse_pieces(self, data: bytes) -> None:
        for start in range(0, len(data), _PIECE_BYTES):
            if self._successor is not None:
                self._successor.data_received(data[start:])
                return
            if self._read_paused and not self._deaf:
                self._unparsed = data[start:]
                return
            self._parse(data[start : start + _PIECE_BYTES])

    def _parse(self, data: bytes) -> None:
        if self._deaf or self.transport.is_closing():
            return
        steps, begun = self._steps, self._in_head or self._in_body
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as upgrade:
            self._deaf = True
            if self._websocket is not None:
                self._switch(self._websocket, data[upgrade.args[0] :])
                return
            # no other protocol is supported: the request is answered as if it had not requested an upgrade
        except HttpParserError:
            self._refuse(431 if self._too_large else 400)
        if self.transport.is_closing():
            return
        # only bytes that are nothing but head, trailer or chunk size count: a body may precede the first of them
        self._bytes_since = self._bytes_since + len(data) if begun and self._steps == steps else 0
        if self._bytes_since > self._bounds.head_bytes:
            self._refuse(431)
        elif self._running is None:
            self._await_head()

    def pause_writing(self) -> None:
        self.write_paused = True
        self._writable.clear()
        self._watch_stall()

    def resume_writing(self) -> None:
        self.write_paused = False
        self._writable.set()

    # called by the parser

    def on_message_begin(self) -> None:
        self._in_head = True
        self._closes_at = inf  # a request has its own time limit, however long the connection was idle
        self._url = b""
        self._headers = []

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        # not trailers: they would be taken for headers that a proxy has seen and accepted
        if self._in_head:
            self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self._steps += 1
        headers = self._headers
        if len(self._url) + len(b"".join(chain.from_iterable(headers))) > self._bounds.head_bytes:
            self._too_large = True
            raise HeadTooLargeError
        names = [name for name, _ in headers]
        parser = self._parser
        version, upgrade = parser.get_http_version(), parser.should_upgrade()
        # RFC 9112, 3.2
        if names.count(b"host") != 1 and (version != "1.0" or b"host" in names):
            raise AmbiguousHeadError
        # httptools reads no body of an upgrade request, and would take the body for the next request
        if upgrade and (b"content-length" in names or b"transfer-encoding" in names):
            raise AmbiguousHeadError
        if version not in _VERSIONS or (b"transfer-encoding" in names and not _only_chunked(headers)):
            raise AmbiguousHeadError
        # after an upgrade request httptools reads nothing more
        goes_on = version != "1.0" and parser.should_keep_alive() and not upgrade and not self._draining()
        continues = b"expect" in names and _expects_continue(version, headers)
        if upgrade and self._running is None and asks_for_websocket(parser.get_method(), headers):
            self._websocket = self._scope_of(version, headers)
            self._in_head, self._closes_at = False, inf
            return
        exchange = self._newest = HttpExchange(self, self._scope_of(version, headers), goes_on, continues)
        self._in_head, self._in_body = False, True
        self._closes_at = inf
        if self._running is None:
            self._start(exchange)
        else:
            self._pause_reading()
            self._waiting.append(exchange)

    def _scope_of(self, version: str, headers: list[tuple[bytes, bytes]]) -> dict[str, Any]:
        head = self._url, self._parser.get_method(), version
        if head != self._asked:
            # requests on a connection nearly always have the same headers
            self._shared, self._asked = {**self._scope, **self._target(), "http_version": version}, head
        return {**self._shared, "headers": headers, "state": self._app_state.copy()}

    def _switch(self, scope: dict[str, Any], unread: bytes) -> None:
        """Turns the connection into a WebSocket."""
        self._state.connections.discard(self)
        for timer in (self._timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        bounds = self._bounds
        self._successor = HardenedWebSocket(
            scope,
            self._app,
            self._state,
            self.transport,
            message_bytes=bounds.message_bytes,
            stalled_seconds=bounds.stalled_seconds,
        )
        self._successor.begin(unread)

    def _target(self) -> dict[str, Any]:
        url = parse_url(self._url)
        raw_path = url.path or b"/"
        path = raw_path.decode("ascii")
        return {
            "method": self._parser.get_method().decode("ascii"),
            "path": self._root_path + (unquote(path) if "%" in path else path),
            "raw_path": self._root_path.encode("ascii") + raw_path,
            "query_string": url.query or b"",
        }

    def on_body(self, body: bytes) -> None:
        self._steps += 1
        exchange = self._newest
        if exchange is not None and not exchange.complete:
            exchange.body += body
            if len(exchange.body) > _BUFFERED_BYTES:
                self._pause_reading()
            exchange.notify()

    def on_message_complete(self) -> None:
        self._steps += 1
        self._in_body = False
        self._closes_at = inf
        exchange = self._newest
        if exchange is not None and not exchange.complete:
            exchange.more_body = False
            exchange.notify()

    # called by an exchange

    def default_head(self) -> bytes:
        """The headers of every response; the server updates them every second."""
        headers = self._state.default_headers
        if headers is not self._default_headers:
            self._default_head = b"".join([b"%b: %b\r\n" % header for header in headers])
            self._default_headers = headers
        return self._default_head

    def write(self, data: bytes) -> None:
        self._written += len(data)
        self.transport.write(data)

    def close(self) -> None:
        """Closes once everything is sent, within a time limit.

        If the client is still sending a body, the rest is dropped for a moment: a connection that is closed at once is
        reset, and the client would lose the response.
        """
        if self._in_body and not self.transport.is_closing():
            self._deaf = self._lingering = True
            self._unparsed = b""
            self._read_paused = False
            self.transport.resume_reading()
            self._closes_at = self._loop.time() + self._bounds.linger_seconds
            self._arm()
        else:
            self.transport.close()
        self._watch_stall()

    def resume_reading(self) -> None:
        # stop reading while requests are waiting
        if self._read_paused and not self._waiting:
            self._read_paused = False
            unparsed, self._unparsed = self._unparsed, b""
            self._parse_pieces(unparsed)
            if not self._read_paused:
                self.transport.resume_reading()

    def _pause_reading(self) -> None:
        if not self._read_paused:
            self._read_paused = True
            self.transport.pause_reading()

    async def drain(self) -> None:
        await self._writable.wait()

    def ended(self, task: "asyncio.Task[None]") -> None:
        """The app has finished its request, whether or not it sent a response."""
        self._state.tasks.discard(task)

    def answered(self) -> None:
        self._state.total_requests += 1
        self._running = None
        if not self._lingering and not self.transport.is_closing():
            if self._waiting:
                self._start(self._waiting.popleft())
            elif self._refusal is not None:
                self._end(self._refusal)
            self.resume_reading()
            if self._running is None:
                self._await_head()
        self._watch_stall()

    # called by the server

    def shutdown(self) -> None:
        """Closes the connection after the requests that were received completely."""
        last = self._waiting[-1] if self._waiting else self._running
        if last is None:
            self.transport.close()
        else:
            last.keep_alive = False

    def _start(self, exchange: HttpExchange) -> None:
        self._running = exchange
        exchange.task = self._loop.create_task(exchange.run(self._app))
        self._state.tasks.add(exchange.task)

    def _refuse(self, status: int) -> None:
        """Answers an unreadable request in its turn; earlier, it would be taken for the response to another request."""
        self._deaf = True
        broken = self._newest if self._in_body else None
        if broken is not None and broken is not self._running and not broken.complete:
            self._waiting.pop()
        if self._running is not None and broken is not self._running:
            self._refusal = status
        elif broken is not None and (broken.complete or broken.head_sent):
            self._leave()
            self.close()
        else:
            self._leave()
            self._end(status)

    def _end(self, status: int) -> None:
        self.write(STATUS_LINES[status] + _REFUSED)
        self.close()

    def _leave(self) -> None:
        """The client is gone and will not receive the response."""
        running = self._running
        if running is not None and not running.complete and not running.disconnected:
            running.disconnected = True
            running.notify()
            notify_disconnect(running.scope)

    def _await_head(self) -> None:
        """No request is running: waits for the next head, or for the rest of a body that the app does not read."""
        idle = self._steps and not self._in_head and not self._in_body
        seconds = self._keep_alive_seconds if idle else self._bounds.head_seconds
        # counted from its first byte, however many follow
        self._closes_at = min(self._closes_at, self._loop.time() + seconds)
        if self._closes_at < self._armed_for:
            self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for = self._closes_at
        self._timer = self._loop.call_at(self._armed_for, self._on_timer)

    def _on_timer(self) -> None:
        self._timer, self._armed_for = None, inf
        if self._closes_at <= self._loop.time():
            self.transport.close()
        elif self._closes_at < inf:
            self._arm()

    def _taken(self) -> int:
        return self._written - self.transport.get_write_buffer_size()

    def _watch_stall(self) -> None:
        if self._stall_timer is None and self.transport.get_write_buffer_size():
            self._stall_timer = self._loop.call_later(self._bounds.stalled_seconds, self._end_stalled, self._taken())

    def _end_stalled(self, before: int) -> None:
        self._stall_timer = None
        if self._taken() <= before:
            # not `close`, which would wait until everything is sent
            self.transport.abort()
        else:
            self._watch_stall()


def _only_chunked(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether `chunked` is the only transfer coding; httptools does not decode any other."""
    return [value.strip().lower() for name, value in headers if name == b"transfer-encoding"] == [b"chunked"]


def _expects_continue(version: str, headers: list[tuple[bytes, bytes]]) -> bool:
    return version != "1.0" and dict(headers)[b"expect"].lower() == b"100-continue"


def _address(transport: asyncio.BaseTransport, name: str) -> tuple[str, int] | None:
    address = transport.get_extra_info(name)
    return (str(address[0]), int(address[1])) if isinstance(address, tuple) else None
