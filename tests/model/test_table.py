import json

from botocore.session import get_session
from botocore.validate import validate_parameters

from gateway.demo import MODEL
from gateway.model.table import TableSpec


def test_terraform_learns_the_keys_the_indexes_and_the_expiry() -> None:
    described = MODEL.table.terraform_inputs()
    assert json.loads(json.dumps(described)) == described
    assert (described["hash_key"], described["range_key"], described["ttl_attribute"]) == ("PK", "SK", "ttl")
    assert described["attributes"][:4] == [{"name": name, "type": "S"} for name in ("PK", "SK", "GSI1PK", "GSI1SK")]
    assert described["indexes"][0] == {
        "name": "GSI1",
        "hash_key": "GSI1PK",
        "range_key": "GSI1SK",
        "projection_type": "ALL",
        "non_key_attributes": [],
    }


def test_terraform_is_told_of_exactly_the_attributes_that_are_keys() -> None:
    described = MODEL.table.terraform_inputs()
    keys = [described["hash_key"], described["range_key"]]
    keys += [index[part] for index in described["indexes"] for part in ("hash_key", "range_key")]
    assert [attribute["name"] for attribute in described["attributes"]] == keys


def test_the_request_to_create_the_table_is_one_that_dynamodb_understands() -> None:
    shape = get_session().get_service_model("dynamodb").operation_model("CreateTable").input_shape
    assert shape is not None
    for request in (MODEL.table.create_request("shop"), TableSpec(indexes=()).create_request("shop")):
        validate_parameters(request, shape)


def test_the_created_table_has_every_index_and_is_paid_by_request() -> None:
    request = MODEL.table.create_request("shop")
    assert request["TableName"] == "shop"
    assert request["BillingMode"] == "PAY_PER_REQUEST"
    assert request["KeySchema"] == [
        {"AttributeName": "PK", "KeyType": "HASH"},
        {"AttributeName": "SK", "KeyType": "RANGE"},
    ]
    assert [index["IndexName"] for index in request["GlobalSecondaryIndexes"]] == [
        *("GSI1", "GSI2", "GSI3", "GSI4", "GSI5")
    ]
    assert {each["AttributeName"] for each in request["AttributeDefinitions"]} == {
        "PK",
        "SK",
        *(f"GSI{n}{part}" for n in (1, 2, 3, 4, 5) for part in ("PK", "SK")),
    }


def test_a_table_without_indexes_leaves_the_list_out() -> None:
    assert "GlobalSecondaryIndexes" not in TableSpec(indexes=()).create_request("shop")
