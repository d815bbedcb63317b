"""One HTTP/1.1 connection to AWS, which carries one request at a time.

The parser only finds the end of a response and reads no headers: of a success, only the checksum is needed, and a
search finds it. A success is returned as its body, any other response as an `AwsResponse` with its headers.

INVARIANT: a response whose checksum does not match is never returned as a body; `body_of` refuses it.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from types import SimpleNamespace
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from isal.isal_zlib import crc32

from gateway.aws.wire.errors import AnswerCorrupt, AnswerLate, AwsError, AwsFailure, ConnectionBroken, Retry
from gateway.aws.wire.response import AwsResponse

# Limits on the connections to AWS, on times and on sizes.


@dataclass(frozen=True, slots=True)
class WireLimits:
    # per endpoint, shared by all tenants; a connection carries one request at a time
    connections: int = 100
    connect_seconds: float = 2.0
    # without a byte from AWS
    read_seconds: float = 5.0
    # for a call with all its attempts; a caller's deadline can only shorten it
    total_seconds: float = 15.0
    # how long an idle connection is kept: shorter than AWS and any proxy keep theirs
    idle_seconds: float = 20.0
    # headers and body; DynamoDB's largest response has 16 MB of items, before they are encoded as JSON
    answer_bytes: int = 64 * 1024 * 1024


# event loops fire timers up to this much early
_GRAIN = 0.002
_CHECKSUM = b"\r\nx-amz-crc32: "


class Connection(asyncio.Protocol):
    """A connection; usable only while the next bytes from AWS are certain to be the response to the next request.

    INVARIANT: it is not usable from the first byte of a request to the last byte of its response, and never again after
    unexpected bytes. A request that ends without its response, by cancellation, timeout or error, leaves a connection
    that cannot be used: no pending response can ever reach the next tenant's request.
    """

    __slots__ = (
        "_armed_for",
        "_body",
        "_deadline",
        "_lapses_at",
        "_limits",
        "_loop",
        "_on_lost",
        "_open",
        "_parser",
        "_pieces",
        "_received",
        "_timer",
        "_transport",
        "_used",
        "_waiter",
        "lost",
        "usable",
    )

    def __init__(self, limits: WireLimits, on_lost: Callable[["Connection"], None]) -> None:
        self._limits = limits
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[bytes | AwsResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = inf
        self._lapses_at = self._deadline = 0.0
        # the raw response, and its body, which the parser appends to without calling our code
        self._pieces: list[bytes] = []
        self._body: list[bytes] = []
        self._parser = HttpResponseParser(
            SimpleNamespace(
                on_message_begin=self._on_message_begin,
                on_body=self._body.append,
                on_message_complete=self._on_message_complete,
            )
        )
        self._received = 0
        self._used = False
        self._open = False
        self.usable = False
        self.lost = self._loop.create_future()

    def exchange(self, request: bytes, deadline: float) -> asyncio.Future[bytes | AwsResponse]:
        """Sends one request and waits for its response until `deadline`, on the clock of the event loop.

        Returns the body of a success with a matching checksum; anything else is an `AwsResponse` or an error.
        """
        transport, loop = self._transport, self._loop
        if transport is None or not self.usable:
            raise self._broken("the connection ended before it was used")
        self.usable = False
        waiter = self._waiter = loop.create_future()
        self._deadline = deadline
        lapses_at = loop.time() + self._limits.read_seconds
        self._lapses_at = lapses_at = min(deadline, lapses_at)
        if lapses_at < self._armed_for:
            self._arm(lapses_at)
        transport.write(request)
        return waiter

    def abort(self) -> None:
        self._open = self.usable = False
        if self._transport is not None:
            self._transport.abort()

    # called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports behave like asyncio's, but do not inherit from them
        self._transport = cast(asyncio.Transport, transport)
        self._open = self.usable = True
        now = self._loop.time()
        self._lapses_at = now + self._limits.idle_seconds
        self._arm(now + min(self._limits.idle_seconds, self._limits.read_seconds))

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            self.abort()
            return
        self._received += len(data)
        if self._received > self._limits.answer_bytes:
            self._fail(AnswerCorrupt("the database's answer is too large"))
            return
        self._pieces.append(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(self._broken(f"not http: {error}"))
        if self._waiter is not None:
            self._lapses_at = min(self._loop.time() + self._limits.read_seconds, self._deadline)

    def eof_received(self) -> None:
        # no request may take it while the transport closes
        self._open = self.usable = False

    def connection_lost(self, error: Exception | None) -> None:
        self._open = self.usable = False
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        self._fail(self._broken(str(error) if error else "closed by the other side"))
        self.lost.set_result(None)
        self._on_lost(self)

    # called by the parser

    def _on_message_begin(self) -> None:
        if self._waiter is None:
            # a second response in the same data
            self.abort()

    def _on_message_complete(self) -> None:
        waiter, status = self._waiter, self._parser.get_status_code()
        # informational responses such as "100 Continue" precede the final response
        if waiter is None or status < 200:
            return
        pieces, parts = self._pieces, self._body
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        good = status == 200 and _fits(pieces[0], body)
        answer = body if good else AwsResponse(status, _headers(pieces), body)
        # an idle connection keeps nothing of a response
        pieces.clear()
        parts.clear()
        self._waiter = None
        self._received = 0
        self._used = True
        if waiter.done() or not self._parser.should_keep_alive():
            self.abort()
        self.usable = self._open
        self._lapses_at = self._loop.time() + self._limits.idle_seconds
        if not waiter.done():
            waiter.set_result(answer)

    # One timer for late responses and for idleness. It is only moved when it fires, because it rarely does.

    def _arm(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for = moment
        self._timer = self._loop.call_at(moment, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now = self._loop.time()
        if self._lapses_at - now > _GRAIN:
            # no later than a request that starts now can time out, so that it need not move the timer
            self._arm(min(self._lapses_at, now + self._limits.read_seconds))
            return
        self._fail(AnswerLate("the database did not answer in time", retry=Retry.TIMEOUT))

    def _fail(self, error: AwsError) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
        self.abort()

    def _broken(self, detail: str) -> ConnectionBroken:
        error = ConnectionBroken(
            "the connection to the database broke", said=AwsFailure(detail=detail), retry=Retry.TRANSIENT
        )
        error.stale = self._used and not self._received
        return error


def _fits(first: bytes, body: bytes) -> bool:
    """Whether the headers in the first piece of a response match the checksum of the body, or have none.

    Returns False if unsure. Engines other than DynamoDB may send no checksum.
    """
    at = first.find(_CHECKSUM)
    if at >= 0:
        at += len(_CHECKSUM)
        return first[at : first.find(b"\r\n", at)] == b"%d" % crc32(body)
    head = first[: first.find(b"\r\n\r\n") + 1]
    return head.startswith(b"HTTP/1.1 200 ") and b"x-amz-crc32" not in head.lower()


def _headers(pieces: Iterable[bytes]) -> dict[bytes, bytes]:
    """Returns the headers of the first final response, with lower-case names."""
    headers: dict[bytes, bytes] = {}
    answers: list[dict[bytes, bytes]] = []

    def keep() -> None:
        if parser.get_status_code() >= 200:
            answers.append({name.lower(): value for name, value in headers.items()})

    protocol = SimpleNamespace(on_message_begin=headers.clear, on_header=headers.__setitem__, on_headers_complete=keep)
    parser = HttpResponseParser(protocol)
    # the response itself was complete; anything may follow it
    with suppress(HttpParserError, HttpParserUpgrade):
        for piece in pieces:
            parser.feed_data(piece)
    return answers[0] if answers else {}
