"""One run: a sandbox, a NATS server, two readers, two gateways, writers and subscribers; then everything is still."""

import asyncio
import itertools
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from gateway.sandbox.assembly import build
from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.engine import call_engine
from gateway.sandbox.ready import Options, Ready
from gateway.sandbox.sandbox import Sandbox
from gateway.sandbox.server import address_of, free_port, listen, served_in_thread
from tests.chaos.stream.history import Item, Seen, Writes, first_version, violations
from tests.chaos.stream.subscriber import Subscriber
from tests.sandbox.stream_control import control_stream
from tests.stream.nats import NatsServer, nats_server
from tests.stream.processes import GatewayProcess

TENANTS = ("acme", "globex")
ORDERS = 3  # of each tenant that are written
PRODUCT = "p-1001"  # that caches hold
_ACTIVE = "{ activeOrders(first: 3) { nodes { orderId } } }"
_TITLE = f'{{ product(productId: "{PRODUCT}") {{ title }} }}'
_KILL_EVERY = (2.0, 5.0)
_BUS_AWAY = (0.2, 3.0)
_SPLIT_EVERY = 10.0
_WRITE_EVERY = (0.05, 0.4)
_SHORT_TOKEN_SECONDS = 15
_START_SECONDS = 300.0
_SETTLE_SECONDS = 120.0
_FIRST_PORT = 8_700


@dataclass(frozen=True, slots=True)
class StreamOptions:
    seconds: float = 60.0
    seed: int = 1


@dataclass(slots=True)
class StreamResult:
    options: StreamOptions
    seen: list[Seen] = field(default_factory=list)
    writes: Writes = field(default_factory=Writes)
    killed: Counter[str] = field(default_factory=Counter)
    splits: int = 0
    faults: list[str] = field(default_factory=list)
    settled_after: float = 0.0


class ThreadSandbox(Sandbox):
    """A sandbox inside this process, so that its stream can be split."""

    def __init__(self, ready: Ready) -> None:
        self.ready = ready


@contextmanager
def _sandbox() -> Iterator[tuple[Sandbox, Embedded]]:
    account = "".join(secrets.choice("123456789") for _ in range(12))
    options = Options(port=0, account=account, region="eu-west-1", log="WARNING")
    engine = Embedded(account, options.region)
    with listen(0) as listening:
        assembly = asyncio.run(build(options, engine, address_of(listening)))
        with served_in_thread(assembly.app, listening):
            yield ThreadSandbox(assembly.ready), engine
    asyncio.run(engine.close())


def run(options: StreamOptions, logs: Path) -> StreamResult:
    with ExitStack() as stack:
        bus = stack.enter_context(nats_server(logs))
        sandbox, engine = stack.enter_context(_sandbox())
        make = partial(_process, sandbox=sandbox, bus=bus, logs=logs)
        readers = [make("stream", number) for number in range(2)]
        web = [make("serve", number, cache="ttl", stream="bus") for number in range(2)]
        for process in (*readers, *web):
            stack.callback(process.kill)
            process.start()
        return asyncio.run(Chaos(options, sandbox, engine, bus, readers, web).run())


def _process(
    command: str, number: int, *, sandbox: Sandbox, bus: NatsServer, logs: Path, **changes: Any
) -> GatewayProcess:
    # below those that the system gives to connections, since one is free again and again while it is restarted
    port = free_port(_FIRST_PORT + 10 * number + (5 if command == "serve" else 0))
    issuers = [each.model_copy(update={"leeway_seconds": 0}) for each in sandbox.settings().issuers]
    log = logs / f"{command}-{number}.log"
    return GatewayProcess(command, sandbox, bus, log, port=port, issuers=issuers, log_level="WARNING", **changes)


@dataclass(slots=True)
class Chaos:
    options: StreamOptions
    sandbox: Sandbox
    engine: Embedded
    bus: NatsServer
    readers: list[GatewayProcess]
    web: list[GatewayProcess]
    result: StreamResult = field(init=False)
    title: str = ""

    def __post_init__(self) -> None:
        self.result = StreamResult(self.options)

    async def run(self) -> StreamResult:
        await self._up([*self.readers, *self.web])
        items = [item for tenant in TENANTS for item in await self._orders(tenant)]
        for item in items:
            await self._write(item, first_version(TENANTS, item.tenant))
        subscribers = list(self._subscribers(items))
        self.result.seen = [each.seen for each in subscribers]
        async with _tasks([each.watch() for each in subscribers]):
            await self._until(lambda: all(each.received for each in self.result.seen), "first events", _START_SECONDS)
            await self._burn(items)
            started = time.monotonic()
            await self._until(lambda: all(each.settled(self.result.writes) for each in self.result.seen), "last events")
            self.result.settled_after = time.monotonic() - started
            await self._check_processes()
        self.result.faults += [fault for each in self.result.seen for fault in violations(each, self.result.writes)]
        return self.result

    async def _burn(self, items: list[Item]) -> None:
        """Kills and writes for the given time; then every process is there again."""
        random = Random(self.options.seed)
        writing = [self._writing(item, Random(f"{self.options.seed} {item}")) for item in items]
        async with _tasks([*writing, self._renaming(), self._splitting(), self._killing(random)]):
            await asyncio.sleep(self.options.seconds)
        for process in (*self.readers, *self.web):
            if process.process is None:
                process.start()
        self.bus.kill()
        self.bus.start()
        await self._up([*self.readers, *self.web])

    async def _killing(self, random: Random) -> None:
        while True:
            await asyncio.sleep(random.uniform(*_KILL_EVERY))
            kind = random.choice(("reader", "gateway", "bus"))
            if kind == "bus":
                self.result.killed[kind] += 1
                await asyncio.to_thread(self.bus.kill)
                await asyncio.sleep(random.uniform(*_BUS_AWAY))
                await asyncio.to_thread(self.bus.start)
                continue
            group = self.readers if kind == "reader" else self.web
            up = [each for each in group if await asyncio.to_thread(each.status, "/healthz") == 200]
            if up:
                victim = random.choice(up)
                self.result.killed[kind] += 1
                await asyncio.to_thread(victim.kill)
                victim.start()

    async def _writing(self, item: Item, random: Random) -> None:
        version = self.result.writes.last[item]
        while True:
            await asyncio.sleep(random.uniform(*_WRITE_EVERY))
            version += 1
            await _whole(self._write(item, version))

    async def _write(self, item: Item, version: int) -> None:
        await self._set(item.tenant, f"ORDER#{item.order}", "META", "total", version)
        self.result.writes.acknowledged(item, version, time.time())

    async def _renaming(self) -> None:
        """Every gateway has the product in its cache while its title changes."""
        for number in itertools.count(1):
            title = f"title {number}"
            await _whole(self._rename(title))
            for process in self.web:
                with suppress(OSError, ValueError):
                    await asyncio.to_thread(process.post, self.sandbox.token(TENANTS[0], "viewer"), _TITLE)
            await asyncio.sleep(0.5)

    async def _rename(self, title: str) -> None:
        await self._set(TENANTS[0], f"PRODUCT#{PRODUCT}", "DETAILS", "title", title)
        self.title = title

    async def _splitting(self) -> None:
        while True:
            await asyncio.sleep(_SPLIT_EVERY)
            table = self.sandbox.ready.table
            await control_stream(self.engine, table, lambda control: control.log.split(control.open_shards()[0]))
            self.result.splits += 1

    async def _set(self, tenant: str, path: str, sk: str, name: str, value: int | str) -> None:
        wire = {"N": str(value)} if isinstance(value, int) else {"S": value}
        body = {
            "TableName": self.sandbox.ready.table,
            "Key": {"PK": {"S": f"TENANT#{tenant}#{path}"}, "SK": {"S": sk}},
            "UpdateExpression": "SET #name = :value",
            "ExpressionAttributeNames": {"#name": name},
            "ExpressionAttributeValues": {":value": wire},
        }
        await call_engine(self.engine, "UpdateItem", body)

    async def _orders(self, tenant: str) -> list[Item]:
        token = self.sandbox.token(tenant, "viewer")
        answer = await asyncio.to_thread(self.web[0].post, token, _ACTIVE)
        return [Item(tenant, node["orderId"]) for node in answer["data"]["activeOrders"]["nodes"]]

    def _subscribers(self, items: list[Item]) -> Iterator[Subscriber]:
        """One for each item, one of the list, and one whose tokens are short, for each tenant."""
        urls = [f"http://127.0.0.1:{process.port}/graphql" for process in self.web]
        for tenant in TENANTS:
            own = tuple(item for item in items if item.tenant == tenant)
            watched = [((item,), 3_600, False) for item in own] + [
                (own, 3_600, True),
                (own, _SHORT_TOKEN_SECONDS, True),
            ]
            for number, (group, seconds, listed) in enumerate(watched):
                seen = Seen(f"{tenant}-{number}", tenant, first_version(TENANTS, tenant), group, listed)
                random = Random(f"{self.options.seed} {seen.name}")
                yield Subscriber(seen, urls, partial(self._token, tenant, seconds), random)

    def _token(self, tenant: str, seconds: int) -> tuple[str, float]:
        return self.sandbox.token(tenant, "viewer", seconds=seconds), time.time() + seconds

    async def _up(self, processes: list[GatewayProcess]) -> None:
        def ready() -> bool:
            return all(each.ready for each in processes)

        await self._until(ready, "readiness", _START_SECONDS)

    async def _until(self, holds: Any, what: str, seconds: float = _SETTLE_SECONDS) -> None:
        end = time.monotonic() + seconds
        while not await asyncio.to_thread(holds):
            if time.monotonic() > end:
                self.result.faults.append(f"{what} did not come within {seconds:.0f} s")
                return
            await asyncio.sleep(0.05)

    async def _check_processes(self) -> None:
        """Caches agree, nothing was dropped, and nobody had to start over."""
        token = self.sandbox.token(TENANTS[0], "viewer")
        for process in self.web:
            name = f"{process.command} {process.port}"
            found = (await asyncio.to_thread(process.post, token, _TITLE))["data"]["product"]["title"]
            if found != self.title:
                self.result.faults.append(f"{name}: the cache has `{found}`, and the table `{self.title}`")
            await self._no_count(process, "gateway_bus_rejected_total", "gateway_bus_missed_total")
            await self._no_count(process, "gateway_subscription_dropped_total")
        for process in self.readers:
            await self._no_count(process, "gateway_stream_dropped_total", "gateway_stream_trimmed_total")

    async def _no_count(self, process: GatewayProcess, *names: str) -> None:
        for name in names:
            if count := await asyncio.to_thread(process.metric, name):
                self.result.faults.append(f"{process.command} {process.port}: {name} is {count:.0f}")


async def _whole(work: Coroutine[Any, Any, None]) -> None:
    """What was begun ends, also where we are cancelled meanwhile, or the history would not know of it."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


@asynccontextmanager
async def _tasks(coroutines: list[Any]) -> AsyncIterator[None]:
    """They end with the block; one that fails by itself fails the run."""
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    try:
        yield
    finally:
        failed = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if failed:
        raise RuntimeError(f"a part of the run ended early: {failed}")
