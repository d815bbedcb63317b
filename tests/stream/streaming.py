"""A table with a stream on the embedded engine, and readers of it that are fast."""

import json
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import anyio

from gateway.aws.sts.own_credentials import OwnCredentials
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.error_codes import rule
from gateway.aws.wire.errors import AwsFailure
from gateway.model.table import TableSpec
from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.engine import API, STREAMS_API, call_engine
from gateway.sandbox.aws.responses import AwsFault
from gateway.sandbox.aws.tables import create
from gateway.stream.bus import NotePublisher
from gateway.stream.leases import Leases
from gateway.stream.reader import ReaderRules, StreamReader
from gateway.stream.shards import StreamShards
from tests.fixtures import aws
from tests.sandbox.stream_control import StreamControl, control_stream

TABLE, REGION = "streamed", "eu-west-1"
FAST = ReaderRules(
    renew_seconds=0.02, failover_seconds=0.2, discover_seconds=0.05, poll_seconds=0.01, longest_pause=0.05
)
TARGET = AwsTarget("http://127.0.0.1:1", REGION)
SPEC = TableSpec()
T = TypeVar("T")


class OnEngine(DynamoDB):
    """Calls the engine without a wire; `fail` may raise instead."""

    def __init__(self, engine: Embedded, api: str) -> None:
        self._engine = engine
        self._api = api
        self.fail: Callable[[str, Mapping[str, Any]], None] = lambda operation, body: None

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        self.fail(operation, body)
        try:
            answer = await self._engine.call(f"{self._api}.{operation}", json.dumps(body).encode())
        except AwsFault as fault:
            raise _error(fault.name, fault.message, fault.status) from fault
        content: dict[str, Any] = json.loads(answer.body)
        if not answer.ok:
            raise _error(content["__type"].rpartition("#")[2], str(content.get("message")), answer.status)
        return content


def _error(name: str, message: str, status: int) -> Exception:
    known = rule(name, status)
    return known.error(known.message, said=AwsFailure(name, message))


class Streamed:
    """The table, what was written to it, and readers of its stream."""

    def __init__(self, engine: Embedded) -> None:
        self.engine = engine
        self.dynamodb, self.streams = OnEngine(engine, API), OnEngine(engine, STREAMS_API)

    def reader(self, bus: NotePublisher, rules: ReaderRules = FAST) -> StreamReader:
        own = OwnCredentials(aws())
        shards = StreamShards(self.dynamodb, self.streams, own, (TARGET, TARGET), TABLE)
        leases = Leases(self.dynamodb, own, TARGET, SPEC, TABLE, secrets.token_hex(4))
        return StreamReader(shards, leases, SPEC, bus, rules)

    async def put(self, tenant: str, user: str, **attributes: Any) -> None:
        key = {"PK": {"S": f"TENANT#{tenant}#USER#{user}"}, "SK": {"S": "PROFILE"}, "EntityType": {"S": "User"}}
        await call_engine(self.engine, "PutItem", {"TableName": TABLE, "Item": {**key, **attributes}})

    async def control(self, act: Callable[[StreamControl], T]) -> T:
        return await control_stream(self.engine, TABLE, act)

    async def split(self) -> None:
        await self.control(lambda control: control.log.split(control.open_shards()[0]))


@asynccontextmanager
async def streamed() -> AsyncIterator[Streamed]:
    engine = Embedded("".join(secrets.choice("123456789") for _ in range(12)), REGION)
    try:
        await create(engine, TABLE, SPEC)
        yield Streamed(engine)
    finally:
        await engine.close()


async def until(holds: Callable[[], bool], seconds: float = 120) -> None:
    with anyio.fail_after(seconds):
        while not holds():  # noqa: ASYNC110  # there is no event to wait for
            await anyio.sleep(0.005)
