"""The rows of the condition table that read: each request, and the authorisations that AWS would ask for."""

from typing import Any

import pytest

from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.language.verdict import Authorisation
from tests.iam.place import ORDERS, USERS
from tests.iam.request_context import (
    ALL,
    ATT,
    ENC,
    FIRST,
    KEY,
    LK,
    PROJECTED,
    RCC,
    SEL,
    SPECIFIC,
    authorisations_of,
    leading,
    query,
    single,
)


def test_get_item_of_all_attributes() -> None:
    assert single("GetItem", TableName="orders", Key=KEY) == Authorisation(
        "dynamodb:GetItem", ORDERS, {**leading("a#1"), ATT: ("PK", "SK"), SEL: ALL, RCC: "NONE"}
    )


def test_get_item_with_a_projection_of_nested_and_aliased_paths() -> None:
    found = single(
        "GetItem",
        TableName="orders",
        Key=KEY,
        ProjectionExpression="secret.x, secret[0].y , #n.deep, PK",
        ExpressionAttributeNames={"#n": "name"},
        ReturnConsumedCapacity="TOTAL",
    )
    assert found.context == {
        **leading("a#1"),
        ATT: ("PK", "SK", "secret", "name"),
        SEL: SPECIFIC,
        RCC: "TOTAL",
    }


def test_get_item_with_a_legacy_list_counts_a_path_both_ways() -> None:
    found = single("GetItem", TableName="orders", Key=KEY, AttributesToGet=["name", "secret.x"])
    assert found.context[ATT] == ("PK", "SK", "name", "secret.x", "secret")
    assert found.context[SEL] == SPECIFIC


def test_batch_get_item_asks_once_for_each_table_and_never_for_get_item() -> None:
    found = authorisations_of(
        "BatchGetItem",
        RequestItems={
            "orders": {"Keys": [KEY, {**KEY, "PK": {"S": "b#2"}}, KEY], "ProjectionExpression": "PK, total"},
            USERS: {"Keys": [{"id": {"N": "7"}}]},
        },
        ReturnConsumedCapacity="INDEXES",
    )
    orders = {**leading("a#1", "b#2"), ATT: ("PK", "SK", "total"), SEL: SPECIFIC, RCC: "INDEXES"}
    users = {**leading("7"), ATT: ("id",), SEL: ALL, RCC: "INDEXES"}
    assert found == (
        Authorisation("dynamodb:BatchGetItem", ORDERS, orders),
        Authorisation("dynamodb:BatchGetItem", USERS, users),
    )


def test_transact_get_items_asks_for_get_item_within_the_transaction() -> None:
    gets = [{"Get": {"TableName": "orders", "Key": KEY, "ProjectionExpression": "total"}}]
    gets.append({"Get": {"TableName": "users", "Key": {"id": {"S": "u"}}}})
    assert authorisations_of("TransactGetItems", TransactItems=gets) == (
        Authorisation(
            "dynamodb:GetItem",
            ORDERS,
            {**leading("a#1"), ATT: ("PK", "SK", "total"), SEL: SPECIFIC, ENC: "TransactGetItems"},
        ),
        Authorisation("dynamodb:GetItem", USERS, {**leading("u"), ATT: ("id",), SEL: ALL, ENC: "TransactGetItems"}),
    )


def test_query_of_the_table() -> None:
    found = query(
        "#pk = :v AND begins_with(SK, :w)",
        ExpressionAttributeNames={"#pk": "PK", "#s": "status"},
        FilterExpression="#s <> :x AND size(notes.list[0]) > :x OR NOT contains(tags, :x)",
        ProjectionExpression="total",
    )
    attributes = ("PK", "SK", "status", "notes", "tags", "total")
    assert found == Authorisation(
        "dynamodb:Query", ORDERS, {**leading("a#1"), ATT: attributes, SEL: SPECIFIC, RCC: "NONE"}
    )


def test_query_of_a_global_index_has_the_key_of_the_index() -> None:
    found = query("GSI1PK = :v AND GSI1SK BETWEEN :w AND :x", "GSI1")
    assert found == Authorisation(
        "dynamodb:Query",
        f"{ORDERS}/index/GSI1",
        {**leading("a#1"), ATT: ("GSI1PK", "GSI1SK"), SEL: PROJECTED, RCC: "NONE"},
    )


def test_query_of_a_local_index_has_the_key_of_the_table() -> None:
    found = query("PK = :v AND total > :w", "LSI1")
    assert (found.resource, found.context[LK], found.context[SEL]) == (f"{ORDERS}/index/LSI1", ("a#1",), PROJECTED)


def test_query_of_an_index_of_two_attributes_has_a_set_for_each() -> None:
    found = query("tenant = :w AND region = :v", "Multi")
    assert found.context[LK] == found.context[FIRST] == ("a#1",)
    assert found.context["dynamodb:SecondPartitionKeyValues"] == ("b",)


@pytest.mark.parametrize(
    ("more", "index", "select"),
    [
        ({}, None, ALL),
        ({}, "LSI1", PROJECTED),
        ({"ProjectionExpression": "total"}, "LSI1", SPECIFIC),
        ({"AttributesToGet": ["total"]}, None, SPECIFIC),
        ({"Select": "COUNT"}, None, "COUNT"),
        ({"Select": ALL}, "LSI1", ALL),
        ({"Select": SPECIFIC, "ProjectionExpression": "total"}, None, SPECIFIC),
    ],
)
def test_select_has_a_value_on_every_query(more: dict[str, Any], index: str | None, select: str) -> None:
    assert query("PK = :v", index, **more).context[SEL] == select


def test_a_query_without_the_second_attribute_of_its_key_is_not_understood() -> None:
    with pytest.raises(NotUnderstood, match="does not fix"):
        query("region = :v", "Multi")


def test_a_legacy_query() -> None:
    conditions = {
        "PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a#1"}]},
        "SK": {"ComparisonOperator": "BETWEEN", "AttributeValueList": [{"S": "a"}, {"S": "b"}]},
    }
    filtered = {"status": {"ComparisonOperator": "NULL"}}
    found = single(
        "Query", TableName="orders", KeyConditions=conditions, QueryFilter=filtered, AttributesToGet=["total"]
    )
    assert found.context == {
        **leading("a#1"),
        ATT: ("PK", "SK", "status", "total"),
        SEL: SPECIFIC,
        RCC: "NONE",
    }


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        [],
        {"PK": {"ComparisonOperator": "BEGINS_WITH", "AttributeValueList": [{"S": "a"}]}},
        {"PK": {"ComparisonOperator": "EQ", "AttributeValueList": []}},
        {"PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}, {"S": "b"}]}},
        {"PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"SS": ["a"]}]}},
        {"PK": {"ComparisonOperator": "EQ"}},
        {"PK": "a"},
        {"SK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "a"}]}},
    ],
)
def test_a_legacy_query_that_does_not_pin_the_key_is_not_understood(conditions: Any) -> None:
    with pytest.raises(NotUnderstood):
        authorisations_of("Query", TableName="orders", KeyConditions=conditions)


@pytest.mark.parametrize(
    ("more", "resource"),
    [({}, ORDERS), ({"IndexName": "GSI1"}, f"{ORDERS}/index/GSI1"), ({"Segment": 1, "TotalSegments": 4}, ORDERS)],
)
def test_scan_never_has_leading_keys(more: dict[str, Any], resource: str) -> None:
    body = {"FilterExpression": "PK = :v AND email = :v", "ProjectionExpression": "phone"}
    found = single("Scan", TableName="orders", **body, ExpressionAttributeValues={":v": {"S": "a#1"}}, **more)
    assert found == Authorisation(
        "dynamodb:Scan", resource, {ATT: ("PK", "email", "phone"), SEL: SPECIFIC, RCC: "NONE"}
    )


def test_a_legacy_scan_names_what_it_filters_by() -> None:
    found = single("Scan", TableName="other", ScanFilter={"email": {"ComparisonOperator": "NULL"}})
    assert found.context == {ATT: ("email",), SEL: ALL, RCC: "NONE"}
    assert found.resource == ORDERS.replace("orders", "other")
