"""The proxy fails on demand: before the call is carried out, after it, or instead of it."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import (
    AnswerCorrupt,
    AwsError,
    AwsUnavailable,
    ConnectionBroken,
    CredentialsExpired,
    ThroughputExceeded,
    TransactionCancelled,
    TransactionInProgress,
)
from gateway.aws.wire.retry import RetryRules
from gateway.errors import DeadlineExceeded
from tests.chaos.faults import Injector, Kind
from tests.chaos.messages import answer, read
from tests.chaos.proxy import Proxy

KEYS = [{"PK": {"S": "TENANT#acme#X"}, "SK": {"S": str(number)}} for number in range(4)]


@dataclass
class Upstream:
    """Counts what it is asked, and answers a batch with every key."""

    received: list[str] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await read(reader)
        if request is not None:
            self.received.append(request.operation)
            given = answer(200, {"Responses": {"app": list(KEYS)}, "UnprocessedKeys": {}, "UnprocessedItems": {}})
            writer.write(given.head + given.body)
            await writer.drain()
        writer.close()


@dataclass(slots=True)
class OneKind(Injector):
    kind: Kind | None = None

    def choose(self, operation: str) -> Kind | None:
        return self.kind


@asynccontextmanager
async def proxied(kind: Kind | None) -> AsyncIterator[tuple[Proxy, Upstream]]:
    upstream = Upstream()
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, Proxy(url, OneKind(1, kind=kind)).running() as proxy:
        yield proxy, upstream


async def call(proxy: Proxy, operation: str, body: dict[str, Any]) -> dict[str, Any]:
    limits = WireLimits(total_seconds=0.3)
    async with DynamoDBClient(limits, RetryRules(attempts=1)) as client:
        keys = Credentials("AKIDEXAMPLE", "secret")
        return await client.call(operation, body, credentials=keys, target=AwsTarget(proxy.url, "eu-west-1"))


@pytest.mark.parametrize(
    ("kind", "error", "carried_out"),
    [
        (Kind.THROTTLED, ThroughputExceeded, False),
        (Kind.FAILED_BEFORE, AwsUnavailable, False),
        (Kind.FAILED_AFTER, AwsUnavailable, True),
        (Kind.RESET_BEFORE, ConnectionBroken, False),
        (Kind.RESET_AFTER, ConnectionBroken, True),
        (Kind.SILENT_AFTER, DeadlineExceeded, True),
        (Kind.DAMAGED, AnswerCorrupt, True),
        (Kind.EXPIRED, CredentialsExpired, False),
        (Kind.CONFLICT, TransactionCancelled, False),
    ],
)
async def test_a_fault_is_what_its_name_says(kind: Kind, error: type[AwsError], carried_out: bool) -> None:
    async with proxied(kind) as (proxy, upstream):
        with pytest.raises(error):
            await call(proxy, "TransactWriteItems", {"TransactItems": [{}, {}]})
    assert upstream.received == ["TransactWriteItems"] * carried_out


async def test_what_is_late_is_carried_out_after_the_gateway_has_given_up() -> None:
    async with proxied(Kind.LATE) as (proxy, upstream):
        with pytest.raises(DeadlineExceeded):
            await call(proxy, "TransactWriteItems", {"TransactItems": [{}]})
        assert upstream.received == []
        await proxy.settled()
    assert upstream.received == ["TransactWriteItems"]


async def test_what_is_in_progress_is_carried_out() -> None:
    async with proxied(Kind.IN_PROGRESS) as (proxy, upstream):
        with pytest.raises(TransactionInProgress):
            await call(proxy, "TransactWriteItems", {"TransactItems": [{}]})
        await proxy.settled()
    assert upstream.received == ["TransactWriteItems"]


async def test_a_conflict_has_a_reason_for_each_member() -> None:
    async with proxied(Kind.CONFLICT) as (proxy, _):
        with pytest.raises(TransactionCancelled) as caught:
            await call(proxy, "TransactWriteItems", {"TransactItems": [{}, {}, {}]})
    codes = sorted(reason.code for reason in caught.value.reasons)
    assert codes == ["None", "None", "TransactionConflict"]


async def test_a_part_of_a_batch_comes_back_unprocessed() -> None:
    async with proxied(Kind.PARTIAL) as (proxy, _):
        found = await call(proxy, "BatchGetItem", {"RequestItems": {"app": {"Keys": KEYS}}})
        items = [{"PutRequest": {"Item": key}} for key in KEYS]
        written = await call(proxy, "BatchWriteItem", {"RequestItems": {"app": items}})
    kept, left = found["Responses"]["app"], found["UnprocessedKeys"]["app"]["Keys"]
    assert sorted(map(json.dumps, [*kept, *left])) == sorted(map(json.dumps, KEYS))
    assert (len(kept), len(left), len(written["UnprocessedItems"]["app"])) == (2, 2, 2)


async def test_without_a_fault_a_call_passes() -> None:
    async with proxied(None) as (proxy, _):
        found = await call(proxy, "BatchGetItem", {"RequestItems": {"app": {"Keys": KEYS}}})
    assert len(found["Responses"]["app"]) == 4


def test_the_seed_chooses_the_same_faults_again() -> None:
    def sequence(seed: int) -> list[Kind | None]:
        injector = Injector(seed, share=0.5, on=True)
        return [injector.choose("TransactWriteItems") for _ in range(200)]

    assert sequence(1) == sequence(1)
    assert sequence(1) != sequence(2)
    assert set(sequence(1)) >= {None, Kind.CONFLICT, Kind.THROTTLED}


def test_while_it_is_off_nothing_fails() -> None:
    injector = Injector(1, share=1.0)
    assert [injector.choose("GetItem") for _ in range(10)] == [None] * 10
    assert injector.calls == {"GetItem": 10}
