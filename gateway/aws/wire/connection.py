"""One connection to AWS that carries one request at a time, over HTTP/1.1.

The parser tells where an answer ends, and reads no header: of a success only the checksum is needed, and that is found
by a search. Such an answer is handed over as its body. Any other one is an `AwsResponse`, with its headers.
INVARIANT: an answer whose checksum does not fit is never handed over as a body; `body_of` refuses it.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from types import SimpleNamespace
from typing import cast
from zlib import crc32

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from gateway.aws.wire.errors import AnswerCorrupt, AnswerLate, AwsError, AwsFailure, ConnectionBroken, Retry
from gateway.aws.wire.response import AwsResponse

# How many connections to AWS there are, and how long and how large things may get.


@dataclass(frozen=True, slots=True)
class WireLimits:
    # for each endpoint, shared by all tenants; a connection carries one request at a time
    connections: int = 100
    connect_seconds: float = 2.0
    # without a byte from AWS
    read_seconds: float = 5.0
    # of a call with all its attempts; a caller's deadline can only shorten it
    total_seconds: float = 15.0
    # how long a connection is kept without work: shorter than AWS and what lies between keep theirs
    idle_seconds: float = 20.0
    # headers and body; the largest answer of DynamoDB is 16 MB of items before they are written as JSON
    answer_bytes: int = 64 * 1024 * 1024


# event loops fire timers up to this much early
_GRAIN = 0.002
_CHECKSUM = b"\r\nx-amz-crc32: "


class Connection(asyncio.Protocol):
    """Usable as long as it is certain that the next bytes from AWS answer the next request.

    INVARIANT: it is not usable from the first byte of a request to the last byte of its answer, and never again after
    bytes that nobody asked for. A request that ends without its answer, by cancellation, timeout or fault, leaves a
    connection that cannot be used: no answer is ever under way that the next tenant's request could receive.
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
        # the answer as it came, and its body, which the parser fills without a call of ours
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
        """Sends one request; its answer comes at most until `deadline` by the loop's clock.

        The body is that of a success that fits its checksum; everything else is an `AwsResponse` or an error.
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

    # what the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports behave like asyncio's without being derived from them
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
        # nobody may take it while the transport closes itself
        self._open = self.usable = False

    def connection_lost(self, error: Exception | None) -> None:
        self._open = self.usable = False
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        self._fail(self._broken(str(error) if error else "closed by the other side"))
        self.lost.set_result(None)
        self._on_lost(self)

    # what the parser calls

    def _on_message_begin(self) -> None:
        if self._waiter is None:
            # a second answer in the same breath
            self.abort()

    def _on_message_complete(self) -> None:
        waiter, status = self._waiter, self._parser.get_status_code()
        # "100 Continue" and the like announce the answer
        if waiter is None or status < 200:
            return
        pieces, parts = self._pieces, self._body
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        good = status == 200 and _fits(pieces[0], body)
        answer = body if good else AwsResponse(status, _headers(pieces), body)
        # an idle connection keeps nothing of an answer
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

    # the one timer, for a late answer and for idleness: it is moved only when it fires, since most never do

    def _arm(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for = moment
        self._timer = self._loop.call_at(moment, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now = self._loop.time()
        if self._lapses_at - now > _GRAIN:
            # not later than a request that begins now could lapse: it would have to be moved again
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
    """Whether the head in the first piece of an answer has the body's checksum, or none at all; false where in doubt.

    Engines other than DynamoDB may send none.
    """
    at = first.find(_CHECKSUM)
    if at >= 0:
        at += len(_CHECKSUM)
        return first[at : first.find(b"\r\n", at)] == b"%d" % crc32(body)
    head = first[: first.find(b"\r\n\r\n") + 1]
    return head.startswith(b"HTTP/1.1 200 ") and b"x-amz-crc32" not in head.lower()


def _headers(pieces: Iterable[bytes]) -> dict[bytes, bytes]:
    """The headers of the first answer that is not only announced, by their names in lower case."""
    headers: dict[bytes, bytes] = {}
    answers: list[dict[bytes, bytes]] = []

    def keep() -> None:
        if parser.get_status_code() >= 200:
            answers.append({name.lower(): value for name, value in headers.items()})

    found = SimpleNamespace(on_message_begin=headers.clear, on_header=headers.__setitem__, on_headers_complete=keep)
    parser = HttpResponseParser(found)
    # the answer itself was read; what follows it may be anything
    with suppress(HttpParserError, HttpParserUpgrade):
        for piece in pieces:
            parser.feed_data(piece)
    return answers[0] if answers else {}
