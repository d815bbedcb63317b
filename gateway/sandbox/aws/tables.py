"""Creates the table of a model in any engine, and fills it."""

import asyncio
from typing import Any

from gateway.errors import Unavailable
from gateway.model.table import TableSpec
from gateway.sandbox.aws.engine import Engine, EngineRefused, call_engine

_BATCH = 25
_AT_ONCE = 8
_ATTEMPTS = 100
_PAUSE = 0.1


async def create(engine: Engine, name: str, spec: TableSpec) -> bool:
    """Returns whether the table is new: an engine that keeps its data on disk may already have it."""
    try:
        await call_engine(engine, "CreateTable", spec.create_request(name))
    except EngineRefused as error:
        if error.name != "ResourceInUseException":
            raise
        return False
    await _until_active(engine, name)
    await call_engine(
        engine,
        "UpdateTimeToLive",
        {"TableName": name, "TimeToLiveSpecification": {"AttributeName": spec.ttl, "Enabled": True}},
    )
    return True


async def fill(engine: Engine, name: str, items: list[dict[str, Any]]) -> None:
    slots = asyncio.Semaphore(_AT_ONCE)
    batches = (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
    await asyncio.gather(*(_write(engine, name, batch, slots) for batch in batches))


async def _write(engine: Engine, name: str, items: list[dict[str, Any]], slots: asyncio.Semaphore) -> None:
    waiting = {name: [{"PutRequest": {"Item": item}} for item in items]}
    async with slots:
        for _ in range(_ATTEMPTS):
            answer = await call_engine(engine, "BatchWriteItem", {"RequestItems": waiting})
            waiting = answer.get("UnprocessedItems") or {}
            if not waiting:
                return
            await asyncio.sleep(_PAUSE)
    raise Unavailable(f"the engine did not store all items of the table `{name}`")


async def _until_active(engine: Engine, name: str) -> None:
    for _ in range(_ATTEMPTS):
        table = (await call_engine(engine, "DescribeTable", {"TableName": name}))["Table"]
        indexes = table.get("GlobalSecondaryIndexes", ())
        if all(part.get("TableStatus", part.get("IndexStatus")) == "ACTIVE" for part in (table, *indexes)):
            return
        await asyncio.sleep(_PAUSE)
    raise Unavailable(f"the table `{name}` did not become active")
