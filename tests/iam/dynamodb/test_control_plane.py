"""Every operation that botocore knows is either understood or refused, with nothing in between."""

from typing import Any

import botocore.session
import pytest
from botocore.model import Shape

from gateway.iam.dynamodb import reads, writes
from gateway.iam.dynamodb.condition_keys import KEYED, KEYS
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.dynamodb.requests import OPERATIONS, authorisations
from tests.iam.place import ORDERS, PLACE

HEAD = "arn:aws:dynamodb:eu-west-1:123456789012:"
SESSION = botocore.session.get_session()
MODELS = {
    name: SESSION.get_service_model(api).operation_model(name)
    for api in ("dynamodb", "dynamodbstreams")
    for name in SESSION.get_service_model(api).operation_names
}
SAMPLES: dict[str, Any] = {
    "TableName": "orders",
    "IndexName": "GSI1",
    "TargetTableName": "copy",
    "SourceTableName": "orders",
    "GlobalTableName": "orders",
    "TableArn": ORDERS,
    "ResourceArn": ORDERS,
    "BackupArn": f"{ORDERS}/backup/01",
    "ExportArn": f"{ORDERS}/export/01",
    "ImportArn": f"{ORDERS}/import/01",
    "StreamArn": f"{ORDERS}/stream/2026",
    "BulkOperationArn": f"{ORDERS}/bulk-operation/01",
    "ShardIterator": f"{ORDERS}/stream/2026|1|opaque",
    "TableCreationParameters": {"TableName": "orders"},
}
PARTIQL = {"ExecuteStatement", "BatchExecuteStatement", "ExecuteTransaction"}
ITEMS = {*reads.PARAMETERS, *writes.PARAMETERS}


def body_of(name: str) -> dict[str, Any]:
    shape = MODELS[name].input_shape
    return {member: SAMPLES[member] for member in (shape.members if shape else ()) if member in SAMPLES}


def members(shape: Shape | None) -> frozenset[str]:
    return frozenset(getattr(shape, "members", ()))


def test_every_operation_of_the_api_is_known_and_no_other() -> None:
    assert set(OPERATIONS) == set(MODELS)


@pytest.mark.parametrize("name", sorted(set(MODELS) - ITEMS - PARTIQL))
def test_a_control_operation_asks_for_its_own_action_without_any_key_of_the_data(name: str) -> None:
    found = authorisations(name, body_of(name), PLACE)
    assert {one.action for one in found} == {f"dynamodb:{name}"}
    assert all(one.context == {} for one in found)
    assert all(one.resource == "*" or one.resource.startswith("arn:aws:dynamodb:") for one in found)
    assert name not in KEYED


@pytest.mark.parametrize("name", sorted(MODELS))
def test_an_operation_without_what_it_names_asks_for_everything_or_is_refused(name: str) -> None:
    try:
        found = authorisations(name, {}, PLACE)
    except NotUnderstood:
        return
    assert [(one.action, one.resource, one.context) for one in found] == [(f"dynamodb:{name}", "*", {})]


@pytest.mark.parametrize("name", sorted(ITEMS))
def test_the_parameters_of_an_item_operation_are_those_of_the_api(name: str) -> None:
    known = {**reads.PARAMETERS, **writes.PARAMETERS}[name]
    assert known == members(MODELS[name].input_shape)


def test_every_keyed_action_belongs_to_an_item_operation_or_to_partiql() -> None:
    assert {"ConditionCheckItem", *(key for key in KEYS if key.startswith("PartiQL"))} == KEYED - ITEMS


@pytest.mark.parametrize(
    ("name", "resources"),
    [
        ("DescribeTable", [ORDERS]),
        ("ListTables", ["*"]),
        ("DescribeContributorInsights", [ORDERS, f"{ORDERS}/index/GSI1"]),
        ("SearchVectors", [f"{ORDERS}/index/GSI1"]),
        ("CreateGlobalTable", ["arn:aws:dynamodb::123456789012:global-table/orders", ORDERS]),
        ("DescribeGlobalTable", ["arn:aws:dynamodb::123456789012:global-table/orders"]),
        ("RestoreTableFromBackup", [f"{ORDERS}/backup/01", f"{HEAD}table/copy"]),
        ("RestoreTableToPointInTime", [ORDERS, f"{HEAD}table/copy"]),
        ("GetRecords", [f"{ORDERS}/stream/2026"]),
        ("ImportTable", [ORDERS]),
        ("ExportTableToPointInTime", [ORDERS]),
    ],
)
def test_the_resources_of_a_control_operation(name: str, resources: list[str]) -> None:
    assert [one.resource for one in authorisations(name, body_of(name), PLACE)] == resources


def test_creating_a_table_with_tags_and_a_policy_asks_for_those_too() -> None:
    body = {"TableName": "orders", "Tags": [{"Key": "a", "Value": "b"}], "ResourcePolicy": "{}"}
    found = authorisations("CreateTable", body, PLACE)
    assert [one.action for one in found] == [
        "dynamodb:CreateTable",
        "dynamodb:TagResource",
        "dynamodb:PutResourcePolicy",
    ]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("GetRecords", {"ShardIterator": "opaque"}),
        ("GetRecords", {"ShardIterator": 7}),
        ("TagResource", {"ResourceArn": "arn:aws:s3:::bucket/x"}),
        ("TagResource", {"ResourceArn": "orders"}),
        ("TagResource", {"ResourceArn": f"{HEAD}table/"}),
        ("ImportTable", {"TableCreationParameters": "orders"}),
        ("DescribeTable", {"TableName": "*"}),
        ("UpdateGlobalTable", {"GlobalTableName": "a/b"}),
    ],
)
def test_a_control_operation_on_nothing_known_is_refused(name: str, body: dict[str, Any]) -> None:
    with pytest.raises(NotUnderstood):
        authorisations(name, body, PLACE)
