import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.errors import Unavailable
from gateway.model.table import TableSpec
from gateway.sandbox.aws import tables
from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.engine import EngineRefused, EngineResponse, call_engine


@dataclass
class Scripted:
    """An engine that gives its answers in turn, and the last one for ever."""

    answers: list[dict[str, Any]]
    called: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    async def call(self, target: str, body: bytes) -> EngineResponse:
        self.called.append((target.partition(".")[2], json.loads(body)))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return EngineResponse(400 if "__type" in answer else 200, json.dumps(answer).encode())

    async def close(self) -> None: ...


async def test_the_table_is_made_as_the_model_declares_it() -> None:
    engine = Embedded("333311112222", "eu-west-1")
    try:
        assert await tables.create(engine, "made", MODEL.table)
        table = (await call_engine(engine, "DescribeTable", {"TableName": "made"}))["Table"]
        ttl = await call_engine(engine, "DescribeTimeToLive", {"TableName": "made"})
        assert not await tables.create(engine, "made", MODEL.table)
    finally:
        await engine.close()
    keys = {index["IndexName"]: [key["AttributeName"] for key in index["KeySchema"]] for index in _parts(table)}
    assert keys == {"made": ["PK", "SK"], **{f"GSI{n}": [f"GSI{n}PK", f"GSI{n}SK"] for n in (1, 2, 3, 4, 5)}}
    assert ttl["TimeToLiveDescription"] == {"AttributeName": "ttl", "TimeToLiveStatus": "ENABLED"}


def _parts(table: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"IndexName": table["TableName"], **table}, *table["GlobalSecondaryIndexes"]]


async def test_a_table_that_cannot_be_made_is_an_error() -> None:
    engine = Scripted([{"__type": "x#LimitExceededException", "message": "too many"}])
    with pytest.raises(EngineRefused, match="LimitExceededException"):
        await tables.create(engine, "made", TableSpec())


async def test_it_waits_until_table_and_indexes_are_active(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_PAUSE", 0)
    states = [("CREATING", "CREATING"), ("ACTIVE", "CREATING"), ("ACTIVE", "ACTIVE")]
    described = [
        {"Table": {"TableStatus": table, "GlobalSecondaryIndexes": [{"IndexStatus": index}]}} for table, index in states
    ]
    engine = Scripted([{}, *described, {}])
    assert await tables.create(engine, "made", TableSpec())
    assert [operation for operation, _ in engine.called].count("DescribeTable") == 3


async def test_a_table_that_never_becomes_active_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_PAUSE", 0)
    engine = Scripted([{}, {"Table": {"TableStatus": "CREATING"}}])
    with pytest.raises(Unavailable, match="did not become active"):
        await tables.create(engine, "made", TableSpec())


async def test_what_the_engine_leaves_over_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_PAUSE", 0)
    items = [{"PK": {"S": str(number)}} for number in range(30)]
    left = {"made": [{"PutRequest": {"Item": items[3]}}]}
    engine = Scripted([{"UnprocessedItems": left}, {"UnprocessedItems": {}}])
    await tables.fill(engine, "made", items)
    sent = [body["RequestItems"]["made"] for _, body in engine.called]
    assert sorted(len(batch) for batch in sent) == [1, 5, 25]
    assert left["made"] in sent


async def test_items_that_are_never_taken_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_PAUSE", 0)
    engine = Scripted([{"UnprocessedItems": {"made": [{}]}}])
    with pytest.raises(Unavailable, match="did not store all items"):
        await tables.fill(engine, "made", [{"PK": {"S": "1"}}])
