"""Local indexes: lists in the partition of their items, in a lane and in the reference, consistent where asked for."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.errors import ModelError
from gateway.model.entity import OnIndex
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.table import Index
from gateway.ops.capacity.assumptions import DEFAULTS
from gateway.ops.capacity.demand import demand
from gateway.sandbox.aws import tables
from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.engine import call_engine
from tests.graph.fixtures import MemoryEndpoint, ServedModel, no_lanes
from tests.graph.query.coded_shop import served_model
from tests.graph.query.local_list import LISTING, LOCAL, PLACE, SMALLER, with_local_index

QUERY = """query ($post: ID!, $user: ID!, $now: Boolean) {
  commentsOfReader(postId: $post, userId: $user, consistent: $now, first: 1) {
    nodes { commentId %s } pageInfo { hasNextPage endCursor } } }"""


@cache
def served(index: Index) -> ServedModel:
    return served_model(with_local_index(index=index, listing=replace(LISTING, consistent=index is LOCAL)))


def api_for(index: Index, *, lanes: bool) -> MemoryEndpoint:
    api = MemoryEndpoint(served=served(index))
    if not lanes:
        api.endpoint = replace(api.endpoint, lanes=no_lanes(api))
    return api


@pytest.fixture(params=[True, False], ids=["lane", "reference"])
def api(request: pytest.FixtureRequest) -> MemoryEndpoint:
    return api_for(LOCAL, lanes=request.param)


def stored(api: MemoryEndpoint) -> dict[tuple[str, str], list[str]]:
    """By post and reader: the comments, newest first."""
    rows = [row for row in api.memory.rows.values() if row["EntityType"]["S"] == "Comment"]
    own = [row for row in rows if row["PK"]["S"].startswith("TENANT#acme#")]
    found: dict[tuple[str, str], list[str]] = {}
    for row in sorted(own, key=lambda row: str(row["createdAt"]["S"]), reverse=True):
        found.setdefault((row["postId"]["S"], row["userId"]["S"]), []).append(row["commentId"]["S"])
    return found


async def test_a_list_is_one_query_in_the_items_own_partition(api: MemoryEndpoint) -> None:
    for (post, user), comments in list(stored(api).items())[:4]:
        for _ in range(4):  # the fourth is answered in a lane
            found: Any = await api.ask(QUERY % "createdAt", {"post": post, "user": user})
        assert [node["commentId"] for node in found["commentsOfReader"]["nodes"]] == comments[:1]
        assert found["commentsOfReader"]["pageInfo"]["hasNextPage"] is (len(comments) > 1)
        assert api.calls == ["Query"]
        [(_, body)] = [sent for sent in api.memory.sent if sent[0] == "Query"][-1:]
        assert body["IndexName"] == "LSI1"
        assert body["ExpressionAttributeNames"]["#pk"] == "PK"
        assert body["ConsistentRead"] is False


async def test_it_is_read_consistently(api: MemoryEndpoint) -> None:
    (post, user), comments = next(iter(stored(api).items()))
    for _ in range(4):
        found: Any = await api.ask(QUERY % "body", {"post": post, "user": user, "now": True})
    assert [node["commentId"] for node in found["commentsOfReader"]["nodes"]] == comments[:1]
    assert api.calls == ["Query"]
    assert [body["ConsistentRead"] for name, body in api.memory.sent if name == "Query"][-1]


@pytest.mark.parametrize("lanes", [True, False], ids=["lane", "reference"])
@pytest.mark.parametrize(("field", "calls"), [("createdAt", 1), ("body", 2)])
async def test_what_it_does_not_carry_is_read_from_the_table(lanes: bool, field: str, calls: int) -> None:
    api = api_for(SMALLER, lanes=lanes)
    (post, user), comments = next(iter(stored(api).items()))
    query = (QUERY % field).replace(", $now: Boolean", "").replace(", consistent: $now", "")
    for _ in range(4):
        found: Any = await api.ask(query, {"post": post, "user": user})
    assert [node["commentId"] for node in found["commentsOfReader"]["nodes"]] == comments[:1]
    assert len(api.calls) == calls
    assert ("lane" in api.lanes) is lanes


@pytest.mark.parametrize("lanes", [True, False], ids=["lane", "reference"])
async def test_an_item_that_has_left_its_place_in_the_index_is_left_out(lanes: bool) -> None:
    """The index of a moment ago leads to an item that is elsewhere in it now."""
    api = api_for(SMALLER, lanes=lanes)
    (post, user), comments = next((at, names) for at, names in stored(api).items() if len(names) > 1)
    query = (QUERY % "body").replace(", $now: Boolean", "").replace(", consistent: $now", "")
    for _ in range(4):
        await api.ask(query, {"post": post, "user": user})
    rows, read = api.memory.rows, api.memory.call
    [at] = [
        key
        for key, row in rows.items()
        if key[0] == f"TENANT#acme#POST#{post}" and row.get("commentId") == {"S": comments[0]}
    ]

    async def call(operation: str, body: Any, **more: Any) -> Any:
        if operation != "Query":
            rows[at] = {**rows[at], "LSI1SK": {"S": "BY#somebody#2026"}}
        return await read(operation, body, **more)

    api.memory.call = call  # type: ignore[method-assign]
    found = await api.ask(query, {"post": post, "user": user})
    assert found["commentsOfReader"]["nodes"] == []
    assert found["commentsOfReader"]["pageInfo"]["hasNextPage"]
    assert ("lane" in api.lanes) is lanes


async def test_the_rows_of_another_tenant_are_not_there(api: MemoryEndpoint) -> None:
    """INVARIANT: a local index has the table's partitions, and policies compare the same leading keys."""
    (post, user), _ = next(iter(stored(api).items()))
    found = await api.ask(QUERY % "createdAt", {"post": post, "user": user}, token="initech/viewer")
    assert found["commentsOfReader"]["nodes"] == []
    keys = [body["ExpressionAttributeValues"][":pk"]["S"] for name, body in api.memory.sent if name == "Query"]
    assert all(key.startswith("TENANT#initech#") for key in keys)


async def test_a_change_moves_the_entry_and_leaves_the_item(api: MemoryEndpoint) -> None:
    """What the index has follows from the values, as on every index."""
    (post, _), _ = next(iter(stored(api).items()))
    create = """mutation ($post: ID!, $user: ID!) { createComment(input: {postId: $post, userId: $user, body: "b"}) {
      comment { commentId } errors { code } } }"""
    made = await api.ask(create, {"post": post, "user": "u-1001"}, token="acme/admin")
    assert made["createComment"]["errors"] == []
    name = made["createComment"]["comment"]["commentId"]
    [row] = [row for row in api.memory.rows.values() if row.get("commentId") == {"S": name}]
    assert row["LSI1SK"]["S"].startswith("BY#u-1001#")
    assert row["PK"]["S"] == f"TENANT#acme#POST#{post}"
    found: Any = await api.ask(QUERY % "body", {"post": post, "user": "u-1001", "now": True})
    assert found["commentsOfReader"]["nodes"] == [{"commentId": name, "body": "b"}]


async def test_the_sandbox_makes_it_and_answers_consistently() -> None:
    engine = Embedded("444411112222", "eu-west-1")
    try:
        assert await tables.create(engine, "local", with_local_index().table)
        row = {"PK": {"S": "P"}, "SK": {"S": "S"}, "LSI1SK": {"S": "BY#1"}, "postId": {"S": "p"}}
        await tables.fill(engine, "local", [row])
        answer = await call_engine(
            engine,
            "Query",
            {
                "TableName": "local",
                "IndexName": "LSI1",
                "ConsistentRead": True,
                "KeyConditionExpression": "PK = :p AND begins_with(LSI1SK, :b)",
                "ExpressionAttributeValues": {":p": {"S": "P"}, ":b": {"S": "BY#"}},
            },
        )
    finally:
        await engine.close()
    assert answer["Items"] == [row]


def test_terraform_gets_it_beside_the_global_ones() -> None:
    table = with_local_index().table
    inputs = table.terraform_inputs()
    [local] = inputs["local_indexes"]
    assert (local["name"], local["range_key"], local["projection_type"]) == ("LSI1", "LSI1SK", "ALL")
    assert "LSI1" not in [index["name"] for index in inputs["indexes"]]
    names = [attribute["name"] for attribute in inputs["attributes"]]
    assert len(names) == len(set(names))
    assert {"PK", "LSI1SK"} <= set(names)
    assert "local_indexes" not in MODEL.table.terraform_inputs()


def test_its_capacity_is_that_of_the_table() -> None:
    demanded = demand(with_local_index(), DEFAULTS)
    assert "LSI1" not in demanded.places
    assert {row.place for row in demanded.rows if row.name == "commentsOfReader"} == {"table"}
    assert demanded.need("table").write > demand(MODEL, DEFAULTS).need("table").write


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"place": replace(PLACE, pk="READER#{userId}")}, "its place on LSI1 has the partition key `READER#{userId}`"),
        ({"index": replace(LOCAL, pk="GSI9PK")}, "a local index uses the partition key `PK` of the table"),
        ({"index": replace(LOCAL, sk="SK")}, "its key `SK` is used twice"),
        ({"index": replace(LOCAL, local=False, pk="LSI1PK")}, "an index cannot be read consistently"),
        ({"index": SMALLER}, "LSI1 does not carry whole items: give it the projection ALL"),
    ],
)
def test_what_cannot_be_local_is_refused(wrong: dict[str, Any], fault: str) -> None:
    with pytest.raises(ModelError) as caught:
        with_local_index(**wrong)
    assert any(fault in each for each in caught.value.faults)


def test_a_table_has_five_of_them() -> None:
    [*others, publishing] = MODEL.domains
    many = tuple(Index(f"LSI{number}", local=True) for number in range(6))
    with pytest.raises(ModelError, match="6 local indexes, DynamoDB allows 5"):
        Model(domains=(*others, replace(publishing, indexes=(*publishing.indexes, *many))))


def test_the_page_declares_what_is_tested_here() -> None:
    page = (Path(__file__).parents[3] / "docs" / "lists.md").read_text(encoding="utf-8")
    [code] = re.findall(r"### Local indexes.*?```python\n(.*?)```", page, re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, {"Index": Index, "OnIndex": OnIndex, "Listing": Listing}, found)  # noqa: S102  our own page
    assert (found["LOCAL"], found["PLACE"], found["LISTING"]) == (LOCAL, PLACE, LISTING)
