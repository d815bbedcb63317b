"""`python -m bench.peers.workers`: what a second worker brings, measured in turn with one alone.

Client, stub and workers share the cores of this machine: where these are few or busy, throughput says little, and CPU
for a request tells whether another core would bring as much as the first. Needs `.peers/stub` (`make bench-peers`
makes it, or `cc -O2 -o .peers/stub bench/peers/stub.c`).
"""

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import orjson
import uvloop

from bench.peers.load import Load, Result, answers, run
from bench.peers.recorded import BODIES, record
from bench.peers.servers import GATEWAY, Server, commands, started, stub
from tests.graph.backend import running

TENANTS = [f"t{number:03}" for number in range(50)]
_START_SECONDS = 60


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers.workers", description=__doc__)
    parser.add_argument("--body", choices=BODIES, default="main")
    parser.add_argument("--workers", type=int, default=2, help="compared with one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--connections", type=int, default=32)
    return parser.parse_args()


def _workers(server: Server) -> list[int]:
    """The process itself, where it has no workers."""
    task = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    return [int(pid) for pid in task.read_text().split()] or [server.process.pid]


@dataclass(frozen=True, slots=True)
class Measured:
    load: Result
    cpu: float  # microseconds for a request, of all workers
    shares: list[float]  # of that CPU, the busiest worker's first


def _cpu(pid: int) -> float:
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in Path(f"/proc/{pid}/task").iterdir())


async def _measured(server: Server, load: Load, options: argparse.Namespace) -> Measured:
    pids = _workers(server)
    before = [_cpu(pid) for pid in pids]
    result = await run(load, server.port, options.connections, options.seconds)
    spent = [_cpu(pid) - earlier for pid, earlier in zip(pids, before, strict=True)]
    shares = sorted((one / sum(spent) for one in spent), reverse=True)
    return Measured(result, sum(spent) / 1e3 / result.requests, shares)


async def _main(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        backend = stack.enter_context(running(("acme", *TENANTS)))
        dynamodb = stack.enter_context(stub(await record(backend), folder))
        _, settings = commands(backend, dynamodb)[GATEWAY]
        role, content = BODIES[options.body]
        load = Load(orjson.dumps(content), [backend.issuer.token(tenant, role) for tenant in TENANTS], folder)
        servers = []
        for count in (1, options.workers):
            environment = {**settings, "GATEWAY_WORKERS": str(count)}
            command = [sys.executable, "-m", "gateway", "serve"]
            server = stack.enter_context(started(f"{count} workers", command, environment, folder))
            _until_all_run(server, count)
            for _ in range(4):  # so that each worker has a session of each tenant
                await answers(load, server.port, len(TENANTS))
            await run(load, server.port, options.connections, 2)
            servers.append(server)
        rounds = [[await _measured(server, load, options) for server in servers] for _ in range(options.rounds)]
        _show(options, rounds)


def _until_all_run(server: Server, count: int) -> None:
    end = time.monotonic() + _START_SECONDS
    while len(_workers(server)) < count:
        assert time.monotonic() < end, "workers did not start"
        time.sleep(0.1)
    time.sleep(2)


def _show(options: argparse.Namespace, rounds: list[list[Measured]]) -> None:
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load {load:.1f} on {cores} cores, {options.connections} connections"
    )
    print("| workers | req/s | p99 ms | CPU us | CPU shared | errors |\n|---:|---:|---:|---:|---|---:|")
    for measured in rounds:
        for count, one in zip((1, options.workers), measured, strict=True):
            shared, result = " ".join(f"{share:.0%}" for share in one.shares), one.load
            print(f"| {count} | {result.rate:,.0f} | {result.p99:.0f} | {one.cpu:,.0f} | {shared} | {result.errors} |")
    rate = median(several.load.rate / one.load.rate for one, several in rounds)
    cpu = median(several.cpu / one.cpu for one, several in rounds)
    print(
        f"{options.body}: {options.workers} workers serve {rate:.2f} times as much as one, at {cpu:.2f} of its CPU each"
    )


if __name__ == "__main__":
    uvloop.run(_main(_arguments()))
