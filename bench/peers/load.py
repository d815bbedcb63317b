"""Load on one server for some seconds: wrk where it is installed, else a small client of our own."""

import asyncio
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httptools
import orjson

_SCRIPT = Path(__file__).with_name("load.lua")
_CHECKING = 8  # connections while answers are compared


@dataclass(frozen=True, slots=True)
class Load:
    """A body with the tokens of many tenants."""

    body: bytes
    tokens: list[str]
    folder: Path

    def requests(self) -> list[bytes]:
        return [
            b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer %b\r\nContent-Length: %d\r\n\r\n%b" % (token.encode(), len(self.body), self.body)
            for token in self.tokens
        ]


@dataclass(frozen=True, slots=True)
class Result:
    requests: int
    seconds: float
    p50: float  # milliseconds
    p99: float
    errors: int

    @property
    def rate(self) -> float:
        return self.requests / self.seconds


class _Client(asyncio.Protocol):
    """One connection that sends a request as soon as the last one is answered."""

    def __init__(self, requests: list[bytes], start: int) -> None:
        self._requests, self._next = requests, start
        self._parser = httptools.HttpResponseParser(self)
        self.times: list[float] = []
        self.errors = 0
        self.answers: list[bytes] = []
        self.keep = False
        self.end = 0.0
        self.left = -1
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        if not self.done.done():
            self.errors += 1
            self.done.set_result(None)

    def go(self) -> None:
        now = time.perf_counter()
        if (self.end and now >= self.end) or self.left == 0:
            self.done.set_result(None)
            self._transport.close()
            return
        self.left -= 1
        self._body = b""
        self._sent = now
        self._transport.write(self._requests[self._next % len(self._requests)])
        self._next += 1

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        if self.keep:
            self._body += body

    def on_message_complete(self) -> None:
        self.times.append(time.perf_counter() - self._sent)
        self.errors += self._parser.get_status_code() != 200
        if self.keep:
            self.answers.append(self._body)
        self._parser = httptools.HttpResponseParser(self)
        self.go()


async def _clients(load: Load, port: int, count: int) -> list[_Client]:
    loop, requests, made = asyncio.get_running_loop(), load.requests(), []
    for number in range(count):
        start = number * len(requests) // count
        _, client = await loop.create_connection(lambda start=start: _Client(requests, start), "127.0.0.1", port)
        made.append(client)
    return made


async def answers(load: Load, port: int, count: int) -> list[Any]:
    """What is answered to so many requests, each with the next token."""
    clients = await _clients(load, port, _CHECKING)
    for client in clients:
        client.keep, client.left = True, -(-count // _CHECKING)
        client.go()
    async with asyncio.timeout(60):
        await asyncio.gather(*(client.done for client in clients))
    assert not sum(client.errors for client in clients), clients[0].answers[:1]
    return [orjson.loads(answer) for client in clients for answer in client.answers]


async def run(load: Load, port: int, connections: int, seconds: float) -> Result:
    if shutil.which("wrk"):
        return await asyncio.to_thread(_wrk, load, port, connections, seconds)
    clients = await _clients(load, port, connections)
    started = time.perf_counter()
    for client in clients:
        client.end = started + seconds
        client.go()
    async with asyncio.timeout(seconds + 30):
        await asyncio.gather(*(client.done for client in clients))
    spent = time.perf_counter() - started
    times = sorted(each for client in clients for each in client.times)
    p50, p99 = (times[int(len(times) * share)] * 1_000 for share in (0.5, 0.99))
    return Result(len(times), spent, p50, p99, sum(client.errors for client in clients))


def _wrk(load: Load, port: int, connections: int, seconds: float) -> Result:
    body, tokens = load.folder / "body.json", load.folder / "tokens.txt"
    body.write_bytes(load.body)
    tokens.write_text("".join(f"{token}\n" for token in load.tokens))
    command = ["wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "20s", "-s", str(_SCRIPT)]
    command += [f"http://127.0.0.1:{port}/graphql", "--", str(body), str(tokens)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True).stdout
    numbers = said.rpartition("RESULT ")[2].split()
    count, microseconds, p50, p99, errors = map(float, numbers)
    return Result(int(count), microseconds / 1e6, p50, p99, int(errors))
