"""What a tenant's latency is beside eight connections of another tenant that send the largest documents and bodies.

python -m bench.peers.neighbours [--rounds 4] [--seconds 3]

Rounds alternate: alone, beside eight connections that ask for ordinary pages, then beside each attack in turn. Ratios
are of one round, so the load of the machine affects both sides. What counts is the ratio to the ordinary pages: whoever
fills the server's core with them is served too, and an attack may not cost a neighbour more than that. Callers are
cheap: all bodies are made before, and nothing of an answer is read but its end.
"""

import argparse
import asyncio
import gzip
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import orjson
import uvloop

from bench.peers.load import Load, _Client
from bench.peers.recorded import BODIES, record
from bench.peers.servers import GATEWAY, Server, commands, started, stub
from tests.graph.backend import Backend, running

ATTACKERS, VICTIM, ATTACKER = 8, "t000", "t001"
_EACH = 2_000  # different bodies of an attack; a round goes on where the last one ended
_FIELDS = "productId title price"  # what the stub's product has
_NESTED = (
    "nodes { orderId total user { name email orders(first: 1) { nodes { orderId } } } lines { quantity title } } "
    "edges { cursor node { orderId } } pageInfo { hasNextPage endCursor }"
)


def _large(number: int) -> dict[str, Any]:
    """As many fields and tokens as a document may have."""
    roots = (f'a{alias}: product(productId: "p-0003") {{ {" ".join([_FIELDS] * 12)} }}' for alias in range(49))
    return {"query": f"query Q{number} {{ {' '.join(roots)} }}"}


def _nested(number: int) -> dict[str, Any]:
    # a whole page, since the stub ignores the limit of a Query: 25 calls for the orders of its users
    roots = (f"r{alias}: reviewQueue(first: 25) {{ {_NESTED} }}" for alias in range(2))
    return {"query": f"query Q{number} {{ {' '.join(roots)} }}"}


def _pages(number: int) -> dict[str, Any]:
    """Many objects, of a document that no lane was made for."""
    order = "orderId total status currency placedAt user { name email }"
    roots = (f"p{alias}: reviewQueue(first: 25) {{ nodes {{ {order} }} }}" for alias in range(30))
    return {"query": f"query Q{number} {{ {' '.join(roots)} }}"}


def _long(number: int) -> dict[str, Any]:
    """A megabyte that is a kilobyte with gzip."""
    return {"query": f"query Q{number} {{ {'a ' * 499_000} }}"}


def _values(number: int) -> dict[str, Any]:
    return {"query": "{ product(productId: 1) { title } }", "variables": {"x": [[number, *["a"] * 900]] * 21}}


ORDINARY = "ordinary pages"
ATTACKS = {
    ORDINARY: lambda number: BODIES["main"][1],
    "largest documents": _large,
    "nested pages": _nested,
    "many new pages": _pages,
    "1 MB in gzip": _long,
    "most variables": _values,
}


def _requests(bodies: Iterator[bytes], token: str, more: bytes = b"") -> list[bytes]:
    return [
        b"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%b"
        b"Authorization: Bearer %b\r\nContent-Length: %d\r\n\r\n%b" % (more, token.encode(), len(body), body)
        for body in bodies
    ]


def _attack(name: str, token: str) -> list[bytes]:
    packed = "gzip" in name
    bodies = (orjson.dumps(ATTACKS[name](number)) for number in range(40 if packed or name == ORDINARY else _EACH))
    if packed:
        return _requests(map(gzip.compress, bodies), token, b"Content-Encoding: gzip\r\n")
    return _requests(bodies, token)


async def _connections(requests: list[bytes], port: int, count: int) -> list[_Client]:
    loop, made = asyncio.get_running_loop(), []
    for number in range(count):
        make = partial(_Client, requests, number * len(requests) // count)
        _, client = await loop.create_connection(make, "127.0.0.1", port)
        made.append(client)
    return made


async def _measured(port: int, victim: list[bytes], attack: list[bytes], seconds: float) -> tuple[list[float], int]:
    """The latencies of the victim, and how many requests of the attack were answered meanwhile."""
    attackers = await _connections(attack, port, ATTACKERS) if attack else []
    [client] = await _connections(victim, port, 1)
    loop = asyncio.get_running_loop()
    for each in (*attackers, client):
        each.end = time.perf_counter() + seconds
        loop.call_soon(each.go)
    await asyncio.wait([each.done for each in (*attackers, client)], timeout=seconds + 30)
    assert not client.errors
    return client.times, sum(len(each.times) for each in attackers)


Rounds = list[tuple[list[float], int]]


def _row(name: str, found: dict[str, Rounds], seconds: float) -> str:
    rounds = found[name]
    cells = [name]
    for part in (50, 99):
        cells.append(f"{median(_quantile(times, part) for times, _ in rounds) * 1e3:.2f}")
        cells += [f"{_ratio(rounds, found[other], part):.2f}" for other in ("alone", ORDINARY)]
    return f"| {' | '.join(cells)} | {median(count for _, count in rounds) / seconds:,.0f} |"


def _ratio(rounds: Rounds, others: Rounds, part: int) -> float:
    """Of latencies of the same round."""
    pairs = zip(rounds, others, strict=True)
    return median(_quantile(mine, part) / _quantile(its, part) for (mine, _), (its, _) in pairs)


def _quantile(times: list[float], part: int) -> float:
    return quantiles(times, n=100)[part - 1]


async def _run(backend: Backend, port: int, options: argparse.Namespace) -> None:
    load = Load(orjson.dumps(BODIES["get"][1]), [backend.issuer.token(VICTIM, "viewer")], Path())
    victim, token = load.requests(), backend.issuer.token(ATTACKER, "viewer")
    attacks = {"alone": [], **{name: _attack(name, token) for name in ATTACKS}}
    await _measured(port, victim, [], 1)
    found: dict[str, Rounds] = {name: [] for name in attacks}
    for _ in range(options.rounds):
        for name, requests in attacks.items():
            found[name].append(await _measured(port, victim, requests, options.seconds))
            sent = found[name][-1][1] // ATTACKERS + 1  # of each connection
            attacks[name] = requests[sent:] + requests[:sent]
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print("| beside | p50 ms | x alone | x ordinary | p99 ms | x alone | x ordinary | requests/s |")
    print("|---|" + "---:|" * 7)
    for name in found:
        print(_row(name, found, options.seconds))


async def _main(options: argparse.Namespace) -> None:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        backend = stack.enter_context(running(("acme", VICTIM, ATTACKER)))
        dynamodb = stack.enter_context(stub(await record(backend), folder, options.latency))
        command, environment = commands(backend, dynamodb)[GATEWAY]
        server = stack.enter_context(started(GATEWAY, command, environment, folder))
        _part_cores(server)
        await _run(backend, server.port, options)


def _part_cores(server: Server) -> None:
    """One core for the server, the others for callers and stub: what is measured is how the server shares its own."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(server.process.pid, cores[:1])
        os.sched_setaffinity(0, cores[1:])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers.neighbours", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--latency", type=float, default=0, help="milliseconds until DynamoDB answers")
    uvloop.run(_main(parser.parse_args()))


if __name__ == "__main__":
    main()
