"""What DynamoDB refuses by its form is refused in its words, before moto sees it."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.aws.request_checks import check_start
from gateway.sandbox.aws.responses import AwsFault
from tests.sandbox.documents import TABLE
from tests.sandbox.small import Small
from tests.sandbox.wire import boto, dynamodb, error_name, send

QUERY = {
    "TableName": TABLE,
    "KeyConditionExpression": "#pk = :pk",
    "ExpressionAttributeNames": {"#pk": "PK"},
    "ExpressionAttributeValues": {":pk": {"S": "TENANT#acme#USER#u-1001"}},
}
START = {"PK": {"S": "TENANT#acme#USER#u-1001"}, "SK": {"S": "PROFILE"}}
LEGACY = {
    "TableName": TABLE,
    "KeyConditions": {
        "PK": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "TENANT#acme#USER#u-1001"}]},
    },
}


async def refused(small: Small, operation: str, body: dict[str, Any]) -> tuple[str, str]:
    answer = await send(small.app, dynamodb(small.admin.credentials, operation, body))
    assert answer.status_code == 400
    assert small.engine.called == []
    return error_name(answer), answer.json()["message"]


@pytest.mark.parametrize("operation", ["Query", "Scan"])
@pytest.mark.parametrize("limit", [0, -1, -(10**30)])
async def test_a_limit_below_one_is_invalid(small: Small, operation: str, limit: int) -> None:
    name, message = await refused(small, operation, {**QUERY, "Limit": limit})
    assert name == "ValidationException"
    assert message == (
        f"1 validation error detected: Value '{limit}' at 'limit' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"
    )


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("1", "STRING_VALUE cannot be converted to Integer"),
        ("", "STRING_VALUE cannot be converted to Integer"),
        (1.5, "DECIMAL_VALUE cannot be converted to Integer"),
        (True, "TRUE_VALUE cannot be converted to Integer"),
        (False, "FALSE_VALUE cannot be converted to Integer"),
        ([1], "Unrecognized collection type class java.lang.Integer"),
        ({"N": "1"}, "Start of structure or map found where not expected"),
    ],
)
async def test_a_limit_that_is_no_whole_number_cannot_be_read(small: Small, limit: Any, said: str) -> None:
    assert await refused(small, "Query", {**QUERY, "Limit": limit}) == ("SerializationException", said)


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", {"Key": {"PK": {"B": "###"}, "SK": {"S": "a"}}}),
        ("GetItem", {"Key": {"PK": {"B": "####"}, "SK": {"S": "a"}}}),
        ("PutItem", {"Item": {"PK": {"S": "a"}, "SK": {"S": "b"}, "x": {"L": [{"M": {"y": {"B": "a"}}}]}}}),
        ("PutItem", {"Item": {"PK": {"S": "a"}, "SK": {"S": "b"}, "x": {"BS": ["QUJD", "A==="]}}}),
        ("Query", {**QUERY, "ExpressionAttributeValues": {":pk": {"B": "=AAA"}}}),
    ],
)
async def test_bytes_that_are_no_base64_cannot_be_read(small: Small, operation: str, body: dict[str, Any]) -> None:
    name, message = await refused(small, operation, {"TableName": TABLE, **body})
    assert name == "SerializationException"
    assert "Base64" in message


@pytest.mark.parametrize(
    ("value", "name", "said"),
    [
        ({"S": 5}, "SerializationException", "NUMBER_VALUE cannot be converted to String"),
        ({"S": True}, "SerializationException", "TRUE_VALUE cannot be converted to String"),
        ({"N": 5}, "SerializationException", "NUMBER_VALUE cannot be converted to String"),
        ({"B": 5}, "SerializationException", "NUMBER_VALUE cannot be converted to ByteBuffer"),
        ({"B": ["QUJD"]}, "SerializationException", "Unrecognized collection type class java.lang.ByteBuffer"),
        ({"SS": ["a", 5]}, "SerializationException", "NUMBER_VALUE cannot be converted to String"),
        ({"N": "abc"}, "ValidationException", "The parameter cannot be converted to a numeric value: abc"),
        ({"N": "NaN"}, "ValidationException", "The parameter cannot be converted to a numeric value: NaN"),
        ({"NS": ["1", "x"]}, "ValidationException", "The parameter cannot be converted to a numeric value: x"),
    ],
)
async def test_a_value_of_another_type_cannot_be_read(
    small: Small, value: dict[str, Any], name: str, said: str
) -> None:
    item = {"PK": {"S": "a"}, "SK": {"S": "b"}, "x": {"M": {"y": value}}}
    assert await refused(small, "PutItem", {"TableName": TABLE, "Item": item}) == (name, said)


@pytest.mark.parametrize("number", ["0", "-1.5", "+.5", "1e3", "1E-130", "5."])
async def test_numbers_are_written_in_many_ways(small: Small, number: str) -> None:
    item = {"PK": {"S": "a"}, "SK": {"S": "b"}, "x": {"N": number}}
    answer = await send(small.app, dynamodb(small.admin.credentials, "PutItem", {"TableName": TABLE, "Item": item}))
    assert answer.status_code == 200


@pytest.mark.parametrize("start", ["a", ["a"], 5])
async def test_a_start_that_is_no_key_cannot_be_read(small: Small, start: Any) -> None:
    name, _ = await refused(small, "Query", {**QUERY, "ExclusiveStartKey": start})
    assert name == "SerializationException"


async def test_an_attribute_may_be_called_like_a_type(small: Small) -> None:
    item = {"PK": {"S": "a"}, "SK": {"S": "b"}, "x": {"M": {"B": {"S": "no base64"}}}}
    for body in ({"Item": item}, {"Item": {**item, "seal": {"B": "QUJD"}}}):
        answer = await send(small.app, dynamodb(small.admin.credentials, "PutItem", {"TableName": TABLE, **body}))
        assert answer.status_code == 200


@pytest.mark.parametrize("query", [QUERY, LEGACY], ids=["expression", "conditions"])
@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({"PK": {"S": "TENANT#globex#USER#u-1001"}, "SK": {"S": "PROFILE"}}, "outside query boundaries"),
        ({"PK": {"B": "QUJD"}, "SK": {"S": "PROFILE"}}, "outside query boundaries"),
        ({"SK": {"S": "PROFILE"}}, "starting key is invalid"),
        ({"PK": {"S": "TENANT#acme#USER#u-1001"}}, "starting key is invalid"),
        ({**START, "x": {"S": "y"}}, "starting key is invalid"),
        ({**START, "GSI1PK": {"S": "TENANT#acme#x"}, "GSI1SK": {"S": "x"}}, "starting key is invalid"),
        ({**START, "SK": {"N": "1"}}, "does not match the schema"),
    ],
)
def test_a_page_begins_in_the_partition_that_is_asked_for(
    assembly: SandboxAssembly, query: dict[str, Any], start: dict[str, Any], said: str
) -> None:
    with (
        boto("dynamodb", assembly.ready.url, assembly.ready.admin) as client,
        pytest.raises(ClientError, match=said) as raised,
    ):
        client.query(**query, ExclusiveStartKey=start)
    assert raised.value.response["Error"]["Code"] == "ValidationException"


def ranged(condition: str, *values: dict[str, str]) -> dict[str, Any]:
    given = {f":{number}": value for number, value in enumerate(values)}
    return {
        **QUERY,
        "KeyConditionExpression": f"#pk = :pk AND {condition}",
        "ExpressionAttributeValues": {**QUERY["ExpressionAttributeValues"], **given},  # type: ignore[dict-item]
    }


def legacy(operator: str, *values: dict[str, str]) -> dict[str, Any]:
    by_key: Any = LEGACY["KeyConditions"]
    range_ = {"ComparisonOperator": operator, "AttributeValueList": [*values]}
    return {"TableName": TABLE, "KeyConditions": {**by_key, "SK": range_}}


RANGES = [
    (ranged("SK = :0", {"S": "PROFILE"}), ["PROFILE"], ["ORDER#1", "PROFILES"]),
    (ranged("begins_with(SK, :0)", {"S": "ORDER#"}), ["ORDER#", "ORDER#1"], ["ORDER", "PROFILE"]),
    (ranged("SK > :0", {"S": "ORDER#2"}), ["ORDER#2", "PROFILE"], ["ORDER#1", "A"]),
    (ranged("SK < :0", {"S": "ORDER#2"}), ["ORDER#1"], ["ORDER#3", "\N{EURO SIGN}"]),
    (ranged("SK BETWEEN :0 AND :1", {"S": "B"}, {"S": "D"}), ["B", "C", "D"], ["A", "DA"]),
    (legacy("BEGINS_WITH", {"S": "ORDER#"}), ["ORDER#1"], ["PROFILE"]),
    (legacy("BETWEEN", {"S": "B"}, {"S": "D"}), ["C"], ["A", "E"]),
    (legacy("GE", {"S": "B"}), ["B"], ["A"]),
]


@pytest.mark.parametrize(("query", "inside", "outside"), RANGES)
def test_a_page_begins_in_the_range_that_is_asked_for(
    assembly: SandboxAssembly, query: dict[str, Any], inside: list[str], outside: list[str]
) -> None:
    with boto("dynamodb", assembly.ready.url, assembly.ready.admin) as client:
        for place in inside:
            client.query(**query, ExclusiveStartKey={**START, "SK": {"S": place}})
        for place in outside:
            with pytest.raises(ClientError, match="outside query boundaries"):
                client.query(**query, ExclusiveStartKey={**START, "SK": {"S": place}})


@pytest.mark.parametrize(
    ("kind", "low", "start", "refused"),
    [("N", "9", "10", "8"), ("N", "-1.5", "-1.4", "-1e1"), ("B", "QUI=", "QUM=", "QQ==")],
)
def test_numbers_and_binary_values_have_their_own_order(kind: str, low: str, start: str, refused: str) -> None:
    body = {**ranged("SK > :0", {kind: low}), "ExclusiveStartKey": {**START, "SK": {kind: start}}}
    check_start("Query", body)
    with pytest.raises(AwsFault, match="outside query boundaries"):
        check_start("Query", {**body, "ExclusiveStartKey": {**START, "SK": {kind: refused}}})


def test_a_page_of_an_index_begins_with_the_keys_of_both(assembly: SandboxAssembly) -> None:
    partition = {"S": "TENANT#acme#CATEGORY#tools"}
    query = {
        "TableName": TABLE,
        "IndexName": "GSI1",
        "KeyConditionExpression": "GSI1PK = :pk",
        "ExpressionAttributeValues": {":pk": partition},
    }
    entry = {"GSI1PK": partition, "GSI1SK": {"S": "PRICE#"}}
    with boto("dynamodb", assembly.ready.url, assembly.ready.admin) as client:
        client.query(**query, ExclusiveStartKey={**START, **entry})
        for start in (entry, {**START, "GSI1PK": partition}):
            with pytest.raises(ClientError, match="starting key is invalid"):
                client.query(**query, ExclusiveStartKey=start)


def test_a_page_goes_on_where_the_one_before_it_ended(assembly: SandboxAssembly) -> None:
    with boto("dynamodb", assembly.ready.url, assembly.ready.admin) as client:
        first = client.query(**QUERY, Limit=1)
        second = client.query(**QUERY, Limit=1, ExclusiveStartKey=first["LastEvaluatedKey"])
    assert first["Items"] != second["Items"]
