"""A call is written as DynamoDB expects it."""

from types import MappingProxyType

import orjson
import pytest
from botocore.session import get_session

from gateway.aws.wire.dynamodb import form, payload
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import InvalidRequest

TARGET = AwsTarget("http://localhost:8000", "local")


def test_the_head_names_the_operation_and_asks_for_no_compression() -> None:
    head = form(TARGET, "GetItem").head
    assert head.startswith("POST / HTTP/1.1\r\nHost: localhost:8000\r\nContent-Type: application/x-amz-json-1.0\r\n")
    assert "X-Amz-Target: DynamoDB_20120810.GetItem\r\n" in head
    assert "Accept-Encoding: identity\r\n" in head


@pytest.mark.parametrize("operation", ["", "getItem", "GetItem\r\nX-Evil: 1", "Get Item", "GetItem\n", "Get.Item"])
def test_an_operation_is_letters_only(operation: str) -> None:
    with pytest.raises(InvalidRequest):
        form(TARGET, operation)


def test_read_only_mappings_are_written_too() -> None:
    body = MappingProxyType({"Key": MappingProxyType({"PK": {"S": "é"}}), "list": ({"N": "1"},)})
    assert orjson.loads(payload("GetItem", body)) == {"Key": {"PK": {"S": "é"}}, "list": [{"N": "1"}]}


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object(), "\ud800"])
def test_what_is_not_json_is_our_fault(value: object) -> None:
    with pytest.raises(InvalidRequest):
        payload("GetItem", {"Key": value})


def test_transactions_get_a_token_unless_they_have_one() -> None:
    first, second = (orjson.loads(payload("TransactWriteItems", {"TransactItems": []})) for _ in range(2))
    assert len(first["ClientRequestToken"]) == 36
    assert first["ClientRequestToken"] != second["ClientRequestToken"]
    assert orjson.loads(payload("TransactWriteItems", {"ClientRequestToken": "mine"})) == {"ClientRequestToken": "mine"}


def test_every_operation_with_an_idempotency_token_gets_one() -> None:
    model = get_session().get_service_model("dynamodb")
    for name in model.operation_names:
        assert set(orjson.loads(payload(name, {}))) == set(model.operation_model(name).idempotent_members)
