"""HTTP as uvicorn speaks it, with bounds on what a stranger may send before asking anything, and on how slowly."""

from asyncio import TimerHandle, Transport
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from gateway.graph.http.running import notify_disconnect


@dataclass(frozen=True, slots=True)
class HttpLimits:
    # request line and headers; load balancers pass on no more
    head_bytes: int = 64 * 1024
    # for a whole head, from its first byte on
    head_seconds: float = 20.0
    # without a byte of the answer being taken; over a thin line the system takes them in lumps
    stalled_seconds: float = 60.0


_BOUNDS = HttpLimits()


class HeadTooLargeError(Exception):
    """Ends the parser; nobody sees it."""


class TwoHostsError(Exception):
    """Ends the parser, which answers 400 (RFC 9112, 3.2): proxies and we would each believe another one."""


class HardenedHttp(HttpToolsProtocol):
    """Cuts off who sends no head, an endless one or one byte a minute, and who takes no answer.

    While the process drains each answer is the last of its connection, so that nobody sends a request into one that
    is about to be closed. Whoever leaves before the answer is told of, so that a query can be ended.
    """

    def __init__(self, draining: Callable[[], bool], *args: Any, bounds: HttpLimits = _BOUNDS, **named: Any) -> None:
        super().__init__(*args, **named)
        self._draining = draining
        self._bounds = bounds
        self._in_head = self._in_body = self._too_large = False
        self._heads = self._head_bytes = 0
        self._running: RequestResponseCycle | None = None
        self._head_timer: TimerHandle | None = None
        self._stall_timer: TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, error: Exception | None) -> None:
        super().connection_lost(error)
        if self._running is not None:
            # uvicorn tells it to the newest request alone; an older one would write into a closed connection
            self._running.disconnected = True
            notify_disconnect(cast(dict[str, Any], self._running.scope))
        self._drop_head_timer()
        if self._stall_timer is not None:
            self._stall_timer.cancel()

    def data_received(self, data: bytes) -> None:
        heads, begun = self._heads, self._in_head
        super().data_received(data)
        if self.transport.is_closing():
            return
        # only what is nothing but head counts: before its first byte may lie a body
        self._head_bytes = self._head_bytes + len(data) if begun and self._heads == heads else 0
        if self._head_bytes > self._bounds.head_bytes:
            self._refuse_head()
        elif not self._answering:
            self._await_head()

    def on_message_begin(self) -> None:
        self._in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._heads += 1
        self._in_head, self._in_body = False, True
        self._drop_head_timer()
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > self._bounds.head_bytes:
            self._too_large = True
            raise HeadTooLargeError
        if sum(name == b"host" for name, _ in self.headers) > 1:
            raise TwoHostsError
        super().on_headers_complete()
        if self._draining():
            self.cycle.keep_alive = False

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch_stall()

    def send_400_response(self, msg: str) -> None:
        if self._too_large:
            self._refuse_head()
        else:
            super().send_400_response(msg)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_stall()

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _refuse_head(self) -> None:
        self.transport.write(STATUS_LINE[431] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()

    def _await_head(self) -> None:
        """Nothing is under way: the next head has to come, or the rest of a body that nobody reads any more."""
        if self._heads and not self._in_head and not self._in_body:
            # between two requests: uvicorn bounds that, but drops its timer for bytes that are no head
            self._drop_head_timer()
            if self.timeout_keep_alive_task is None:
                later = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
                self.timeout_keep_alive_task = later
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self._bounds.head_seconds, self._end_late)

    def _drop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_late(self) -> None:
        self._head_timer = None
        if not self._answering:
            self.transport.close()

    def _watch_stall(self) -> None:
        left = self.transport.get_write_buffer_size()
        if left and self._stall_timer is None:
            self._stall_timer = self.loop.call_later(self._bounds.stalled_seconds, self._end_stalled, left)

    def _end_stalled(self, before: int) -> None:
        self._stall_timer = None
        if self.transport.get_write_buffer_size() >= before:
            # not `close`, which would wait until everything is taken
            self.transport.abort()
        else:
            self._watch_stall()
