"""One run: engine, front, proxy, gateways and clients; then everything is still, and the table is read."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.demo import MODEL
from gateway.model.keys import item_key
from gateway.model.tenant import tenant_id
from gateway.sandbox.ready import Options
from gateway.sandbox.sandbox import Sandbox
from tests.chaos.client import Client
from tests.chaos.expected import contradictions
from tests.chaos.faults import Injector
from tests.chaos.gateways import Gateway, gateways, killing
from tests.chaos.invariants import violations
from tests.chaos.ledger import Ledger
from tests.chaos.proxy import Proxy
from tests.chaos.stored import call, dump, key_of
from tests.chaos.workload import PRODUCTS, Shop
from tests.engines.engine import engine, running

TENANTS = ("acme", "globex", "initech")
_FIRST_PRODUCTS = {"acme": 1001, "globex": 1001, "initech": 5001}
_KILL_EVERY = (3.0, 6.0)
_WATCH_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class ChaosOptions:
    seconds: float = 45.0
    clients: int = 8
    seed: int = 1
    share: float = 0.15


@dataclass(slots=True)
class Result:
    options: ChaosOptions
    ledger: Ledger
    injector: Injector
    faults: list[str]
    killed: int = 0
    watched: int = 0
    rows: int = 0
    took: float = 0.0


def run(options: ChaosOptions, logs: Path) -> Result:
    with (
        (logs / "engine.log").open("wb") as log,
        running(engine("ministack"), log) as url,
        Sandbox(Options(port=0, dynamodb_endpoint=url)) as sandbox,
    ):
        return asyncio.run(_run(options, url, sandbox, logs))


async def _run(options: ChaosOptions, engine_url: str, sandbox: Sandbox, logs: Path) -> Result:
    result = Result(options, Ledger(), Injector(options.seed, options.share), [])
    shops = [_shop(tenant) for tenant in TENANTS]
    table = sandbox.ready.table
    async with Proxy(sandbox.url, result.injector).running() as proxy, DynamoDBClient() as root:
        with gateways(sandbox, proxy.url, logs) as processes:
            await asyncio.gather(*(each.up() for each in processes))
            clients = _clients(options, sandbox, shops, processes, result.ledger)
            await _prepare(clients)
            started = time.monotonic()
            async with _watched(root, engine_url, table, shops, result):
                await _burn(options, clients, processes, result)
            await proxy.settled()
            result.took = time.monotonic() - started
        found = await dump(root, engine_url, table)
    result.rows = len(found.rows)
    result.faults += [*violations(found), *contradictions(found, result.ledger, shops)]
    return result


def _shop(name: str) -> Shop:
    first = _FIRST_PRODUCTS[name]
    return Shop(tenant_id(name), [f"p-{number}" for number in range(first, first + PRODUCTS)])


def _clients(
    options: ChaosOptions, sandbox: Sandbox, shops: list[Shop], processes: list[Gateway], ledger: Ledger
) -> list[Client]:
    urls = [each.url for each in processes]
    return [
        Client(shop, sandbox.token(shop.tenant, "admin"), urls, ledger, Random(f"{options.seed} {number}"))
        for number in range(options.clients)
        for shop in [shops[number % len(shops)]]
    ]


async def _prepare(clients: list[Client]) -> None:
    """Nothing fails yet."""
    for client in clients[: len(TENANTS)]:
        async with client.http() as http:
            for mutation, given in client.shop.preparations():
                await client.change(http, mutation, given)


async def _burn(options: ChaosOptions, clients: list[Client], processes: list[Gateway], result: Result) -> None:
    """Faults and kills for the given time; then the clients finish what they have begun."""
    enough = asyncio.Event()
    result.injector.on = True
    killer = asyncio.create_task(killing(processes, Random(options.seed), _KILL_EVERY))
    working = asyncio.gather(*(client.work(enough) for client in clients))
    try:
        await asyncio.wait({killer}, timeout=options.seconds)
        result.injector.on = False
        killer.cancel()
        result.killed = await killer
        await asyncio.gather(*(each.up() for each in processes))
        enough.set()
        await working
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


@asynccontextmanager
async def _watched(
    root: DynamoDBClient, url: str, table: str, shops: list[Shop], result: Result
) -> AsyncIterator[None]:
    """Reads the stock again and again, past the gateway: it is never below zero, not even for a moment."""
    stock = MODEL.entities["Stock"]
    names = [item_key(shop.tenant, stock, {"productId": name}) for shop in shops for name in shop.products]
    keys = [{"PK": {"S": key.pk}, "SK": {"S": key.sk}} for key in names]
    below: Counter[str] = Counter()

    async def watch() -> None:
        while True:
            answer = await call(root, url, "BatchGetItem", {"RequestItems": {table: {"Keys": keys}}})
            for row in answer["Responses"][table]:
                result.watched += 1
                below[key_of(row).pk] += int(row["available"]["N"]) < 0
            await asyncio.sleep(_WATCH_SECONDS)

    task = asyncio.create_task(watch())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        result.faults += [f"watched: {pk} was below zero {count} times" for pk, count in below.items() if count]
