"""`python -m bench.peers.memory`: whether memory grows with the number of requests.

For documents that come again, and for documents that never do. The whole gateway runs in one process, from the ASGI
app to the socket, each kind in a process of its own; DynamoDB is the stub (`.peers/stub`, see bench/README.md). Memory
is read at a fifth of the requests, when caches and pools are warm, and at the end. `--traced` counts Python's own
allocations as well, several times slower, and names the lines that hold what has grown.
"""

import argparse
import asyncio
import contextlib
import gc
import itertools
import logging
import multiprocessing
import os
import tempfile
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import orjson
import uvloop

from bench.peers.recorded import BODIES, record
from bench.peers.servers import stub
from gateway.serving.serve import configure_logging
from tests.graph.backend import Backend, running
from tests.graph.path_trace import App, post_asgi

TENANT = "t000"  # the stub answers in its name
_CONCURRENT = 8
_STEPS = 5
_PAGE = os.sysconf("SC_PAGE_SIZE")
Requests = Iterator[tuple[bytes, str]]


def _repeated(backend: Backend) -> Requests:
    bodies = [(orjson.dumps(body), backend.issuer.token(TENANT, role)) for role, body in BODIES.values()]
    return itertools.cycle(bodies)


def _never_repeated(backend: Backend) -> Requests:
    """Another text, another name and another alias each time, as of a client that writes values into its documents."""
    token = backend.issuer.token(TENANT, "viewer")
    for number in itertools.count():
        text = f'query Q{number} {{ product(productId: "p-0003") {{ productId title a{number}: price }} }}'
        yield orjson.dumps({"query": text}), token


KINDS = {"repeated": _repeated, "never repeated": _never_repeated}


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


async def _run_requests(kind: str, options: argparse.Namespace) -> None:
    with running(("acme", TENANT)) as backend, tempfile.TemporaryDirectory() as folder:
        recordings = await record(backend)
        with stub(recordings, Path(folder)) as dynamodb:
            app = backend.app(configure_logging("INFO"), dynamodb_endpoint=dynamodb, request_timeout_seconds=60)
            async with app.lifespan():
                await _measured(kind, app, KINDS[kind](backend), options)


async def _measured(kind: str, app: App, requests: Requests, options: argparse.Namespace) -> None:
    """Metrics are on, as in the sandbox: they must not grow either."""
    each, refused = options.requests // _STEPS // _CONCURRENT, Counter[str]()
    resident: list[int] = []
    traced: list[tracemalloc.Snapshot] = []

    async def client() -> None:
        for _ in range(each):
            answer = await post_asgi(app, *next(requests))
            refused.update(error["extensions"]["code"] for error in answer.get("errors", ()))

    if options.traced:
        tracemalloc.start()
    for _ in range(_STEPS):
        await asyncio.gather(*(client() for _ in range(_CONCURRENT)))
        resident.append(_resident())
        if options.traced:
            traced.append(tracemalloc.take_snapshot())
    _show(kind, each * _CONCURRENT * _STEPS, refused, resident, traced)


def _show(kind: str, done: int, refused: Counter[str], resident: list[int], traced: list[tracemalloc.Snapshot]) -> None:
    steps = " ".join(f"{one / 2**20:.1f}" for one in resident)
    first = done // _STEPS
    growth = resident[-1] - resident[0]
    lines = [
        f"{kind}: {done:,} requests, refused {dict(refused) or 'none'}; resident MiB at each fifth: {steps}",
        f"  from request {first:,} on: {growth / 2**20:+.1f} MiB, {growth / (done - first):+.1f} bytes for a request",
    ]
    if traced:
        differences = traced[-1].compare_to(traced[0], "lineno")
        total = sum(one.size_diff for one in differences)
        lines.append(f"  Python's own: {total / 2**20:+.2f} MiB, {total / (done - first):+.1f} bytes for a request")
        lines += [f"    {one}" for one in differences[:5]]
    os.write(2, ("\n".join(lines) + "\n").encode())


def _run(kind: str, options: argparse.Namespace) -> None:
    """The log is written, and goes nowhere."""
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        uvloop.run(_run_requests(kind, options))
        logging.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers.memory", description=__doc__)
    parser.add_argument("--requests", type=int, default=50_000, help="of each kind")
    parser.add_argument("--traced", action="store_true", help="count Python's own allocations by line")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    for kind in options.kinds:
        process = multiprocessing.get_context("spawn").Process(target=_run, args=(kind, options))
        process.start()
        process.join()


if __name__ == "__main__":
    main()
