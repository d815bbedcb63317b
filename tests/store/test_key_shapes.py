"""What a request touches is shown in the form of the model's keys: never by a value, never of another tenant."""

from collections.abc import Mapping
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.model.tenant import partition
from gateway.store.key_ranges import TOP
from gateway.store.key_shapes import HIDDEN, KeyShape, key_shapes
from tests.store.fixtures import ACME, GLOBEX

Body = Mapping[str, Any]


def key(path: str, sk: str) -> Body:
    return {"PK": {"S": partition(ACME, path)}, "SK": {"S": sk}}


def query(path: str, condition: str = "#pk = :pk", index: str | None = None, **ends: str) -> Body:
    values = {":pk": partition(ACME, path), **{f":{name}": text for name, text in ends.items()}}
    body = {
        "TableName": "app",
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": {"#pk": "PK", "#sk": "SK", "#0": "name"},
        "ExpressionAttributeValues": {name: {"S": text} for name, text in values.items()},
    }
    return {**body, "IndexName": index} if index else body


USER, ORDER = key("USER#u-1", "PROFILE"), key("ORDER#o-1", "META")


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", {"TableName": "app", "Key": USER}),
        ("PutItem", {"TableName": "app", "Item": {**USER, "name": {"S": "Ada"}}}),
        ("UpdateItem", {"TableName": "app", "Key": USER, "ExpressionAttributeNames": {"#0": "PK"}}),
        ("BatchGetItem", {"RequestItems": {"app": {"Keys": [USER]}}}),
        ("BatchWriteItem", {"RequestItems": {"app": [{"PutRequest": {"Item": USER}}]}}),
        ("BatchWriteItem", {"RequestItems": {"app": [{"DeleteRequest": {"Key": USER}}]}}),
        ("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "app", "Key": USER}}]}),
        ("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "app", "Item": USER}}]}),
        ("TransactWriteItems", {"TransactItems": [{"ConditionCheck": {"TableName": "app", "Key": USER}}]}),
    ],
)
def test_the_keys_of_every_operation_are_found(operation: str, body: Body) -> None:
    assert key_shapes(MODEL, ACME, operation, body) == (KeyShape("USER#<userId>", "PROFILE"),)


def test_keys_of_one_form_are_counted_together() -> None:
    keys = [USER, key("USER#u-2", "PROFILE"), ORDER, key("ORDER#o-1", "ITEM#p-1")]
    assert key_shapes(MODEL, ACME, "BatchGetItem", {"RequestItems": {"app": {"Keys": keys}}}) == (
        KeyShape("USER#<userId>", "PROFILE", 2),
        KeyShape("ORDER#<orderId>", "META"),
        KeyShape("ORDER#<orderId>", "ITEM#<productId>"),
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (query("REVIEW", index="GSI3"), KeyShape("REVIEW", "all")),
        (query("ACTIVE#2", index="GSI3"), KeyShape("ACTIVE#2", "all")),
        (query("STATUS#SHIPPED#3", index="GSI2"), KeyShape("STATUS#<status>#3", "all")),
        (
            query("USER#u-1", "#pk = :pk AND begins_with(#sk, :low)", low="ORDER#"),
            KeyShape("USER#<userId>", "begins with ORDER#…"),
        ),
        (
            query("USER#u-1", "#pk = :pk AND #sk BETWEEN :low AND :high", low="ORDER#", high="PROFILE"),
            KeyShape("USER#<userId>", "from ORDER#… to PROFILE"),
        ),
        (
            query("USER#u-1", "#pk = :pk AND #sk BETWEEN :low AND :high", low="ORDER#2026", high=f"ORDER#{TOP}"),
            KeyShape("USER#<userId>", "from ORDER#<placedAt>… to ORDER#…"),
        ),
        (query("ACTIVE#0", "#pk = :pk AND #sk >= :low", "GSI3", low="2026"), KeyShape("ACTIVE#0", "from <placedAt>…")),
        (query("ACTIVE#0", "#pk = :pk AND #sk <= :high", "GSI3", high="2026"), KeyShape("ACTIVE#0", "to <placedAt>…")),
        (
            query("ORDER#o-1", "#pk = :pk AND #sk BETWEEN :low AND :high", low="META", high="META"),
            KeyShape("ORDER#<orderId>", "META"),
        ),
        # another index has other forms
        (query("ACTIVE#0", index="GSI1"), KeyShape("ACTIVE#…", "all")),
    ],
)
def test_a_query_is_explained_by_its_partition_and_its_range(body: Body, expected: KeyShape) -> None:
    assert key_shapes(MODEL, ACME, "Query", body) == (expected,)


def test_rows_of_the_gateway_itself_show_their_kind_alone() -> None:
    body = {"TableName": "app", "Key": key("UNIQUE#User#email#ada@example.com", "UNIQUE")}
    assert key_shapes(MODEL, ACME, "GetItem", body) == (KeyShape("UNIQUE#…", HIDDEN),)


def test_nothing_is_shown_of_a_key_that_is_not_the_tenants_own() -> None:
    for body in ({"Key": USER}, {"Key": key("UNIQUE#User#email#ada", "UNIQUE")}):
        assert key_shapes(MODEL, GLOBEX, "GetItem", body) == (KeyShape(HIDDEN, HIDDEN),)
    assert key_shapes(MODEL, GLOBEX, "Query", query("USER#u-1")) == (KeyShape(HIDDEN, HIDDEN),)


@pytest.mark.parametrize("operation", ["Query", "GetItem", "Scan", "TransactWriteItems"])
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"Key": {"PK": None, "SK": {"N": "1"}}},
        {"TransactItems": [None, "x", {"Put": 1}]},
        {"ExpressionAttributeValues": {":pk": {"N": "1"}, ":low": 7}},
    ],
)
def test_a_request_that_is_not_understood_is_no_failure(operation: str, body: Body) -> None:
    assert all(each.partition == HIDDEN for each in key_shapes(MODEL, ACME, operation, body))
