"""A line of words becomes the request that it says."""

from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.errors import BadUserInput
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.requests import authorisations
from gateway.iam.language.verdict import Authorisation
from gateway.ops.policies.request_parser import read_request

KEYS = KeySchema("PK", {index.name: (index.pk,) for index in MODEL.table.indexes})
PLACE = TableRegistry("eu-west-1", "123456789012", tables={"shop": KEYS, "other": KEYS})


def body(line: str) -> dict[str, Any]:
    return read_request(line, MODEL.table, "shop")[1]


def parsed(line: str) -> tuple[Authorisation, ...]:
    operation, made = read_request(line, MODEL.table, "shop")
    return authorisations(operation, made, PLACE)


def test_pk_and_sk_are_the_key_of_the_request() -> None:
    assert body("GetItem PK=TENANT#a#USER#1 SK=PROFILE") == {
        "TableName": "shop",
        "Key": {"PK": {"S": "TENANT#a#USER#1"}, "SK": {"S": "PROFILE"}},
    }
    assert body("GetItem 'PK=a b' SK=c table=other")["TableName"] == "other"


@pytest.mark.parametrize(
    ("line", "actions", "keys"),
    [
        ("GetItem PK=a SK=b", ["GetItem"], [("a",)]),
        ("GetItem PK=a SK=b attributes=x,y", ["GetItem"], [("a",)]),
        ("BatchGetItem PK=a SK=b PK=c SK=d", ["BatchGetItem"], [("a", "c")]),
        ("TransactGetItems PK=a SK=b PK=c SK=d", ["GetItem", "GetItem"], [("a",), ("c",)]),
        ("Query PK=a", ["Query"], [("a",)]),
        ("Query PK=a SK=b", ["Query"], [("a",)]),
        ("Query index=GSI2 PK=a SK=b attributes=x", ["Query"], [("a",)]),
        ("Query index=GSI2 GSI2PK=a", ["Query"], [("a",)]),
        ("PutItem PK=a SK=b status=NEW", ["PutItem"], [("a",)]),
        ("UpdateItem PK=a SK=b attributes=status,note returns=ALL_NEW", ["UpdateItem"], [("a",)]),
        ("DeleteItem PK=a SK=b returns=ALL_OLD", ["DeleteItem"], [("a",)]),
        ("BatchWriteItem PK=a SK=b PK=c SK=d", ["BatchWriteItem"], [("a", "c")]),
        (
            "TransactWriteItems Put PK=a SK=b Update PK=c SK=d Delete PK=e SK=f ConditionCheck PK=g SK=h attributes=x",
            ["PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"],
            [("a",), ("c",), ("e",), ("g",)],
        ),
    ],
)
def test_each_operation_is_understood_with_its_keys(line: str, actions: list[str], keys: list[tuple[str, ...]]) -> None:
    assert [one.action.partition(":")[2] for one in parsed(line)] == actions
    assert [one.context["dynamodb:LeadingKeys"] for one in parsed(line)] == keys


def test_options_reach_the_request() -> None:
    (one,) = parsed("Query index=GSI1 PK=a select=COUNT")
    assert one.resource.endswith("/index/GSI1")
    assert one.context["dynamodb:Select"] == "COUNT"
    (one,) = parsed("UpdateItem PK=a SK=b attributes=note returns=ALL_NEW")
    assert one.context["dynamodb:ReturnValues"] == "ALL_NEW"
    assert one.context["dynamodb:Attributes"] == ("PK", "SK", "note")
    (one,) = parsed("GetItem PK=a SK=b attributes=email")
    assert one.context["dynamodb:Attributes"] == ("PK", "SK", "email")
    (one,) = parsed("Scan index=GSI1 attributes=email")
    assert (one.action, one.context["dynamodb:Attributes"]) == ("dynamodb:Scan", ("email",))
    assert parsed("DescribeTable")[0].action == "dynamodb:DescribeTable"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "must start with an operation"),
        ("GetItem 'PK=a", "must start with an operation"),
        ("Fetch PK=a", "no operation `Fetch`"),
        ("GetItem PK", "`PK` is not `name=value`"),
        ("GetItem Put PK=a", "`Put` is not `name=value`"),
        ("GetItem PK=a SK=b PK=c SK=d", "`GetItem` must name exactly one key"),
        ("GetItem", "`GetItem` must name exactly one key"),
        ("GetItem PK=a SK=b ProjectionExpression=c", "`ProjectionExpression` is not a key: write `attributes=...`"),
        ("TransactWriteItems Put PK=a SK=b note=c Delete PK=a SK=b note=c", "`note` is not a key"),
        ("UpdateItem PK=a SK=b", "an update must name the attributes that it sets in `attributes`"),
        ("TransactWriteItems PK=a SK=b", "a member must start with one of Put, Update, Delete, ConditionCheck"),
    ],
)
def test_a_line_that_is_not_understood_is_refused(line: str, message: str) -> None:
    with pytest.raises(BadUserInput) as caught:
        body(line)
    assert message in caught.value.message
