"""The rows of the condition table that write: each request, and the authorisations that AWS would ask for."""

import pytest

from gateway.iam.language.verdict import Authorisation
from tests.iam.place import ORDERS, USERS
from tests.iam.request_context import ATT, ENC, KEY, LK, RCC, RV, authorisations_of, leading, single


def test_put_item() -> None:
    found = single(
        "PutItem",
        TableName=ORDERS,
        Item={**KEY, "total": {"N": "1"}},
        ConditionExpression="attribute_not_exists(PK) AND #v = :v",
        ExpressionAttributeNames={"#v": "version"},
        ExpressionAttributeValues={":v": {"N": "1"}},
    )
    attributes = ("PK", "SK", "total", "version")
    assert found == Authorisation(
        "dynamodb:PutItem", ORDERS, {**leading("a#1"), ATT: attributes, RV: "NONE", RCC: "NONE"}
    )


def test_update_item_names_targets_and_operands() -> None:
    found = single(
        "UpdateItem",
        TableName="orders",
        Key=KEY,
        UpdateExpression="SET #a.b = if_not_exists(c, :z) + d, e[1] = list_append(e, :l) REMOVE f ADD g :z DELETE h :s",
        ConditionExpression="attribute_exists(i.j)",
        ExpressionAttributeNames={"#a": "a"},
        ReturnValues="UPDATED_NEW",
    )
    assert found.action == "dynamodb:UpdateItem"
    assert found.context == {
        **leading("a#1"),
        ATT: ("PK", "SK", "a", "c", "d", "e", "f", "g", "h", "i"),
        RV: "UPDATED_NEW",
        RCC: "NONE",
    }


def test_legacy_writes_name_their_attributes() -> None:
    expected = {"status": {"Exists": False}}
    put = single("PutItem", TableName="orders", Item=KEY, Expected=expected)
    update = single("UpdateItem", TableName="orders", Key=KEY, AttributeUpdates={"a": {}}, Expected=expected)
    delete = single("DeleteItem", TableName="orders", Key=KEY, Expected=expected, ReturnValues="ALL_OLD")
    assert put.context[ATT] == ("PK", "SK", "status")
    assert update.context[ATT] == ("PK", "SK", "a", "status")
    assert (delete.context[ATT], delete.context[RV]) == (("PK", "SK", "status"), "ALL_OLD")


@pytest.mark.parametrize(
    ("returned", "values"),
    [("NONE", ["NONE", "ALL_OLD"]), ("UPDATED_NEW", ["UPDATED_NEW", "ALL_OLD"]), ("ALL_OLD", ["ALL_OLD"])],
)
def test_the_item_of_a_failed_condition_has_to_pass_as_a_return_value(returned: str, values: list[str]) -> None:
    on_failure = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    found = authorisations_of("UpdateItem", TableName="orders", Key=KEY, ReturnValues=returned, **on_failure)
    assert [one.context[RV] for one in found] == values


def test_batch_write_item_asks_once_for_each_table_and_never_for_put_item() -> None:
    put = {"PutRequest": {"Item": {**KEY, "total": {"N": "1"}}}}
    delete = {"DeleteRequest": {"Key": {"PK": {"S": "b#2"}, "SK": {"S": "x"}}}}
    user = {"DeleteRequest": {"Key": {"id": {"B": "YQ=="}}}}
    assert authorisations_of("BatchWriteItem", RequestItems={"orders": [put, delete], "users": [user]}) == (
        Authorisation(
            "dynamodb:BatchWriteItem", ORDERS, {**leading("a#1", "b#2"), ATT: ("PK", "SK", "total"), RCC: "NONE"}
        ),
        Authorisation("dynamodb:BatchWriteItem", USERS, {**leading("YQ=="), ATT: ("id",), RCC: "NONE"}),
    )


def test_transact_write_items_asks_for_each_member_its_own_action() -> None:
    condition = {"ConditionExpression": "a = :a", "TableName": "orders"}
    members = [
        {"Put": {"TableName": "orders", "Item": {**KEY, "total": {"N": "1"}}}},
        {"Update": {**condition, "Key": KEY, "UpdateExpression": "SET b = :b"}},
        {"Delete": {**condition, "Key": KEY, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
        {"ConditionCheck": {**condition, "Key": {"PK": {"S": "b#2"}}}},
    ]
    found = authorisations_of("TransactWriteItems", TransactItems=members, ClientRequestToken="t")
    assert [one.action.removeprefix("dynamodb:") for one in found] == [
        *("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem")
    ]
    assert [one.context[LK] for one in found] == [("a#1",), ("a#1",), ("a#1",), ("b#2",)]
    assert [one.context[ATT] for one in found] == [
        *(("PK", "SK", "total"), ("PK", "SK", "b", "a"), ("PK", "SK", "a"), ("PK", "a"))
    ]
    assert [one.context[RV] for one in found] == ["NONE", "NONE", "ALL_OLD", "NONE"]
    assert {one.context[ENC] for one in found} == {"TransactWriteItems"}
    assert all(RCC not in one.context for one in found)
