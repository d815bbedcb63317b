import asyncio
import gc
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import Item

from gateway.sandbox.aws.embedded import Embedded, Replays
from gateway.sandbox.aws.engine import EngineRefused, EngineResponse, call_engine
from gateway.sandbox.aws.responses import AwsFault

TABLE = "counters"


def _schema(sort_type: str = "S") -> dict[str, Any]:
    return {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
        "AttributeDefinitions": [
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": sort_type},
        ],
    }


@pytest.fixture
async def engine() -> AsyncIterator[Embedded]:
    made = Embedded("555566667777", "eu-west-1")
    await call_engine(made, "CreateTable", _schema())
    yield made
    await made.close()


async def test_requests_run_one_after_the_other(engine: Embedded) -> None:
    """INVARIANT: one thread. moto loses updates when two requests run at once."""
    inside: list[int] = []
    most: list[int] = []

    def slow(environ: Any, start: Any) -> list[bytes]:
        inside.append(1)
        time.sleep(0.005)
        most.append(len(inside))
        inside.pop()
        start("200 OK", [])
        return [b"{}"]

    engine._app = slow  # type: ignore[assignment]  # stands for moto, only slower
    await asyncio.gather(*(call_engine(engine, "UpdateItem", {}) for _ in range(8)))
    assert most == [1] * 8


async def test_no_update_is_lost_when_many_write_at_once(engine: Embedded) -> None:
    add = {
        "TableName": TABLE,
        "Key": {"PK": {"S": "a"}, "SK": {"S": "a"}},
        "UpdateExpression": "ADD hits :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    await asyncio.gather(*(call_engine(engine, "UpdateItem", add) for _ in range(50)))
    found = await call_engine(engine, "GetItem", {"TableName": TABLE, "Key": add["Key"]})
    assert found["Item"]["hits"] == {"N": "50"}


async def test_a_table_has_the_region_and_account_of_the_engine(engine: Embedded) -> None:
    found = await call_engine(engine, "DescribeTable", {"TableName": TABLE})
    assert found["Table"]["TableArn"] == f"arn:aws:dynamodb:eu-west-1:555566667777:table/{TABLE}"


async def test_two_engines_do_not_see_each_other_and_leave_nothing(engine: Embedded) -> None:
    other = Embedded("555566668888", "eu-west-1")
    assert (await call_engine(other, "ListTables", {}))["TableNames"] == []
    await other.close()
    assert "555566668888" not in dynamodb_backends


async def test_a_refusal_of_the_engine_has_its_name(engine: Embedded) -> None:
    with pytest.raises(EngineRefused) as refused:
        await call_engine(engine, "GetItem", {"TableName": "absent", "Key": {"PK": {"S": "a"}}})
    assert refused.value.name == "ResourceNotFoundException"


@pytest.mark.parametrize("kind", ["S", "N"])
async def test_queries_keep_the_order_of_the_sort_key(kind: str) -> None:
    made = Embedded("555566669999", "eu-west-1")
    try:
        await call_engine(made, "CreateTable", _schema(kind))
        values = ["10", "9", "-1", "100", "2"]
        for value in values:
            item = {"PK": {"S": "a"}, "SK": {kind: value}}
            await call_engine(made, "PutItem", {"TableName": TABLE, "Item": item})
        condition = {"KeyConditionExpression": "PK = :pk", "ExpressionAttributeValues": {":pk": {"S": "a"}}}
        found = await call_engine(made, "Query", {"TableName": TABLE, **condition})
        ordered = sorted(values) if kind == "S" else sorted(values, key=int)
        assert [item["SK"][kind] for item in found["Items"]] == ordered
    finally:
        await made.close()


async def test_a_table_without_a_sort_key_can_be_scanned_in_order() -> None:
    made = Embedded("555566660000", "eu-west-1")
    try:
        schema = _schema()
        await call_engine(
            made,
            "CreateTable",
            {**schema, **{name: schema[name][:1] for name in schema if "Ke" in name or "At" in name}},
        )
        for value in ("b", "a"):
            await call_engine(made, "PutItem", {"TableName": TABLE, "Item": {"PK": {"S": value}}})
        found = await call_engine(made, "Scan", {"TableName": TABLE})
        assert [item["PK"]["S"] for item in found["Items"]] == ["a", "b"]
    finally:
        await made.close()


async def test_the_same_transaction_is_written_once(engine: Embedded) -> None:
    def transaction(token: str, amount: str) -> dict[str, Any]:
        update = {
            "TableName": TABLE,
            "Key": {"PK": {"S": "sum"}, "SK": {"S": "sum"}},
            "UpdateExpression": "ADD hits :more",
            "ExpressionAttributeValues": {":more": {"N": amount}},
        }
        return {"ClientRequestToken": token, "TransactItems": [{"Update": update}]}

    for _ in range(2):
        await call_engine(engine, "TransactWriteItems", transaction("first", "1"))
    with pytest.raises(AwsFault) as refused:
        await call_engine(engine, "TransactWriteItems", transaction("first", "5"))
    await call_engine(engine, "TransactWriteItems", transaction("second", "1"))
    found = await call_engine(engine, "GetItem", {"TableName": TABLE, "Key": {"PK": {"S": "sum"}, "SK": {"S": "sum"}}})
    assert refused.value.name == "IdempotentParameterMismatchException"
    assert found["Item"]["hits"] == {"N": "2"}


async def test_a_transaction_that_fails_leaves_everything_as_it_was(engine: Embedded) -> None:
    """The table is copied once for a transaction, whatever it writes, and that copy is the state before it."""

    def key(name: str) -> dict[str, Any]:
        return {"PK": {"S": name}, "SK": {"S": name}}

    def add(name: str) -> dict[str, Any]:
        more = {"UpdateExpression": "ADD hits :one", "ExpressionAttributeValues": {":one": {"N": "1"}}}
        return {"Update": {"TableName": TABLE, "Key": key(name), **more}}

    absent = {"Key": key("c"), "ConditionExpression": "attribute_exists(PK)"}
    put, check = {"Put": {"TableName": TABLE, "Item": key("d")}}, {"ConditionCheck": {"TableName": TABLE, **absent}}
    for _ in range(2):
        await call_engine(engine, "TransactWriteItems", {"TransactItems": [add("a"), add("b")]})
        with pytest.raises(EngineRefused) as refused:
            await call_engine(engine, "TransactWriteItems", {"TransactItems": [add("a"), add("b"), put, check]})
        assert refused.value.name == "TransactionCanceledException"
    found = await call_engine(engine, "Scan", {"TableName": TABLE})
    assert [item.get("hits") for item in found["Items"]] == [{"N": "2"}, {"N": "2"}]


async def test_a_table_is_copied_once_for_a_transaction(engine: Embedded, monkeypatch: pytest.MonkeyPatch) -> None:
    table = dynamodb_backends["555566667777"]["eu-west-1"].tables[TABLE]
    copied: list[Any] = []
    original: Any = vars(type(table))["__deepcopy__"]

    def counted(self: Any, memo: dict[int, Any]) -> Any:
        copied.append(original(self, memo))
        return copied[-1]

    monkeypatch.setattr(type(table), "__deepcopy__", counted)
    puts = [{"Put": {"TableName": TABLE, "Item": {"PK": {"S": name}, "SK": {"S": name}}}} for name in "abc"]
    await call_engine(engine, "TransactWriteItems", {"TransactItems": puts})
    assert len(copied) == 3
    assert len({id(each) for each in copied}) == 1
    await call_engine(
        engine,
        "TransactWriteItems",
        {"TransactItems": [{"Delete": {"TableName": TABLE, "Key": puts[0]["Put"]["Item"]}}]},
    )
    assert copied[-1] is not copied[0]


async def test_streams_are_an_api_of_their_own(engine: Embedded) -> None:
    answer = await engine.call("DynamoDBStreams_20120810.ListStreams", b"{}")
    assert answer.ok
    assert json.loads(answer.body)["Streams"] == []


@pytest.mark.usefixtures("frozen_heap")
async def test_a_transaction_leaves_no_copy_of_the_table_behind(engine: Embedded) -> None:
    rows = [{"Put": {"TableName": TABLE, "Item": {"PK": {"S": str(n)}, "SK": {"S": "a"}}}} for n in range(50)]
    await call_engine(engine, "TransactWriteItems", {"TransactItems": rows})
    again = {"TransactItems": rows[:1]}
    await call_engine(engine, "TransactWriteItems", again)
    before = _items_alive()
    for _ in range(5):
        await call_engine(engine, "TransactWriteItems", again)
    assert _items_alive() <= before


def _items_alive() -> int:
    gc.collect()
    return sum(isinstance(each, Item) for each in gc.get_objects())


BODY: dict[str, Any] = {"ClientRequestToken": "token", "TransactItems": []}


class Writes:
    def __init__(self, status: int = 200) -> None:
        self.status = status
        self.count = 0

    def __call__(self) -> EngineResponse:
        self.count += 1
        return EngineResponse(self.status, str(self.count).encode())


def test_a_token_counts_for_ten_minutes() -> None:
    now = [0.0]
    replays, write = Replays(lambda: now[0]), Writes()
    answers = []
    for now[0] in (0.0, 599.0, 601.0):
        answers.append(replays.run(BODY, write).body)
    assert answers == [b"1", b"1", b"2"]


def test_a_transaction_that_failed_may_be_tried_again() -> None:
    replays, write = Replays(lambda: 0.0), Writes(400)
    replays.run(BODY, write)
    write.status = 200
    assert replays.run(BODY, write).body == b"2"


def test_a_transaction_without_a_token_is_written_each_time() -> None:
    replays, write = Replays(lambda: 0.0), Writes()
    for _ in range(2):
        replays.run({"TransactItems": []}, write)
    assert write.count == 2


def test_a_token_with_other_contents_is_refused() -> None:
    replays, write = Replays(lambda: 0.0), Writes()
    replays.run(BODY, write)
    with pytest.raises(AwsFault):
        replays.run({**BODY, "TransactItems": [{}]}, write)
    assert write.count == 1
