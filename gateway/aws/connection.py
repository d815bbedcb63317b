"""One connection to AWS that carries one request at a time, over HTTP/1.1."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from gateway.aws.answer import Answer, Headers
from gateway.aws.errors import AnswerCorrupt, AnswerLate, AwsError, ConnectionBroken, Retry, Said
from gateway.aws.limits import WireLimits

# event loops fire timers up to this much early
_GRAIN = 0.002


class Connection(asyncio.Protocol):
    """Lives as long as it is certain that the next bytes from AWS answer the next request.

    INVARIANT: a request that ends without its answer, by cancellation, timeout or fault, closes the connection, and so
    do bytes that nobody asked for; no answer is ever under way that the next tenant's request could receive.
    """

    __slots__ = (
        "_armed_for",
        "_body",
        "_deadline",
        "_headers",
        "_lapses_at",
        "_limits",
        "_loop",
        "_on_lost",
        "_parser",
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
        self._waiter: asyncio.Future[Answer] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._armed_for = self._lapses_at = self._deadline = 0.0
        # what the parser has found so far; it fills them itself, without a call of ours for each header
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._parser = HttpResponseParser(
            SimpleNamespace(
                on_message_begin=self._on_message_begin,
                on_header=self._headers.__setitem__,
                on_body=self._body.append,
                on_message_complete=self._on_message_complete,
            )
        )
        self._received = 0
        self._used = False
        self.usable = False
        self.lost = self._loop.create_future()

    async def exchange(self, request: bytes, deadline: float) -> Answer:
        """Sends one request and waits for its answer, at most until `deadline` by the loop's clock."""
        self._received = 0
        transport = self._transport
        if transport is None or not self.usable:
            raise self._broken("the connection ended before it was used")
        waiter: asyncio.Future[Answer] = self._loop.create_future()
        self._waiter = waiter
        self._deadline = deadline
        late = self._loop.time() + self._limits.read_seconds
        self._lapse_at(min(late, deadline))
        transport.write(request)
        try:
            return await waiter
        except BaseException:
            self.abort()
            raise
        finally:
            self._used = True

    def rest(self) -> None:
        """Waits for the next request; closes itself when none comes."""
        self._lapse_at(self._loop.time() + self._limits.idle_seconds)

    def abort(self) -> None:
        self.usable = False
        if self._transport is not None:
            self._transport.abort()

    # what the transport calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports behave like asyncio's without being derived from them
        self._transport = cast(asyncio.Transport, transport)
        self.usable = True

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:
            self.abort()
            return
        self._received += len(data)
        if self._received > self._limits.answer_bytes:
            self._fail(AnswerCorrupt("the database's answer is too large"))
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            self._fail(self._broken(f"not http: {error}"))
        if self._waiter is not None:
            self._lapses_at = min(self._loop.time() + self._limits.read_seconds, self._deadline)

    def eof_received(self) -> None:
        # nobody may take it while the transport closes itself
        self.usable = False

    def connection_lost(self, error: Exception | None) -> None:
        self.usable = False
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        self._fail(self._broken(str(error) if error else "closed by the other side"))
        self.lost.set_result(None)
        self._on_lost(self)

    # what the parser calls

    def _on_message_begin(self) -> None:
        # INVARIANT: nothing of an earlier message is part of this one.
        self._headers.clear()
        self._body.clear()
        if self._waiter is None:
            # a second answer in the same breath
            self.abort()

    def _on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        waiter = self._waiter
        # "100 Continue" and the like announce the answer
        if waiter is None or status < 200:
            return
        self._waiter = None
        if not self._parser.should_keep_alive():
            self.abort()
        if not waiter.done():
            body = self._body[0] if len(self._body) == 1 else b"".join(self._body)
            waiter.set_result(Answer(status, Headers(self._headers.copy()), body))
        # an idle connection keeps nothing of an answer
        self._body.clear()

    # the one timer, for a late answer and for idleness: it is moved only when it fires, since most never do

    def _lapse_at(self, moment: float) -> None:
        self._lapses_at = moment
        if self._timer is not None:
            if self._armed_for <= moment:
                return
            self._timer.cancel()
        self._armed_for = moment
        self._timer = self._loop.call_at(moment, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        if self._lapses_at - self._loop.time() > _GRAIN:
            self._lapse_at(self._lapses_at)
            return
        self._fail(AnswerLate("the database did not answer in time", retry=Retry.TIMEOUT))

    def _fail(self, error: AwsError) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
        self.abort()

    def _broken(self, detail: str) -> ConnectionBroken:
        error = ConnectionBroken(
            "the connection to the database broke", said=Said(detail=detail), retry=Retry.TRANSIENT
        )
        error.stale = self._used and not self._received
        return error
