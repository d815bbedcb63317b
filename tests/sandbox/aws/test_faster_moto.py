"""What was made faster answers as moto does."""

import json
from random import Random
from typing import Any

import pytest
from moto.core.serialize import ResponseSerializer
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import Table

from gateway.sandbox.aws import faster_moto
from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.engine import EngineRefused, call_engine

TABLE = "things"
ACCOUNT, REGION = "555566661111", "eu-west-1"


def schema(sort: bool, kind: str) -> dict[str, Any]:
    names = ["PK", *(["SK"] if sort else []), "GPK", "GSK"]
    keys = [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}]
    index = [{"AttributeName": "GPK", "KeyType": "HASH"}, {"AttributeName": "GSK", "KeyType": "RANGE"}]
    return {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": keys if sort else keys[:1],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind} for name in names],
        "GlobalSecondaryIndexes": [
            {"IndexName": "GSI1", "KeySchema": index, "Projection": {"ProjectionType": "ALL"}},
        ],
    }


def rows(random: Random, kind: str) -> list[dict[str, Any]]:
    """Few values, so that many rows share them; some lack the keys of the index."""
    values = ["1", "1.0", "10", "2", "-3"] if kind == "N" else ["1", "a", "B", "é", "a#b"]

    def row(number: int) -> dict[str, Any]:
        found = {name: {kind: random.choice(values)} for name in ("PK", "SK", "GPK", "GSK")}
        for name in ("GPK", "GSK"):
            if random.random() < 0.2:
                del found[name]
        nested = {"M": {"S": {"S": "text"}, "L": {"L": [{"N": str(number)}, {"NULL": True}, {"BOOL": False}]}}}
        return {**found, "nested": nested, "tags": {"SS": ["x", "y"]}, "bytes": {"B": "AAE="}}

    return [row(number) for number in range(60)]


def queries(random: Random, kind: str) -> list[dict[str, Any]]:
    def one(index: str | None, value: str) -> dict[str, Any]:
        pk, sk = ("PK", "SK") if index is None else ("GPK", "GSK")
        query: dict[str, Any] = {"TableName": TABLE, "ScanIndexForward": random.random() < 0.5}
        given = {":p": {kind: value}}
        condition = f"{pk} = :p"
        if random.random() < 0.4:
            condition, given = f"{condition} AND {sk} > :s", {**given, ":s": {kind: "1"}}
        if random.random() < 0.5:
            query["Limit"] = random.randint(1, 3)
        if index is not None:
            query["IndexName"] = index
        return {**query, "KeyConditionExpression": condition, "ExpressionAttributeValues": given}

    values = ["1", "2", "10", "77"] if kind == "N" else ["1", "a", "é", "nobody"]
    return [one(random.choice((None, "GSI1")), random.choice(values)) for _ in range(40)]


async def answers(engine: Embedded, queries: list[dict[str, Any]]) -> list[Any]:
    """What each query finds, page after page."""
    found = []
    for query in queries:
        start: dict[str, Any] = {}
        for _ in range(5):
            page = await engine.call("DynamoDB_20120810.Query", json.dumps({**query, **start}).encode())
            found.append((page.status, json.loads(page.body)))
            if not (last := found[-1][1].get("LastEvaluatedKey")):
                break
            start = {"ExclusiveStartKey": last}
    return found


@pytest.mark.parametrize("kind", ["S", "N"])
async def test_queries_find_what_moto_finds(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(kind)
    engine = Embedded(ACCOUNT, REGION)
    try:
        await call_engine(engine, "CreateTable", schema(True, kind))
        for row in rows(random, kind):
            await call_engine(engine, "PutItem", {"TableName": TABLE, "Item": row})
        drawn_queries = queries(random, kind)
        faster = await answers(engine, drawn_queries)
        monkeypatch.setattr(Table, "query", faster_moto.QUERY)
        monkeypatch.setattr(Table, "all_items", faster_moto.ALL_ITEMS)
        monkeypatch.setattr(ResponseSerializer, "get_value", faster_moto.GET_VALUE)
        assert await answers(engine, drawn_queries) == faster
        assert sum(len(answer.get("Items", ())) for _, answer in faster) > 40
    finally:
        await engine.close()


async def test_a_query_of_a_table_without_a_sort_key_finds_its_item() -> None:
    engine = Embedded(ACCOUNT, REGION)
    try:
        await call_engine(engine, "CreateTable", schema(False, "S"))
        for name in ("a", "b"):
            await call_engine(engine, "PutItem", {"TableName": TABLE, "Item": {"PK": {"S": name}}})
        condition = {"KeyConditionExpression": "PK = :p", "ExpressionAttributeValues": {":p": {"S": "b"}}}
        assert (await call_engine(engine, "Query", {"TableName": TABLE, **condition}))["Items"] == [{"PK": {"S": "b"}}]
    finally:
        await engine.close()


@pytest.mark.parametrize(("texts", "fits"), [([150_000] * 2, True), ([150_000] * 3, False), ([1, 410_000, 1], False)])
async def test_an_item_that_is_too_large_is_refused(texts: list[int], fits: bool) -> None:
    engine = Embedded(ACCOUNT, REGION)
    try:
        await call_engine(engine, "CreateTable", schema(False, "S"))
        item = {"PK": {"S": "a"}, **{f"a{at}": {"S": "x" * size} for at, size in enumerate(texts)}}
        put = {"TableName": TABLE, "Item": item}
        if fits:
            await call_engine(engine, "PutItem", put)
        else:
            with pytest.raises(EngineRefused, match="size"):
                await call_engine(engine, "PutItem", put)
    finally:
        await engine.close()


@pytest.mark.parametrize("sort", [True, False])
async def test_what_a_failed_transaction_has_changed_put_and_deleted_is_as_before(sort: bool) -> None:
    engine = Embedded(ACCOUNT, REGION)

    def key(name: str) -> dict[str, Any]:
        return {"PK": {"S": name}, **({"SK": {"S": "x"}} if sort else {})}

    try:
        await call_engine(engine, "CreateTable", schema(sort, "S"))
        for name in ("changed", "replaced", "deleted", "other"):
            item = {**key(name), "list": {"L": [{"N": "1"}]}, "count": {"N": "1"}}
            await call_engine(engine, "PutItem", {"TableName": TABLE, "Item": item})
        before = await call_engine(engine, "Scan", {"TableName": TABLE})
        change = "SET #l[0] = :two, #c = #c + :two"
        named = {"#l": "list", "#c": "count"}
        update = {"UpdateExpression": change, "ExpressionAttributeNames": named}
        update |= {"ExpressionAttributeValues": {":two": {"N": "2"}}}
        transaction: list[dict[str, Any]] = [
            {"Update": {"TableName": TABLE, "Key": key("changed"), **update}},
            {"Put": {"TableName": TABLE, "Item": key("replaced")}},
            {"Put": {"TableName": TABLE, "Item": key("new")}},
            {"Delete": {"TableName": TABLE, "Key": key("deleted")}},
        ]
        absent = {"TableName": TABLE, "Key": key("nobody"), "ConditionExpression": "attribute_exists(PK)"}
        for _ in range(2):
            with pytest.raises(EngineRefused):
                await call_engine(
                    engine, "TransactWriteItems", {"TransactItems": [*transaction, {"ConditionCheck": absent}]}
                )
            assert await call_engine(engine, "Scan", {"TableName": TABLE}) == before
        await call_engine(engine, "TransactWriteItems", {"TransactItems": transaction})
        after = {item["PK"]["S"]: item for item in (await call_engine(engine, "Scan", {"TableName": TABLE}))["Items"]}
        assert set(after) == {"changed", "replaced", "new", "other"}
        assert (after["changed"]["list"], after["changed"]["count"]) == ({"L": [{"N": "2"}]}, {"N": "3"})
        table = dynamodb_backends[ACCOUNT][REGION].tables[TABLE]
        assert not {name for name in vars(table) if name.startswith("_")}, "nothing is left of the copies"
    finally:
        await engine.close()
