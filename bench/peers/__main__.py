"""`python -m bench.peers`: all servers up at once, measured in turn, as a table.

What is compared in one run is compared under the same load of the machine: read the ratios.
"""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import orjson
import uvloop

from bench.peers.load import Load, Result, answers, run
from bench.peers.recorded import BODIES, essence, record
from bench.peers.servers import FLOOR, GATEWAY, Server, behind_tls, commands, started, stub
from tests.graph.backend import Backend, running

TENANTS = [f"t{number:03}" for number in range(200)]
_WARM_UP_SECONDS = 6  # no more of them for the slowest
Measured = dict[str, list[tuple[Result, float]]]  # by server: of each round the load, and its CPU us per request


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--bodies", nargs="+", choices=BODIES, default=list(BODIES))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2, help="of load on one server in one round")
    parser.add_argument("--warm-up", type=int, default=1_000, help="requests to each server before a body is measured")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--tls", action="store_true", help="all servers reach DynamoDB by TLS")
    parser.add_argument("--only", nargs="+", default=[], help="parts of the names of servers; the first is compared")
    return parser.parse_args()


def _load(backend: Backend, body: str, folder: Path) -> Load:
    role, content = BODIES[body]
    tokens = [backend.issuer.token(tenant, role) for tenant in TENANTS]
    return Load(orjson.dumps(content), tokens, folder)


async def _warm_up(server: Server, load: Load, options: argparse.Namespace) -> None:
    """Node compiles what it has seen often, so it is requests that count and not seconds."""
    done, end = 0, time.monotonic() + _WARM_UP_SECONDS
    while done < options.warm_up and time.monotonic() < end:
        done += (await run(load, server.port, options.connections, 1)).requests


async def _measure(servers: list[Server], load: Load, options: argparse.Namespace) -> Measured:
    """Every server answers the same, is warm, and is then measured in turn."""
    expected = None
    for server in servers:
        # the gateway opens a session for each tenant, the others know of none
        count = len(load.tokens) if server.name == GATEWAY else 16
        contents = [essence(answer) for answer in await answers(load, server.port, count)]
        expected = contents[0] if expected is None else expected
        assert all(one == expected for one in contents), f"{server.name} answers otherwise: {contents[0]}"
        await _warm_up(server, load, options)
    found: Measured = {server.name: [] for server in servers}
    for _ in range(options.rounds):
        for server in servers:
            before = server.cpu()
            result = await run(load, server.port, options.connections, options.seconds)
            found[server.name].append((result, (server.cpu() - before) / result.requests * 1e6))
    return found


def _table(body: str, found: Measured) -> str:
    floor = found.get(FLOOR) or next(iter(found.values()))
    ours = found.get(GATEWAY) or next(iter(found.values()))
    columns = "CPU us | x floor | x gateway | req/s | gateway's req/s | p50 ms | over floor | p99 ms | p99/p50 | errors"
    lines = [
        f"| {body} | {columns} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, rounds in found.items():
        cpu = median(cpu for _, cpu in rounds)
        to_floor = median(mine / its for (_, mine), (_, its) in zip(rounds, floor, strict=True))
        to_ours = median(mine / its for (_, mine), (_, its) in zip(rounds, ours, strict=True))
        of_ours = median(mine.rate / its.rate for (mine, _), (its, _) in zip(ours, rounds, strict=True))
        over = median(mine.p50 - its.p50 for (mine, _), (its, _) in zip(rounds, floor, strict=True))
        rate, p50, p99 = (median(value) for value in zip(*((r.rate, r.p50, r.p99) for r, _ in rounds), strict=True))
        errors = sum(result.errors for result, _ in rounds)
        lines.append(
            f"| {name} | {cpu:,.0f} | {to_floor:.2f} | {to_ours:.2f} | {rate:,.0f} | {of_ours:.2f} x "
            f"| {p50:.2f} | {over:+.2f} | {p99:.1f} | {p99 / p50:.1f} | {errors} |"
        )
    return "\n".join(lines)


async def _main(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        backend = stack.enter_context(running(("acme", *TENANTS)))
        dynamodb, trusted = stack.enter_context(stub(await record(backend), folder)), dict[str, str]()
        if options.tls:
            dynamodb, trusted = stack.enter_context(behind_tls(dynamodb, folder))
        servers = [
            stack.enter_context(started(name, command, {**environment, **trusted}, folder))
            for name, (command, environment) in commands(backend, dynamodb).items()
            if not options.only or any(part in name for part in options.only)
        ]
        print(_heading(options), flush=True)
        for body in options.bodies:
            print("\n" + _table(body, await _measure(servers, _load(backend, body, folder), options)), flush=True)


def _heading(options: argparse.Namespace) -> str:
    client = "wrk" if shutil.which("wrk") else "our own client"
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores, {client}; {'TLS to DynamoDB, ' if options.tls else ''}"
        f"{options.connections} connections, {len(TENANTS)} tenants, "
        f"medians of {options.rounds} rounds of {options.seconds:g} s"
    )


def main() -> None:
    # so that the children are ended as on Ctrl-C
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    uvloop.run(_main(_arguments()))


if __name__ == "__main__":
    main()
