"""Requests that are not understood are refused: PartiQL, odd shapes, unknown parameters, anything at all."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.iam.dynamodb.condition_keys import KEYED, KEYS, MULTIVALUED
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.requests import OPERATIONS, authorisations
from tests.iam.place import ORDERS, PLACE
from tests.iam.request_context import KEY, LK, SPECIFIC

GET = {"TableName": "orders", "Key": KEY}
PUT = {"PutRequest": {"Item": KEY}}

words = st.sampled_from(["orders", "PK", "PK = :v", "#pk", ORDERS, "a.b"])
names = st.sampled_from(
    ["PK", "S", "orders", ":v", "#pk", "Get", "Put", "Keys", "Key", "Item", "TableName", "Statement"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)
parameters = st.sampled_from(
    [
        *("TableName", "Key", "Item", "RequestItems", "TransactItems", "KeyConditionExpression", "KeyConditions"),
        *("ExpressionAttributeValues", "IndexName", "ProjectionExpression", "Statements", "ResourceArn"),
        *("ShardIterator", "GlobalTableName", "FilterExpression", "UpdateExpression", "Select", "ReturnValues"),
    ]
)


@pytest.mark.parametrize(
    ("operation", "statement", "action"),
    [
        ("ExecuteStatement", 'SELECT * FROM "orders"', "dynamodb:PartiQLSelect"),
        ("ExecuteStatement", ' \n insert INTO "orders" VALUE {}', "dynamodb:PartiQLInsert"),
        ("ExecuteStatement", "UPDATE orders SET a=1", "dynamodb:PartiQLUpdate"),
        ("ExecuteStatement", "DELETE FROM orders WHERE PK='a'", "dynamodb:PartiQLDelete"),
        ("BatchExecuteStatement", "DELETE FROM orders", "dynamodb:PartiQLDelete"),
        ("ExecuteTransaction", "UPDATE orders", "dynamodb:PartiQLUpdate"),
        ("ExecuteStatement", "/* */ EXISTS", "dynamodb:PartiQLSelect"),
    ],
)
def test_partiql_is_never_understood(operation: str, statement: str, action: str) -> None:
    member = {"Statement": statement}
    bodies = {"BatchExecuteStatement": {"Statements": [member]}, "ExecuteTransaction": {"TransactStatements": [member]}}
    with pytest.raises(NotUnderstood, match="PartiQL") as caught:
        authorisations(operation, bodies.get(operation, member), PLACE)
    assert caught.value.action == action
    assert caught.value.resource == ("*" if "EXISTS" in statement else ORDERS)


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("Teleport", {}),
        ("getitem", GET),
        ("GetItem", {}),
        ("GetItem", {"TableName": "orders"}),
        ("GetItem", {"TableName": "orders", "Key": {}}),
        ("GetItem", {"TableName": "orders", "Key": {"SK": {"S": "x"}}}),
        ("GetItem", {"TableName": "orders", "Key": {"pk": {"S": "a"}}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": "a"}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": {"S": ""}}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": {"S": 7}}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": {"SS": ["a"]}}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": {"S": "a", "N": "1"}}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": {}}}),
        ("GetItem", {"TableName": "orders", "Key": [KEY]}),
        ("GetItem", {"TableName": "unknown", "Key": KEY}),
        ("GetItem", {"TableName": ["orders"], "Key": KEY}),
        ("GetItem", {"TableName": ORDERS.replace("eu-west-1", "us-east-1"), "Key": KEY}),
        ("GetItem", {"TableName": ORDERS.replace("123456789012", "999999999999"), "Key": KEY}),
        ("GetItem", {**GET, "Frobnicate": True}),
        ("GetItem", {**GET, "ProjectionExpression": "#x"}),
        ("GetItem", {**GET, "ProjectionExpression": ""}),
        ("GetItem", {**GET, "ProjectionExpression": ["a"]}),
        ("GetItem", {**GET, "ProjectionExpression": "a, .secret"}),
        ("GetItem", {**GET, "ProjectionExpression": "1secret"}),
        ("GetItem", {**GET, "ProjectionExpression": "size(a)"}),
        ("GetItem", {**GET, "ProjectionExpression": ":a"}),
        ("GetItem", {**GET, "ProjectionExpression": "a", "ExpressionAttributeNames": 1}),
        ("GetItem", {**GET, "ProjectionExpression": "#a", "ExpressionAttributeNames": {"#a": 1}}),
        ("GetItem", {**GET, "AttributesToGet": []}),
        ("GetItem", {**GET, "AttributesToGet": "secret"}),
        ("GetItem", {**GET, "AttributesToGet": ["a"], "ProjectionExpression": "a"}),
        ("GetItem", {**GET, "ReturnConsumedCapacity": "LOTS"}),
        ("GetItem", {**GET, "ReturnConsumedCapacity": {}}),
        ("BatchGetItem", {}),
        ("BatchGetItem", {"RequestItems": {}}),
        ("BatchGetItem", {"RequestItems": {"orders": []}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": []}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY, {"SK": {"S": "x"}}]}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY, None]}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY], "TableName": "users"}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [KEY]}, "unknown": {"Keys": [KEY]}}}),
        ("TransactGetItems", {"TransactItems": []}),
        ("TransactGetItems", {"TransactItems": [{}]}),
        ("TransactGetItems", {"TransactItems": [{"Put": {"TableName": "orders", "Item": KEY}}]}),
        ("TransactGetItems", {"TransactItems": [{"Get": {**GET, "More": 1}}]}),
        ("Query", {"TableName": "orders"}),
        ("Query", {"TableName": "orders", "KeyConditionExpression": "PK = :v", "KeyConditions": {"PK": {}}}),
        ("Query", {"TableName": "orders", "KeyConditionExpression": "PK = :v"}),
        ("Query", {"TableName": "orders", "IndexName": "GSI9", "KeyConditionExpression": "PK = :v"}),
        ("Query", {"TableName": "orders", "IndexName": {"a": 1}, "KeyConditionExpression": "PK = :v"}),
        ("Scan", {}),
        ("Scan", {"TableName": "orders/index/GSI1"}),
        ("Scan", {"TableName": f"{ORDERS}/index/GSI1"}),
        ("Scan", {"TableName": "orders", "IndexName": "GSI1/../.."}),
        ("Scan", {"TableName": "arn:aws:s3:::bucket"}),
        ("Scan", {"TableName": "arn:aws:dynamodb:eu-west-1:123456789012:backup/x"}),
        ("Scan", {"TableName": "orders", "Select": "EVERYTHING"}),
        ("Scan", {"TableName": "orders", "Select": SPECIFIC}),
        ("Scan", {"TableName": "orders", "FilterExpression": "execute(a)"}),
        ("Scan", {"TableName": "orders", "FilterExpression": "a = :a", "ScanFilter": {"a": {}}}),
        ("PutItem", GET),
        ("PutItem", {"TableName": "orders", "Item": {"total": {"N": "1"}}}),
        ("PutItem", {"TableName": "orders", "Item": KEY, "ReturnValues": "EVERYTHING"}),
        ("PutItem", {"TableName": "orders", "Item": KEY, "ReturnValuesOnConditionCheckFailure": "ALL_NEW"}),
        ("UpdateItem", {**GET, "UpdateExpression": "SET a = :a", "AttributeUpdates": {"b": {}}}),
        ("UpdateItem", {**GET, "UpdateExpression": "SET a = b.. c"}),
        ("BatchWriteItem", {"RequestItems": {}}),
        ("BatchWriteItem", {"RequestItems": {"orders": []}}),
        ("BatchWriteItem", {"RequestItems": {"orders": [{}]}}),
        ("BatchWriteItem", {"RequestItems": {"orders": [{**PUT, "DeleteRequest": {"Key": KEY}}]}}),
        ("BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": KEY, "More": 1}}]}}),
        ("TransactWriteItems", {"TransactItems": []}),
        ("TransactWriteItems", {"TransactItems": [{}]}),
        ("TransactWriteItems", {"TransactItems": [{"Get": GET}]}),
        ("TransactWriteItems", {"TransactItems": [{"Put": []}]}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": {**GET, "Expected": {}}}]}),
        ("ExecuteStatement", {}),
        ("BatchExecuteStatement", {"Statements": 1}),
    ],
)
def test_an_ambiguous_request_is_not_understood(operation: str, body: dict[str, Any]) -> None:
    with pytest.raises(NotUnderstood):
        authorisations(operation, body, PLACE)


def test_a_request_that_is_not_an_object_is_not_understood() -> None:
    with pytest.raises(NotUnderstood, match="a request must be an object"):
        authorisations("GetItem", ["TableName"], PLACE)  # type: ignore[arg-type]  # the point of the test


def test_a_request_that_asks_for_nothing_is_not_understood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.iam.dynamodb.requests.OPERATIONS", {"GetItem": lambda body, place: ()})
    with pytest.raises(NotUnderstood, match="needs no authorisation"):
        authorisations("GetItem", {}, PLACE)


@settings(deadline=None)
@given(st.sampled_from(sorted(OPERATIONS)), st.dictionaries(parameters, json_values, max_size=4))
def test_any_request_is_understood_or_refused_and_a_keyed_action_always_has_its_keys(
    operation: str, body: dict[str, Any]
) -> None:
    try:
        found = authorisations(operation, body, PLACE)
    except NotUnderstood:
        return
    assert found
    for one in found:
        name = one.action.removeprefix("dynamodb:")
        assert set(one.context) <= KEYS.get(name, frozenset())
        assert all(isinstance(value, tuple) is (key in MULTIVALUED) for key, value in one.context.items())
        assert name not in KEYED or one.context[LK]
