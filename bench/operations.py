"""One nested operation (orders, users, lines, products) in four ways: CPU of the process that answers, and calls."""

import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import uvloop

from bench.naive import Source, build
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo import MODEL
from gateway.graph.query.lane.lane import LaneRules, Lanes
from gateway.store.access import Access
from gateway.store.table import Table
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers, no_renewal

FIRST = 20
OURS = """{ ordersByStatus(status: DELIVERED, first: 20) { nodes {
  orderId total placedAt user { name email } lines { quantity product { title price } } } } }"""
THEIRS = "{ orders { orderId total placedAt user { name email } lines { quantity product { title price } } } }"
SECONDS, TOGETHER = 2.5, 8

Run = Callable[[], Awaitable[Any]]


async def _measure(run: Run) -> float:
    """CPU microseconds of this process for one operation."""
    await asyncio.gather(*(run() for _ in range(TOGETHER)))
    done, started, end = 0, time.process_time(), time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        await asyncio.gather(*(run() for _ in range(TOGETHER)))
        done += TOGETHER
    return (time.process_time() - started) / done * 1e6


async def _record(api: MemoryEndpoint) -> tuple[list[Any], list[Any]]:
    """The rows, and the queries that the operation makes with their answers."""
    said: list[Any] = []
    original = api.memory.call

    async def call(operation: str, body: Any, **more: Any) -> Any:
        answer = await original(operation, body, **more)
        if operation == "Query":
            said.append([dict(body), answer])
        return answer

    api.memory.call = call  # type: ignore[method-assign]
    await api.ask(OURS)
    api.memory.call = original  # type: ignore[method-assign]
    return list(api.memory.rows.values()), said


async def _run(url: str, api: MemoryEndpoint, queries: list[Any]) -> None:
    session = (await TrustingCallers().open(b"Bearer acme/viewer", lambda _: None)).session
    session = replace(session, tenancy=replace(session.tenancy, target=AwsTarget(url, "eu-west-1")))
    async with DynamoDBClient() as client:
        table = Table(client, MODEL, no_renewal)
        reference = replace(api.endpoint.reference, table=table)
        lanes = Lanes(MODEL, table, reference.cursors, reference.limits, LaneRules(uses=0))
        document = api.endpoint.documents.get(OURS)
        operation = document.operation(None)
        assert operation is not None
        variant = operation.variant({})

        async def in_a_lane() -> Any:
            access = Access(session)
            found = await lanes.run(variant, access, {})
            assert found is not None
            return found[0], access.calls

        async def by_reference() -> Any:
            access = Access(session)
            result = await reference.run(variant, operation, {}, {}, access)
            return orjson.dumps(result.data), access.calls

        source = Source(url, session.tenancy.table, [_request(body) for body, _ in queries])
        schemas = {batched: build(source, FIRST, batched=batched) for batched in (False, True)}

        def theirs(batched: bool) -> Run:
            async def run() -> Any:
                result = await schemas[batched].execute(THEIRS, context_value={"loaders": {}})
                assert result.data is not None, result.errors
                return orjson.dumps(result.data), ()

            return run

        await _table(
            {
                "strawberry + boto3, one read for each key": theirs(False),
                "strawberry + dataloader + boto3": theirs(True),
                "gateway, reference executor": by_reference,
                "gateway, lane": in_a_lane,
            }
        )


def _request(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "ReturnConsumedCapacity": "TOTAL"}


async def _table(ways: dict[str, Run]) -> None:
    slowest = 0.0
    print(f"   {'way':45}{'CPU us':>10}{'times faster':>14}  calls")
    for name, run in ways.items():
        _, calls = await run()
        cost = await _measure(run)
        slowest = slowest or cost
        counted = ", ".join(f"{n} {what}" for what, n in Counter(call.operation for call in calls).items())
        print(f"   {name:45}{cost:>10.0f}{slowest / cost:>14.1f}  {counted}", flush=True)


@contextmanager
def _replayed(rows: list[Any], queries: list[Any]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recorded.json"
        path.write_bytes(orjson.dumps({"rows": rows, "queries": queries}))
        command = [sys.executable, "-m", "bench.replay", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                yield f"http://127.0.0.1:{int(server.stdout.readline())}"
            finally:
                server.terminate()


async def _main() -> None:
    api = MemoryEndpoint()
    rows, queries = await _record(api)
    with _replayed(rows, queries) as url:
        await _run(url, api, queries)


def main() -> None:
    uvloop.run(_main())


if __name__ == "__main__":
    main()
