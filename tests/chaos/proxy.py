"""A proxy between the gateways and DynamoDB that forwards, or fails on demand."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from urllib.parse import urlsplit

from tests.chaos.faults import Injector, Kind
from tests.chaos.messages import Message, damaged, fault, read
from tests.chaos.partial import partial

HOST = "127.0.0.1"
# the gateways give up before that
_SILENCE = 5.0
_LATER = 1.5

_BEFORE = {
    Kind.THROTTLED: fault(400, "ProvisionedThroughputExceededException", "The level of ... throughput was exceeded."),
    Kind.FAILED_BEFORE: fault(500, "InternalServerError", "The request processing has failed."),
    Kind.EXPIRED: fault(400, "ExpiredTokenException", "The security token included in the request is expired"),
}


class Proxy:
    """Requests pass as they are, so that their signatures stay good."""

    def __init__(self, upstream: str, injector: Injector) -> None:
        address = urlsplit(upstream)
        self._upstream = address.hostname or HOST, address.port or 80
        self._injector = injector
        self._handlers: set[asyncio.Task[None]] = set()
        # calls without an answer yet, and those that are carried out later
        self._open: set[asyncio.Future[None]] = set()
        self._late: set[asyncio.Task[Message | None]] = set()
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Proxy"]:
        server = await asyncio.start_server(self._serve, HOST, 0)
        self.url = f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task in (*self._handlers, *self._late):
                task.cancel()
            await asyncio.gather(*self._handlers, *self._late, return_exceptions=True)

    async def settled(self) -> None:
        """Waits until nothing is under way, and everything that was to be done late is done."""
        while self._open or self._late:
            await asyncio.gather(*self._open, *self._late, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._handlers.add(task)
            task.add_done_callback(self._handlers.discard)
        try:
            while (request := await read(reader)) is not None:
                with self._counted():
                    given = await self._answer(request, reader)
                if given is None:
                    writer.transport.abort()
                    return
                writer.write(given.head + given.body)
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            # the other side is gone, or the run is over
            writer.transport.abort()
        finally:
            writer.close()

    @contextmanager
    def _counted(self) -> Iterator[None]:
        ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._open.add(ended)
        try:
            yield
        finally:
            self._open.discard(ended)
            ended.set_result(None)

    async def _answer(self, request: Message, reader: asyncio.StreamReader) -> Message | None:
        """None where the connection is to break without an answer."""
        kind = self._injector.choose(request.operation)
        if kind in _BEFORE:
            return _BEFORE[kind]
        match kind:
            case None:
                return await self._forward(request)
            case Kind.RESET_BEFORE:
                return None
            case Kind.CONFLICT:
                return _conflict(request, self._injector)
            case Kind.IN_PROGRESS:
                self._later(request, 0.05)
                return fault(400, "TransactionInProgressException", "The transaction is in progress.")
            case Kind.LATE:
                await _given_up(reader)
                self._later(request, self._injector.random.uniform(0, _LATER))
                return None
        return await self._after(kind, request, reader)

    async def _after(self, kind: Kind, request: Message, reader: asyncio.StreamReader) -> Message | None:
        """What is done, but not answered as it should be."""
        given = await self._forward(request)
        if given is None or kind is Kind.RESET_AFTER:
            return None
        if kind is Kind.SILENT_AFTER:
            await _given_up(reader)
            return None
        if not given.head.startswith(b"HTTP/1.1 200"):
            return given
        if kind is Kind.FAILED_AFTER:
            return _BEFORE[Kind.FAILED_BEFORE]
        return damaged(given) if kind is Kind.DAMAGED else partial(request, given, self._injector.random)

    async def _forward(self, request: Message) -> Message | None:
        try:
            reader, writer = await asyncio.open_connection(*self._upstream)
        except OSError:
            return None
        try:
            writer.write(request.head + request.body)
            return await read(reader)
        except ConnectionError:
            return None
        finally:
            writer.close()

    def _later(self, request: Message, seconds: float) -> None:
        async def carry_out() -> Message | None:
            await asyncio.sleep(seconds)
            return await self._forward(request)

        task = asyncio.get_running_loop().create_task(carry_out())
        self._late.add(task)
        task.add_done_callback(self._late.discard)


async def _given_up(reader: asyncio.StreamReader) -> None:
    """Until the gateway closes the connection; it sends nothing while it waits for an answer."""
    with suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(_SILENCE):
            await reader.read(1)


def _conflict(request: Message, injector: Injector) -> Message:
    members = len(json.loads(request.body)["TransactItems"])
    reasons = [{"Code": "None"} for _ in range(members)]
    reasons[injector.random.randrange(members)] = {"Code": "TransactionConflict", "Message": "Transaction is ongoing"}
    return fault(400, "TransactionCanceledException", "Transaction cancelled", CancellationReasons=reasons)
