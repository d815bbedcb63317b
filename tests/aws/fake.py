"""A DynamoDB that follows a script: each request meets the next behaviour, and succeeds when there is none left."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

import orjson
import pytest

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget

CREDENTIALS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "the-session-token")
REGION = "eu-west-1"
# the wire runs on both event loops, and so do its tests: `pytestmark = BOTH_LOOPS`
BOTH_LOOPS = pytest.mark.parametrize(
    "anyio_backend",
    [("asyncio", {"use_uvloop": False}), ("asyncio", {"use_uvloop": True})],
    ids=["asyncio", "uvloop"],
)


@dataclass(frozen=True, slots=True)
class Received:
    operation: str
    headers: Mapping[str, str]
    body: bytes
    # which connection it came over, counted from 0
    connection: int


Behaviour = Callable[[asyncio.StreamWriter], Awaitable[None]]


def response(
    body: bytes, status: int = 200, headers: Mapping[str, str] | None = None, *, checksum: int | None = None
) -> bytes:
    lines = {
        "Content-Type": "application/x-amz-json-1.0",
        "Content-Length": str(len(body)),
        "x-amzn-RequestId": "REQUEST-1",
        "x-amz-crc32": str(crc32(body) if checksum is None else checksum),
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} Some Reason\r\n{head}\r\n".encode() + body


def raw(*parts: bytes) -> Behaviour:
    """Sends the parts one after the other, each on its own."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.002)

    return behave


def ok(content: object = None, **headers: str) -> Behaviour:
    return raw(response(orjson.dumps({} if content is None else content), headers=headers))


def error(code: str, status: int = 400, headers: Mapping[str, str] | None = None, **members: Any) -> Behaviour:
    content = {
        "__type": f"com.amazonaws.dynamodb.v20120810#{code}",
        "message": "arn:aws:iam::123456789012:role/r",
        **members,
    }
    return raw(response(orjson.dumps(content), status, headers))


def closing(*parts: bytes) -> Behaviour:
    """Sends the parts and ends the connection."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        await raw(*parts)(writer)
        writer.close()

    return behave


def after(event: asyncio.Event, then: Behaviour) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter) -> None:
        await event.wait()
        await then(writer)

    return behave


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


@dataclass(slots=True)
class FakeAws:
    script: list[Behaviour] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    arrived: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    connected: asyncio.Event = field(default_factory=asyncio.Event)
    busy: int = 0
    busiest: int = 0
    scheme: str = "http"
    host: str = "127.0.0.1"
    port: int = 0

    @property
    def target(self) -> AwsTarget:
        return AwsTarget(f"{self.scheme}://{self.host}:{self.port}", REGION)

    @property
    def connections(self) -> list[int]:
        return [request.connection for request in self.received]

    async def until_received(self, count: int = 1) -> None:
        """Waits for so many more requests."""
        async with asyncio.timeout(60):
            for _ in range(count):
                await self.arrived.acquire()

    async def until_connected(self) -> None:
        async with asyncio.timeout(60):
            await self.connected.wait()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = len(self.writers)
        self.writers.append(writer)
        self.connected.set()
        while not writer.is_closing():
            try:
                request = await _read(reader, number)
            except (asyncio.IncompleteReadError, ConnectionError):
                break
            self.received.append(request)
            self.arrived.release()
            self.busy += 1
            self.busiest = max(self.busiest, self.busy)
            behaviour = self.script.pop(0) if self.script else ok()
            try:
                await behaviour(writer)
            except ConnectionError:
                break
            finally:
                self.busy -= 1


async def _read(reader: asyncio.StreamReader, number: int) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
    lines = head.rstrip().split("\r\n")
    assert lines[0] == "POST / HTTP/1.1"
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
    body = await reader.readexactly(int(headers["content-length"]))
    return Received(headers.get("x-amz-target", "").removeprefix("DynamoDB_20120810."), headers, body, number)


@asynccontextmanager
async def fake_aws(*script: Behaviour, tls: ssl.SSLContext | None = None) -> AsyncIterator[FakeAws]:
    fake = FakeAws(list(script))
    tasks: set[asyncio.Task[None]] = set()

    def on_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.create_task(fake.serve(reader, writer)))

    server = await asyncio.start_server(on_connection, fake.host, 0, ssl=tls)
    fake.port = server.sockets[0].getsockname()[1]
    if tls is not None:
        fake.scheme, fake.host = "https", "localhost"
    try:
        yield fake
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in fake.writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in fake.writers), return_exceptions=True)
        await server.wait_closed()


@contextmanager
def deaf_port() -> Iterator[int]:
    """A port whose queue of connections is full, so that a new one is neither accepted nor refused."""
    with socket.socket() as listener, socket.socket() as first, socket.socket() as second:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for filler in (first, second):
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
