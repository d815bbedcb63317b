"""STS by boto3: what is sent, what is believed of the answer, what happens when there is none."""

import asyncio
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.exceptions import ReadTimeoutError
from moto import mock_aws

from gateway.aws.boto_sts import BotoSts, verified
from gateway.aws.errors import AccessDenied, AnswerCorrupt, AnswerLate, AwsUnavailable, InvalidRequest
from gateway.aws.session import Key, SessionRules, question
from gateway.aws.sessions import Sessions
from gateway.aws.sts import AssumeRole
from gateway.aws.tenants import Tenants
from gateway.errors import ConfigurationError, IsolationBreach, Throttled
from tests.aws.sts_wire import ASSUMED, answer, refusal, sts
from tests.aws.tenant_world import ACME, GLOBEX, POOLED, ROLES, permissions_for, principal

REQUEST = question(Key(ACME, "viewer", "acme", POOLED), ROLES.policy("viewer"), 900)


@pytest.fixture
def anyio_backend() -> str:
    """One event loop is enough: the work is done in threads."""
    return "asyncio"


async def test_the_credentials_of_the_answer_are_given() -> None:
    async with sts(answer()) as (asked, _):
        credentials = await asked.assume_role(REQUEST)
    assert (credentials.access_key, credentials.secret_key, credentials.session_token) == (
        "ASIAACME",
        "secret",
        "token",
    )
    assert credentials.expires_at == 1_893_456_000.0


async def test_tags_policy_names_and_duration_are_sent_to_the_regional_endpoint() -> None:
    async with sts(answer()) as (asked, wire):
        await asked.assume_role(replace(REQUEST, external_id="partner:1"))
    assert wire.urls == ["https://sts.eu-west-1.amazonaws.com/"]
    assert wire.sent == [
        {
            "Action": "AssumeRole",
            "Version": "2011-06-15",
            "RoleArn": POOLED.role_arn,
            "RoleSessionName": "viewer@acme",
            "SourceIdentity": "acme",
            "Tags.member.1.Key": "TenantId",
            "Tags.member.1.Value": "acme",
            "Tags.member.2.Key": "GatewayRole",
            "Tags.member.2.Value": "viewer",
            "Policy": ROLES.policy("viewer"),
            "DurationSeconds": "900",
            "ExternalId": "partner:1",
        }
    ]


async def test_without_an_external_id_none_is_sent() -> None:
    async with sts(answer()) as (asked, wire):
        await asked.assume_role(REQUEST)
    assert "ExternalId" not in wire.sent[0]


async def test_a_region_gets_one_client_and_its_own_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    # neither of them may send the gateway elsewhere
    monkeypatch.setenv("AWS_STS_REGIONAL_ENDPOINTS", "legacy")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "https://elsewhere.example")
    async with sts(answer(), answer(), answer()) as (asked, wire):
        for region in ("eu-west-1", "cn-north-1", "eu-west-1"):
            await asked.assume_role(replace(REQUEST, region=region))
        assert len(asked._clients) == 2
    assert wire.urls == [
        "https://sts.eu-west-1.amazonaws.com/",
        "https://sts.cn-north-1.amazonaws.com.cn/",
        "https://sts.eu-west-1.amazonaws.com/",
    ]


async def test_an_endpoint_of_ones_own_takes_the_place_of_the_regional_one() -> None:
    async with sts(answer(), endpoint_url="http://127.0.0.1:4566") as (asked, wire):
        await asked.assume_role(REQUEST)
    assert wire.urls == ["http://127.0.0.1:4566/"]


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:sts::123456789012:assumed-role/gateway-tenant/viewer@globex",
        "arn:aws:sts::123456789012:assumed-role/gateway-tenant/admin@acme",
        "arn:aws:sts::123456789012:assumed-role/other/viewer@acme",
        "arn:aws:sts::999999999999:assumed-role/gateway-tenant/viewer@acme",
        "arn:aws-cn:sts::123456789012:assumed-role/gateway-tenant/viewer@acme",
        ASSUMED + "2",
        "",
    ],
)
async def test_credentials_of_another_tenant_or_role_are_refused(arn: str) -> None:
    async with sts(answer(arn)) as (asked, _):
        with pytest.raises(IsolationBreach):
            await asked.assume_role(REQUEST)


async def test_credentials_with_another_source_identity_are_refused() -> None:
    async with sts(answer(identity="globex")) as (asked, _):
        with pytest.raises(IsolationBreach):
            await asked.assume_role(REQUEST)


def test_the_path_of_a_role_is_no_part_of_its_session() -> None:
    request = replace(REQUEST, role_arn="arn:aws:iam::123456789012:role/saas/prod/gateway-tenant")
    expiry: Any = type("Moment", (), {"timestamp": lambda self: 5.0})()
    given = {"AccessKeyId": "A", "SecretAccessKey": "b", "SessionToken": "c", "Expiration": expiry}
    named = {"AssumedRoleUser": {"Arn": ASSUMED}, "SourceIdentity": "acme"}
    assert verified(request, {"Credentials": given, **named}).expires_at == 5.0


@pytest.mark.parametrize(
    "text",
    [
        answer()[1].replace("AssumedRoleUser", "Other"),
        answer()[1].replace("SessionToken", "Other"),
        answer()[1].replace("SourceIdentity", "Other"),
        answer()[1].replace(">token<", "><"),
        answer()[1].replace(">ASIAACME<", "><"),
        answer()[1].replace(">secret<", "><"),
    ],
    ids=["role", "no token", "no source identity", "empty token", "empty key id", "empty secret"],
)
async def test_an_incomplete_answer_is_refused(text: str) -> None:
    async with sts((200, text)) as (asked, _):
        with pytest.raises(AnswerCorrupt, match="incomplete"):
            await asked.assume_role(REQUEST)


@pytest.mark.parametrize("text", ["<html>welcome to the hotel", "<AssumeRoleResponse/>", "", "{}"])
async def test_an_answer_of_another_form_is_refused(text: str) -> None:
    async with sts((200, text)) as (asked, _):
        with pytest.raises(AnswerCorrupt, match="no answer that can be read"):
            await asked.assume_role(REQUEST)


@pytest.mark.parametrize("code", ["PackedPolicyTooLarge", "MalformedPolicyDocument"])
async def test_a_policy_that_sts_does_not_take_is_not_tried_again_and_never_left_out(code: str) -> None:
    async with sts(refusal(code), answer(), attempts=3) as (asked, wire):
        with pytest.raises(InvalidRequest):
            await asked.assume_role(REQUEST)
    assert [sent["Policy"] for sent in wire.sent] == [REQUEST.policy]


async def test_a_refusal_is_asked_once() -> None:
    async with sts(refusal("AccessDenied", 403), answer(), attempts=3) as (asked, wire):
        with pytest.raises(AccessDenied):
            await asked.assume_role(REQUEST)
    assert len(wire.sent) == 1


async def test_a_region_that_does_not_exist_is_not_asked() -> None:
    async with sts(answer()) as (asked, wire):
        with pytest.raises(ConfigurationError, match="not an aws region"):
            await asked.assume_role(replace(REQUEST, region="middle-earth"))
    assert wire.sent == []


async def test_throttling_is_tried_again_with_the_same_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda seconds: None))
    async with sts(refusal("Throttling"), (500, ""), answer(), attempts=3) as (asked, wire):
        credentials = await asked.assume_role(REQUEST)
    assert credentials.access_key == "ASIAACME"
    assert [sent["Policy"] for sent in wire.sent] == [REQUEST.policy] * 3


async def test_throttling_without_end_is_told() -> None:
    async with sts(refusal("Throttling")) as (asked, _):
        with pytest.raises(Throttled):
            await asked.assume_role(REQUEST)


async def test_no_answer_is_an_outage() -> None:
    async with sts(ReadTimeoutError(endpoint_url="https://sts.eu-west-1.amazonaws.com")) as (asked, _):
        with pytest.raises(AnswerLate):
            await asked.assume_role(REQUEST)


async def test_a_gateway_without_credentials_of_its_own_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    async with sts(answer(), keys=False) as (asked, wire):
        with pytest.raises(AwsUnavailable, match="own credentials"):
            await asked.assume_role(REQUEST)
    assert wire.sent == []


async def test_the_event_loop_goes_on_while_sts_is_slow() -> None:
    async with sts(answer()) as (asked, wire):
        wire.gate.clear()
        asking = asyncio.create_task(asked.assume_role(REQUEST))
        await asyncio.sleep(0.02)
        assert not asking.done()
        wire.gate.set()
        assert (await asking).access_key == "ASIAACME"


async def test_the_wrong_tenants_credentials_open_no_session() -> None:
    async with sts(answer(), answer()) as (asked, _):
        sessions = Sessions(asked, Tenants(POOLED), ROLES, permissions_for, SessionRules(seconds=900))
        with pytest.raises(IsolationBreach):
            await sessions.open(principal(GLOBEX))
        assert (await sessions.open(principal(ACME))).credentials.access_key == "ASIAACME"
        await sessions.close()


async def test_moto_answers_what_is_asked() -> None:
    def identified(parsed: dict[str, Any], **_: Any) -> None:
        # moto leaves out what AWS repeats of the request
        parsed["SourceIdentity"] = parsed["AssumedRoleUser"]["Arn"].rpartition("@")[2]

    with mock_aws():
        session = boto3.Session(aws_access_key_id="AKIAGATEWAY", aws_secret_access_key="secret")
        session.events.register("after-call.sts.AssumeRole", identified)
        asked = BotoSts(session)
        requests: list[AssumeRole] = [
            question(Key(tenant, "viewer", tenant, POOLED), ROLES.policy("viewer"), 900) for tenant in (ACME, GLOBEX)
        ]
        one, other = await asyncio.gather(*map(asked.assume_role, requests))
        await asked.close()
    assert one.access_key != other.access_key
