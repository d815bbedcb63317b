"""`python -m bench.peers.in_process`: a request of the gateway and of the floor without sockets, for a busy machine.

Each runs in a process of its own on one connection. Transports are objects that answer at once with what DynamoDB said,
so what is left is the work of the process itself. The least of many short runs is reported: the times in which nobody
else had the core. System calls are missing in it, and so is waiting.
"""

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import time
from functools import partial
from typing import Any
from zlib import crc32

import orjson
import uvloop
from starlette.applications import Starlette
from starlette.routing import Route
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from bench.peers.recorded import BODIES
from gateway.aws.wire.connection import Connection, WireLimits
from gateway.aws.wire.pool import EndpointPool
from gateway.model.tenant import partition, tenant_id
from gateway.serving.hardened_http import HardenedHttp
from gateway.serving.serve import configure_logging
from tests.graph.backend import Backend, running
from tests.graph.path_trace import post_asgi

SERVERS, TENANT = ("floor", "gateway"), "acme"
_WARM_UP, _AT_ONCE = 50, 4
_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %d\r\nx-amz-crc32: %d\r\n\r\n%b"
)
_MARK = b"DynamoDB_20120810."
Answers = dict[bytes, bytes]


class _DynamoDB:
    """A transport whose other side has answered before."""

    def __init__(self, connection: Connection, answers: Answers) -> None:
        self._connection, self._answers = connection, answers
        self._loop = asyncio.get_running_loop()

    def write(self, data: bytes) -> None:
        at = data.index(_MARK) + len(_MARK)
        self._loop.call_soon(self._connection.data_received, self._answers[data[at : data.index(b"\r", at)]])

    def abort(self) -> None:
        pass


class _Caller:
    """A transport to a caller; `done` is set with the last byte of an answer."""

    done: "asyncio.Future[None]"
    answer = b""

    def write(self, data: bytes) -> None:
        self.answer = data if data.startswith(b"HTTP") else self.answer + data
        if data.endswith(b"}") or b"content-encoding: gzip" in data:  # the gateway writes head and body together
            self.done.set_result(None)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name.endswith("name") else default

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return lambda *given: None


async def _app(server: str, backend: Backend, body: str) -> tuple[Any, Any]:
    """The app, with its session open, and the protocol that serves it."""
    if server == "gateway":
        app: Any = backend.app(configure_logging("INFO"))
        await app.lifespan().__aenter__()  # ends with the process
        role, content = BODIES[body]
        await post_asgi(app, orjson.dumps(content), backend.issuer.token(TENANT, role))
        return app, partial(HardenedHttp, lambda: False)
    sys.argv = ["floor", "0", backend.url]
    from bench.peers import floor  # noqa: PLC0415  it reads where DynamoDB is when it is imported

    floor.OWN = partition(tenant_id(TENANT), "")
    return Starlette(routes=[Route("/graphql", floor.answer, methods=["POST"])]), HttpToolsProtocol


async def _recorded(backend: Backend, body: str, *, gzip: bool) -> tuple[bytes, Answers]:
    """The request, and what DynamoDB answers to its calls."""
    role, content = BODIES[body]
    token, sent = backend.issuer.token(TENANT, role), orjson.dumps(content)
    app = backend.app(lambda fields: None)
    async with app.lifespan():
        backend.seen.clear()
        await post_asgi(app, sent, token)
    answers = {name.encode(): _HEAD % (len(said), crc32(said), said) for name, _, said in backend.seen}
    head = b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    head += b"Accept-Encoding: gzip\r\n" if gzip else b""
    return head + b"Authorization: Bearer %b\r\nContent-Length: %d\r\n\r\n%b" % (
        token.encode(),
        len(sent),
        sent,
    ), answers


async def _measure(server: str, body: str, seconds: float, *, gzip: bool = False) -> float:
    with running((TENANT,)) as backend:
        request, answers = await _recorded(backend, body, gzip=gzip)
        app, make = await _app(server, backend, body)

        async def connect(pool: EndpointPool, deadline: float) -> Connection:
            made = Connection(WireLimits(), lambda lost: None)
            made.connection_made(_DynamoDB(made, answers))  # type: ignore[arg-type]
            return made

        for pool in [each for each in gc.get_objects() if isinstance(each, EndpointPool)]:
            pool.drop_idle()
        EndpointPool._connect = connect  # type: ignore[method-assign]  # noqa: SLF001  no socket is opened
        config = Config(app, log_config=None, access_log=False, proxy_headers=False, lifespan="off")
        config.load()
        protocol, caller = make(config=config, server_state=ServerState(), app_state={}), _Caller()
        protocol.connection_made(caller)
        loop, times, end = asyncio.get_running_loop(), list[float](), 0.0
        gc.collect()
        gc.freeze()
        gc.set_threshold(1_000, 1_000_000, 100)  # as the gateway does
        for number in range(10_000_000):
            if number == _WARM_UP:
                assert caller.answer.startswith(b"HTTP/1.1 200 "), caller.answer
                assert b'"errors":[{' not in caller.answer, caller.answer
                end = time.monotonic() + seconds
            started = time.perf_counter()
            for _ in range(_AT_ONCE):
                caller.done = loop.create_future()
                protocol.data_received(request)
                await caller.done
            times.append((time.perf_counter() - started) / _AT_ONCE * 1e6)
            if end and time.monotonic() > end:
                break
        return min(times[_WARM_UP:])


def _child(server: str, body: str, seconds: float, *, gzip: bool) -> float:
    command = [sys.executable, "-m", "bench.peers.in_process", "--server", server]
    command += ["--bodies", body, "--seconds", str(seconds), *(["--gzip"] if gzip else ())]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=seconds + 120, check=True)
    return float(done.stderr.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers.in_process", description=__doc__)
    parser.add_argument("--bodies", nargs="+", choices=BODIES, default=list(BODIES))
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--server", choices=SERVERS, help="only this one, in this process; reported on standard error")
    parser.add_argument("--gzip", action="store_true", help="the caller accepts gzip; the floor does not compress")
    options = parser.parse_args()
    if options.server is not None:
        measured = _measure(options.server, options.bodies[0], options.seconds, gzip=options.gzip)
        print(uvloop.run(measured), file=sys.stderr, flush=True)
        os._exit(0)  # nothing of it has to be closed
    print("| body | floor us | gateway us | x floor |\n|---|---:|---:|---:|")
    for body in options.bodies:
        floor, gateway = (_child(server, body, options.seconds, gzip=options.gzip) for server in SERVERS)
        print(f"| {body} | {floor:.0f} | {gateway:.0f} | {gateway / floor:.2f} |", flush=True)


if __name__ == "__main__":
    main()
