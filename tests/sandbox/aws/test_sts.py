import re
from time import time

import pytest
from botocore.exceptions import ClientError

from gateway.aws.wire.credentials import Credentials
from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.aws.responses import AwsFault
from gateway.sandbox.aws.sts import read_form, role_request
from tests.sandbox.documents import ACCOUNT, EDITOR, TABLE, TENANT_ROLE, VIEWER
from tests.sandbox.small import Small
from tests.sandbox.wire import assume, boto, dynamodb, error_name, given_keys, send, sts

GOOD = {
    "Action": "AssumeRole",
    "RoleArn": TENANT_ROLE,
    "RoleSessionName": "viewer@acme",
    "Tags.member.1.Key": "TenantId",
    "Tags.member.1.Value": "acme",
}


async def _assume(small: Small, caller: Credentials, **form: str) -> tuple[int, str]:
    """The status, and the access key or the error code."""
    answer = await send(small.app, sts(caller, **form))
    found = re.search(r"<(?:AccessKeyId|Code)>([^<]+)<", answer.text)
    return answer.status_code, found[1] if found else ""


def test_boto3_assumes_a_role_and_reads_with_it(assembly: SandboxAssembly) -> None:
    with boto("sts", assembly.ready.url, assembly.ready.gateway) as client:
        answer = client.assume_role(
            RoleArn=TENANT_ROLE,
            RoleSessionName="viewer@acme",
            SourceIdentity="acme",
            Tags=[{"Key": "TenantId", "Value": "acme"}, {"Key": "GatewayRole", "Value": "viewer"}],
            Policy=VIEWER,
            DurationSeconds=900,
        )
    assert answer["AssumedRoleUser"]["Arn"] == f"arn:aws:sts::{ACCOUNT}:assumed-role/gateway-tenant/viewer@acme"
    assert answer["SourceIdentity"] == "acme"
    assert 0 < answer["PackedPolicySize"] <= 100
    assert abs(answer["Credentials"]["Expiration"].timestamp() - time() - 900) < 30
    given = answer["Credentials"]
    session = Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    with boto("sts", assembly.ready.url, session) as client:
        assert client.get_caller_identity()["Arn"] == answer["AssumedRoleUser"]["Arn"]


def test_everybody_may_ask_who_one_is(assembly: SandboxAssembly) -> None:
    for credentials, arn in (
        (assembly.ready.admin, f"arn:aws:iam::{ACCOUNT}:root"),
        (assembly.ready.gateway, f"arn:aws:sts::{ACCOUNT}:assumed-role/gateway/sandbox"),
    ):
        with boto("sts", assembly.ready.url, credentials) as client:
            found = client.get_caller_identity()
        assert (found["Arn"], found["Account"]) == (arn, ACCOUNT)


def test_the_tag_decides_which_tenant_a_session_reads(assembly: SandboxAssembly) -> None:
    sessions = {tenant: assume(assembly.ready.url, assembly.ready.gateway, tenant) for tenant in ("acme", "globex")}
    for tenant, session in sessions.items():
        with boto("dynamodb", assembly.ready.url, session) as client:
            for other in sessions:
                key = {"PK": {"S": f"TENANT#{other}#USER#u-1001"}, "SK": {"S": "PROFILE"}}
                if other == tenant:
                    assert client.get_item(TableName=TABLE, Key=key)["Item"]["canary"]["S"].startswith(
                        f"canary-{tenant}"
                    )
                else:
                    with pytest.raises(ClientError, match="AccessDenied"):
                        client.get_item(TableName=TABLE, Key=key)


def test_without_a_session_policy_the_role_alone_decides(assembly: SandboxAssembly) -> None:
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme", policy=None)
    key = {"PK": {"S": "TENANT#acme#X"}, "SK": {"S": "X"}}
    with boto("dynamodb", assembly.ready.url, session) as client:
        assert client.delete_item(TableName=TABLE, Key=key)["ResponseMetadata"]["HTTPStatusCode"] == 200


def test_a_session_policy_never_widens_the_role(assembly: SandboxAssembly) -> None:
    everything = '{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"*","Resource":"*"}}'
    session = assume(assembly.ready.url, assembly.ready.gateway, "acme", policy=everything)
    with boto("dynamodb", assembly.ready.url, session) as client, pytest.raises(ClientError, match="AccessDenied"):
        client.get_item(TableName=TABLE, Key={"PK": {"S": "TENANT#globex#USER#u-1001"}, "SK": {"S": "PROFILE"}})


async def test_without_the_tenants_tag_nobody_assumes_the_role(small: Small) -> None:
    untagged = {name: text for name, text in GOOD.items() if not name.startswith("Tags")}
    assert await _assume(small, small.gateway.credentials, **untagged) == (403, "AccessDenied")


async def test_a_caller_that_is_not_trusted_gets_no_session(small: Small) -> None:
    assert await _assume(small, small.admin.credentials, **GOOD) == (403, "AccessDenied")


async def test_a_session_cannot_assume_the_role_for_another_tenant(small: Small) -> None:
    answer = await send(small.app, sts(small.gateway.credentials, **GOOD))
    session = given_keys(answer)
    other = {**GOOD, "Tags.member.1.Value": "globex"}
    assert await _assume(small, session, **other) == (403, "AccessDenied")


async def test_an_absent_role_is_refused_like_a_forbidden_one(small: Small) -> None:
    absent = {**GOOD, "RoleArn": TENANT_ROLE + "-other"}
    assert await _assume(small, small.gateway.credentials, **absent) == (403, "AccessDenied")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"DurationSeconds": "899"}, "ValidationError"),
        ({"DurationSeconds": "3601"}, "ValidationError"),
        ({"DurationSeconds": "soon"}, "ValidationError"),
        ({"RoleSessionName": "a/b"}, "ValidationError"),
        ({"Policy": "{"}, "MalformedPolicyDocument"),
        ({"Policy": EDITOR + " " * 2_048}, "ValidationError"),
        ({"Tags.member.1.Value": "a*"}, "ValidationError"),
        ({"Tags.member.2.Key": "tenantid", "Tags.member.2.Value": "globex"}, "InvalidParameterValue"),
        ({"Tags.member.2.Key": "Other"}, "ValidationError"),
        ({"PolicyArns.member.1.arn": "arn:aws:iam::aws:policy/AdministratorAccess"}, "ValidationError"),
        ({"TokenCode": "123456"}, "ValidationError"),
        ({"Tags.member.01.Key": "TenantId"}, "ValidationError"),
    ],
)
async def test_what_sts_would_refuse_is_refused(small: Small, change: dict[str, str], code: str) -> None:
    assert await _assume(small, small.gateway.credentials, **{**GOOD, **change}) == (400, code)


async def test_a_session_ends_when_its_time_is_over(small: Small) -> None:
    answer = await send(small.app, sts(small.gateway.credentials, **GOOD, DurationSeconds="900"))
    session = given_keys(answer)
    caller = small.registry.find(session.access_key)
    assert caller is not None
    assert caller.credentials.expires_at == pytest.approx(time() + 900, abs=30)
    assert caller.principal["aws:PrincipalTag/TenantId"] == "acme"
    refused = await send(small.app, dynamodb(session, "ListTables", {}))
    assert error_name(refused) == "AccessDeniedException"


async def test_transitive_tags_and_the_source_identity_stay_with_the_session(small: Small) -> None:
    form = {**GOOD, "TransitiveTagKeys.member.1": "tenantid", "SourceIdentity": "acme"}
    _, key = await _assume(small, small.gateway.credentials, **form)
    caller = small.registry.find(key)
    assert caller is not None
    assert caller.trusted is not None
    assert caller.trusted.transitive_tags == {"TenantId": "acme"}
    assert caller.principal["aws:SourceIdentity"] == "acme"


def test_a_form_becomes_a_request() -> None:
    form = {
        "Action": "AssumeRole",
        "Version": "2011-06-15",
        "RoleArn": "arn:aws:iam::222233334444:role/tenant",
        "RoleSessionName": "viewer@acme",
        "DurationSeconds": "900",
        "Policy": "{}",
        "ExternalId": "shared",
        "SourceIdentity": "acme",
        "Tags.member.1.Key": "TenantId",
        "Tags.member.1.Value": "acme",
        "Tags.member.2.Key": "GatewayRole",
        "Tags.member.2.Value": "viewer",
        "TransitiveTagKeys.member.1": "TenantId",
        "PolicyArns.member.1.arn": "arn:aws:iam::aws:policy/ReadOnlyAccess",
    }
    request = role_request(form)
    assert request.tags == (("TenantId", "acme"), ("GatewayRole", "viewer"))
    assert request.transitive_tag_keys == ("TenantId",)
    assert request.policy_arns == ("arn:aws:iam::aws:policy/ReadOnlyAccess",)
    assert (request.duration_seconds, request.policy, request.external_id) == (900, "{}", "shared")


@pytest.mark.parametrize("body", [b"Action=A&Action=B", b"Action", b"\xff=1", b"Action=%ff"])
def test_a_form_that_can_be_read_in_two_ways_is_refused(body: bytes) -> None:
    with pytest.raises(AwsFault) as refused:
        read_form(body)
    assert refused.value.name == "MalformedQueryString"


def test_an_empty_list_is_sent_as_a_name_without_a_value() -> None:
    request = role_request({"RoleArn": "arn", "RoleSessionName": "me", "Tags": "", "PolicyArns": ""})
    assert (request.tags, request.policy_arns) == ((), ())
    with pytest.raises(AwsFault, match="the parameter Tags"):
        role_request({"Tags": "TenantId"})


def test_an_empty_form_asks_for_nothing() -> None:
    assert read_form(b"") == {}
