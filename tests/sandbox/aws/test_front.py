import json
from zlib import crc32

import httpx2
import pytest
from botocore.exceptions import ClientError

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.aws.wire.endpoint import AwsTarget
from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.aws.engine import EngineResponse
from tests.sandbox.documents import ACCOUNT, TABLE, TABLE_ARN
from tests.sandbox.small import Small
from tests.sandbox.wire import URL, Signed, assume, boto, dynamodb, error_name, send, sts

USER = {"PK": {"S": "TENANT#acme#USER#u-1001"}, "SK": {"S": "PROFILE"}}
FOREIGN = {"PK": {"S": "TENANT#globex#USER#u-1001"}, "SK": {"S": "PROFILE"}}


async def test_an_answer_has_the_headers_of_dynamodb(small: Small) -> None:
    answer = await send(small.app, dynamodb(small.admin.credentials, "ListTables", {}))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-amz-json-1.0"
    assert answer.headers["x-amz-crc32"] == str(crc32(answer.content))
    assert len(answer.headers["x-amzn-requestid"]) == 52


async def test_the_engine_gets_what_was_checked_and_nothing_else(small: Small) -> None:
    text = b'{ "TableName" : "some-table", "Key": {"PK": {"S": "\\u0061"}} }'
    await send(small.app, dynamodb(small.admin.credentials, "GetItem", text))
    body = {"TableName": "some-table", "Key": {"PK": {"S": "a"}}}
    assert small.engine.called == [("DynamoDB_20120810.GetItem", json.dumps(body).encode())]


@pytest.mark.parametrize(
    "text",
    [
        b'{"TableName": "mine", "TableName": "theirs"}',
        b'{"Key": {"PK": {"S": "mine"}, "PK": {"S": "theirs"}}}',
        b'{"Limit": NaN}',
        b"[]",
        b"no json",
        b"\xff",
        b"[" * 100_000,
    ],
)
async def test_a_body_that_can_be_read_in_two_ways_is_refused(small: Small, text: bytes) -> None:
    answer = await send(small.app, dynamodb(small.admin.credentials, "GetItem", text))
    assert (answer.status_code, error_name(answer)) == (400, "SerializationException")
    assert small.engine.called == []


@pytest.mark.parametrize("target", ["Kinesis_20131202.PutRecord", "DynamoDB_20120810.", "DynamoDB_20120810.Get/Item"])
async def test_another_api_is_unknown(small: Small, target: str) -> None:
    answer = await send(small.app, dynamodb(small.admin.credentials, target, {}))
    assert (answer.status_code, error_name(answer)) == (400, "UnknownOperationException")
    assert small.engine.called == []


async def test_a_body_above_16_mb_is_refused(small: Small) -> None:
    answer = await send(small.app, dynamodb(small.admin.credentials, "PutItem", b" " * (16 * 1024 * 1024 + 1)))
    assert (answer.status_code, error_name(answer)) == (413, "RequestEntityTooLargeException")


async def test_a_query_string_is_refused(small: Small) -> None:
    answer = await send(small.app, dynamodb(small.admin.credentials, "ListTables", {}), path="/?Action=Scan")
    assert error_name(answer) == "IncompleteSignatureException"


async def test_a_page_under_another_name_does_not_reach_the_sandbox(small: Small) -> None:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(small.app), base_url=URL) as client:
        answers = [await client.get("/healthz", headers={"Host": host}) for host in ("attacker.example", "localhost")]
    assert [answer.status_code for answer in answers] == [400, 200]


async def test_an_error_of_the_engine_passes_through(small: Small) -> None:
    small.engine.answer = EngineResponse(
        400, b'{"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"}'
    )
    answer = await send(small.app, dynamodb(small.admin.credentials, "GetItem", {"TableName": "absent"}))
    assert (answer.status_code, error_name(answer)) == (400, "ResourceNotFoundException")


async def test_an_unforeseen_failure_is_an_internal_error_without_details(small: Small) -> None:
    small.engine.answer = None  # type: ignore[assignment]  # the engine breaks its contract
    answer = await send(small.app, dynamodb(small.admin.credentials, "GetItem", {}))
    assert (answer.status_code, error_name(answer)) == (500, "InternalServerError")
    assert "NoneType" not in answer.text


async def test_sts_speaks_xml_also_when_it_fails(small: Small) -> None:
    answer = await send(small.app, sts(small.admin.credentials, Action="GetSessionToken"))
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/xml")
    assert "<Code>InvalidAction</Code>" in answer.text


def test_a_tenant_reads_its_own_rows_and_no_others(assembly: SandboxAssembly) -> None:
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme")
    with boto("dynamodb", assembly.ready.url, session) as client:
        found = client.get_item(TableName=TABLE, Key=USER)["Item"]
        assert found["name"]["S"] == "Robin Hale"
        with pytest.raises(ClientError) as refused:
            client.get_item(TableName=TABLE, Key=FOREIGN)
    assert refused.value.response["Error"] == {
        "Code": "AccessDeniedException",
        "Message": f"User: arn:aws:sts::{ACCOUNT}:assumed-role/gateway-tenant/viewer@acme is not authorized to "
        f"perform: dynamodb:GetItem on resource: {TABLE_ARN} because no identity-based policy allows the "
        "dynamodb:GetItem action",
    }


def test_a_batch_with_one_foreign_key_is_refused_as_a_whole(assembly: SandboxAssembly) -> None:
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme")
    with boto("dynamodb", assembly.ready.url, session) as client, pytest.raises(ClientError, match="AccessDenied"):
        client.batch_get_item(RequestItems={TABLE: {"Keys": [USER, FOREIGN]}})


def test_a_session_policy_takes_away_what_the_role_has(assembly: SandboxAssembly) -> None:
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme")
    with boto("dynamodb", assembly.ready.url, session) as client, pytest.raises(ClientError) as refused:
        client.delete_item(TableName=TABLE, Key=USER)
    assert "because no session policy allows the dynamodb:DeleteItem action" in str(refused.value)


def test_an_explicit_denial_says_so(assembly: SandboxAssembly) -> None:
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme")
    with boto("dynamodb", assembly.ready.url, session) as client, pytest.raises(ClientError) as refused:
        client.scan(TableName=TABLE)
    assert "dynamodb:Scan on resource" in str(refused.value)
    assert "with an explicit deny in an identity-based policy" in str(refused.value)


@pytest.mark.parametrize("table", ["other-table", TABLE_ARN.replace(ACCOUNT, "999988887777")])
def test_another_table_is_refused(assembly: SandboxAssembly, table: str) -> None:
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme")
    with boto("dynamodb", assembly.ready.url, session) as client, pytest.raises(ClientError, match="AccessDenied"):
        client.get_item(TableName=table, Key=USER)


def test_the_gateway_itself_reads_nothing(assembly: SandboxAssembly) -> None:
    with boto("dynamodb", assembly.ready.url, assembly.ready.gateway) as client, pytest.raises(ClientError) as refused:
        client.get_item(TableName=TABLE, Key=USER)
    assert "no identity-based policy allows the dynamodb:GetItem action" in str(refused.value)


def test_the_administrator_makes_tables_that_tenants_may_then_not_reach(assembly: SandboxAssembly) -> None:
    key = {"AttributeName": "id", "KeyType": "HASH"}
    with boto("dynamodb", assembly.ready.url, assembly.ready.admin) as client:
        client.create_table(
            TableName="side-table",
            KeySchema=[key],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme")
    with boto("dynamodb", assembly.ready.url, session) as client, pytest.raises(ClientError, match="AccessDenied"):
        client.get_item(TableName="side-table", Key={"id": {"S": "TENANT#acme#x"}})


async def test_the_gateways_own_client_is_understood(assembly: SandboxAssembly) -> None:
    ready = assembly.ready
    admin = Credentials(ready.admin.access_key, ready.admin.secret_key)
    async with DynamoDBClient() as client:
        body = {"TableName": ready.table, "Key": USER}
        found = await client.call("GetItem", body, credentials=admin, target=AwsTarget(ready.url, ready.region))
    assert found["Item"]["userId"] == {"S": "u-1001"}


async def _refusal(small: Small, request: Signed) -> str:
    answer = await send(small.app, request)
    assert answer.status_code == 400
    assert small.engine.called == []
    return error_name(answer)


async def test_an_unknown_key_is_refused(small: Small) -> None:
    request = dynamodb(Credentials("AKIAUNKNOWN", "secret"), "GetItem", {})
    assert await _refusal(small, request) == "UnrecognizedClientException"


async def test_a_session_works_until_it_ends(small: Small) -> None:
    session = small.session(seconds=200)
    assert (await send(small.app, dynamodb(session.credentials, "GetItem", {}))).status_code == 200
    small.engine.called.clear()
    small.skew = 201
    assert await _refusal(small, dynamodb(session.credentials, "GetItem", {})) == "ExpiredTokenException"


async def test_a_session_key_without_its_token_is_nothing(small: Small) -> None:
    keys = small.session().credentials
    for token in (None, "another", small.session().credentials.session_token):
        request = dynamodb(Credentials(keys.access_key, keys.secret_key, token), "GetItem", {})
        assert await _refusal(small, request) == "UnrecognizedClientException"


async def test_a_lasting_key_takes_no_token(small: Small) -> None:
    keys = small.admin.credentials
    request = dynamodb(Credentials(keys.access_key, keys.secret_key, "token"), "GetItem", {})
    assert await _refusal(small, request) == "UnrecognizedClientException"


async def test_a_signature_for_another_region_is_refused(small: Small) -> None:
    request = dynamodb(small.admin.credentials, "GetItem", {}, region="us-east-1")
    assert await _refusal(small, request) == "InvalidSignatureException"


async def test_a_signature_for_another_api_is_refused(small: Small) -> None:
    request = dynamodb(small.admin.credentials, "GetItem", {}, api="sts")
    assert await _refusal(small, request) == "InvalidSignatureException"


async def test_sts_names_the_same_faults_in_its_own_way(small: Small) -> None:
    cases = {
        "InvalidClientTokenId": sts(Credentials("AKIAUNKNOWN", "secret"), Action="GetCallerIdentity"),
        "SignatureDoesNotMatch": sts(
            Credentials(small.admin.credentials.access_key, "guessed"), Action="GetCallerIdentity"
        ),
        "MissingAuthenticationToken": Signed({}, b"Action=GetCallerIdentity"),
    }
    for name, request in cases.items():
        answer = await send(small.app, request)
        assert (answer.status_code, f"<Code>{name}</Code>" in answer.text) == (403, True)
