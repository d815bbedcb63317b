"""Serves domains for tests: on the in-memory engine, or on the sandbox, which enforces IAM."""

import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Literal, get_args

import boto3
from anyio.from_thread import start_blocking_portal

from gateway.app import Services, build_gateway
from gateway.aws.sts.sts_client import StsClient
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.domains import load_domains
from gateway.errors import ConfigurationError
from gateway.model.model import Model
from gateway.sandbox.assembly import build, engine_for
from gateway.sandbox.dev.seeds import seed_items
from gateway.sandbox.ready import Options, Ready
from gateway.sandbox.server import address_of, listen, served_in_thread
from gateway.settings import Settings
from gateway.stream.bus import InProcessBus
from gateway.testing.client import AsyncGatewayClient, GatewayClient
from gateway.testing.memory import Memory
from gateway.testing.notes import NotesOfMemory
from gateway.testing.services import REGION, TABLE, CallLog, MemorySts, checked_settings, fetch_keys

Backend = Literal["memory", "sandbox"]


def serve(*domains: str, on: Backend = "memory", demo: bool = False, **changes: Any) -> "ServedForTests":
    """A gateway that serves these domains, as a context manager: `with` gives a client, `async with` an async one.

    `on="memory"` is fast; the gateway evaluates the policies of the domain itself, as always. `on="sandbox"` also
    opens sessions with STS, and the sandbox evaluates the policies for every call. The tables start empty, or with
    the rows of the domain's `Demo`. `changes` are settings of the gateway, checked as those of an operator.
    """
    if on not in get_args(Backend):
        raise ConfigurationError([f"on: `{on}` is not one of {', '.join(get_args(Backend))}"])
    return ServedForTests(domains, on, demo, changes)


@dataclass
class ServedForTests:
    """The result of `serve`; use it in `with` or in `async with`."""

    domains: tuple[str, ...]
    on: Backend
    demo: bool
    changes: dict[str, Any]
    _open: ExitStack = field(default_factory=ExitStack, init=False)
    _async_open: AsyncExitStack = field(default_factory=AsyncExitStack, init=False)

    def __enter__(self) -> GatewayClient:
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            client = stack.enter_context(portal.wrap_async_context_manager(_running(self)))
            # what fails to start leaves no thread behind, for which the interpreter would wait at its end
            self._open = stack.pop_all()
        return GatewayClient(client, portal)

    def __exit__(self, *failure: object) -> None:
        self._open.close()

    async def __aenter__(self) -> AsyncGatewayClient:
        return await self._async_open.enter_async_context(_running(self))

    async def __aexit__(self, *failure: object) -> None:
        await self._async_open.aclose()


# the services of the gateway under test, its settings and its credentials
_Place = tuple[Services, Settings, boto3.Session]


@asynccontextmanager
async def _running(served: ServedForTests) -> AsyncIterator[AsyncGatewayClient]:
    async with AsyncExitStack() as stack:
        model = load_domains(served.domains).model
        place = _sandbox(served) if served.on == "sandbox" else _memory(served, model)
        services, settings, aws = await stack.enter_async_context(place)
        log = CallLog(services.dynamodb)
        gateway = build_gateway(
            settings, aws, lambda line: None, replace(services, dynamodb=log, fetch_keys=fetch_keys)
        )
        stack.push_async_callback(gateway.close)
        yield AsyncGatewayClient(gateway.endpoint, log, tuple(model.roles), gateway.streaming.socket)


@asynccontextmanager
async def _memory(served: ServedForTests, model: Model) -> AsyncIterator[_Place]:
    memory = Memory(model.table, TABLE)
    memory.put(_rows(served, model, datetime.now(UTC)))
    aws = boto3.Session("AKID", "secret", region_name=REGION)
    bus = InProcessBus()
    memory.on_change = NotesOfMemory(model.table, bus).publish
    services = Services(memory, MemorySts(), bus=bus)
    yield services, checked_settings(domains=list(served.domains), **served.changes), aws


@asynccontextmanager
async def _sandbox(served: ServedForTests) -> AsyncIterator[_Place]:
    # moto keeps the tables of an account in the process; another account has none of them
    account = "".join(secrets.choice("123456789") for _ in range(12))
    options = Options(port=0, account=account, region=REGION, log="WARNING", domains=served.domains)
    engine = engine_for(options)
    try:
        with listen(0) as listening:
            url = address_of(listening)
            assembly = await build(options, engine, url, lambda model, now: _rows(served, model, now))
            with served_in_thread(assembly.app, listening):
                yield _on_sandbox(served, assembly.ready)
    finally:
        await engine.close()


def _on_sandbox(served: ServedForTests, ready: Ready) -> _Place:
    aws = boto3.Session(ready.gateway.access_key, ready.gateway.secret_key, region_name=REGION)
    dynamodb, sts = DynamoDBClient(), StsClient(aws, endpoint_url=ready.url)

    async def close() -> None:
        await dynamodb.close()
        await sts.close()

    values = {
        "domains": list(served.domains),
        "table_name": ready.table,
        "tenant_role_arn": ready.role_arn,
        "dynamodb_endpoint": ready.url,
        "sts_endpoint": ready.url,
        "files_bucket": ready.bucket,
        "s3_endpoint": ready.url,
        **served.changes,
    }
    return Services(dynamodb, sts, close=close), checked_settings(**values), aws


def _rows(served: ServedForTests, model: Model, now: datetime) -> list[dict[str, Any]]:
    return seed_items(model, now) if served.demo else []
