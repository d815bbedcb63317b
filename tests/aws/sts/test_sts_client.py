"""AssumeRole: what is sent, what is believed of the answer, what happens when there is none."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotocoreCredentials

from gateway.aws.sts.session import SessionKey, SessionRules, question
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.sts_client import StsClient, sts_target, verified
from gateway.aws.sts.tenants import Tenants
from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.errors import (
    AccessDenied,
    AnswerCorrupt,
    AnswerLate,
    AwsUnavailable,
    ConnectionBroken,
    InvalidRequest,
)
from gateway.aws.wire.retry import RetryRules
from gateway.aws.wire.xml_response import texts
from gateway.errors import ConfigurationError, IsolationBreach, Throttled
from tests.aws.fake import BOTH_LOOPS, after, closing, fake_aws, raw, response, silence
from tests.aws.sts_wire import ASSUMED, answer, forms, own_session, refusal, saying, sts, text
from tests.aws.tenant_fixtures import ACME, GLOBEX, POOLED, ROLES, permissions_for, principal

pytestmark = BOTH_LOOPS
REQUEST = question(SessionKey(ACME, "viewer", "acme", POOLED), ROLES.policy("viewer"), 900)


async def test_the_credentials_of_the_answer_are_given() -> None:
    async with sts(answer()) as (client, _):
        credentials = await client.assume_role(REQUEST)
    assert (credentials.access_key, credentials.secret_key, credentials.session_token) == (
        "ASIAACME",
        "secret",
        "token",
    )
    assert credentials.expires_at == 1_893_456_000.0


async def test_tags_policy_names_and_duration_are_sent() -> None:
    async with sts(answer()) as (client, fake):
        await client.assume_role(replace(REQUEST, external_id="partner:1"))
    assert forms(fake) == [
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


async def test_the_request_is_signed_as_botocore_signs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with sts(answer()) as (client, fake):
        await client.assume_role(REQUEST)
    (sent,) = fake.received
    now = datetime.strptime(sent.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    monkeypatch.setattr("botocore.auth.get_current_datetime", lambda: now)
    headers = {"Content-Type": sent.headers["content-type"]}
    request = AWSRequest("POST", f"{fake.target.url}/", headers=headers, data=sent.body)
    SigV4Auth(BotocoreCredentials("AKIAGATEWAY", "secret"), "sts", "eu-west-1").add_auth(request)
    assert sent.headers["authorization"] == request.headers["Authorization"]


async def test_without_an_external_id_none_is_sent() -> None:
    async with sts(answer()) as (client, fake):
        await client.assume_role(REQUEST)
    assert "ExternalId" not in forms(fake)[0]


async def test_a_connection_serves_one_call_after_the_other() -> None:
    async with sts(answer(), answer()) as (client, fake):
        await client.assume_role(REQUEST)
        await client.assume_role(REQUEST)
    assert fake.connections == [0, 0]


async def test_each_region_has_its_own_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    # neither of them may send the gateway elsewhere
    monkeypatch.setenv("AWS_STS_REGIONAL_ENDPOINTS", "legacy")
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", "https://elsewhere.example")
    assert [sts_target(region, None).url for region in ("eu-west-1", "cn-north-1")] == [
        "https://sts.eu-west-1.amazonaws.com",
        "https://sts.cn-north-1.amazonaws.com.cn",
    ]


async def test_an_endpoint_of_ones_own_takes_the_place_of_the_regional_one() -> None:
    target = sts_target("eu-west-1", "http://127.0.0.1:4566")
    assert (target.url, target.region) == ("http://127.0.0.1:4566", "eu-west-1")


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:sts::123456789012:assumed-role/gateway-tenant/viewer@globex",
        "arn:aws:sts::123456789012:assumed-role/gateway-tenant/admin@acme",
        "arn:aws:sts::123456789012:assumed-role/other/viewer@acme",
        "arn:aws:sts::999999999999:assumed-role/gateway-tenant/viewer@acme",
        "arn:aws-cn:sts::123456789012:assumed-role/gateway-tenant/viewer@acme",
        ASSUMED + "2",
    ],
)
async def test_credentials_of_another_tenant_or_role_are_refused(arn: str) -> None:
    async with sts(answer(arn)) as (client, _):
        with pytest.raises(IsolationBreach):
            await client.assume_role(REQUEST)


async def test_credentials_with_another_source_identity_are_refused() -> None:
    async with sts(answer(identity="globex")) as (client, _):
        with pytest.raises(IsolationBreach):
            await client.assume_role(REQUEST)


async def test_the_path_of_a_role_is_no_part_of_its_session() -> None:
    request = replace(REQUEST, role_arn="arn:aws:iam::123456789012:role/saas/prod/gateway-tenant")
    assert verified(request, texts(text().encode())).access_key == "ASIAACME"


@pytest.mark.parametrize(
    "name", ["Arn", "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration", "SourceIdentity"]
)
@pytest.mark.parametrize("missing", ["Other", ""])
async def test_an_answer_without_one_of_its_parts_is_refused(name: str, missing: str) -> None:
    start, _, rest = text().partition(f"<{name}>")
    value, _, end = rest.partition(f"</{name}>")
    # the part under another name, or there and empty
    damaged = f"{start}<{name}></{name}>{end}" if not missing else f"{start}<{missing}>{value}</{missing}>{end}"
    async with sts(saying(damaged)) as (client, _):
        with pytest.raises(AnswerCorrupt, match="incomplete"):
            await client.assume_role(REQUEST)


@pytest.mark.parametrize("end", ["2030-01-01T00:00:00", "tomorrow", "1893456000"])
async def test_an_end_that_is_not_a_timestamp_is_refused(end: str) -> None:
    async with sts(saying(text().replace("2030-01-01T00:00:00Z", end))) as (client, _):
        with pytest.raises(AnswerCorrupt):
            await client.assume_role(REQUEST)


@pytest.mark.parametrize(
    "body",
    [
        "<html>welcome to the hotel",
        "",
        "{}",
        '<!DOCTYPE a [<!ENTITY b "ASIAACME">]>' + text(),
        text().replace("<SessionToken>token</SessionToken>", "<SessionToken>token</SessionToken>" * 2),
        "<a>" * 100_000,
        text()[:-5],
    ],
)
async def test_an_answer_of_another_form_is_refused(body: str) -> None:
    async with sts(saying(body)) as (client, fake):
        with pytest.raises(AnswerCorrupt, match="no answer that can be read"):
            await client.assume_role(REQUEST)
    assert len(fake.received) == 1


async def test_an_answer_without_end_is_refused() -> None:
    async with sts(raw(response(b"x" * 300_000))) as (client, _):
        with pytest.raises(AnswerCorrupt, match="no answer that can be read"):
            await client.assume_role(REQUEST)


@pytest.mark.parametrize("code", ["PackedPolicyTooLarge", "MalformedPolicyDocument"])
async def test_a_policy_that_sts_does_not_take_is_not_tried_again_and_never_left_out(code: str) -> None:
    async with sts(refusal(code), answer(), attempts=3) as (client, fake):
        with pytest.raises(InvalidRequest):
            await client.assume_role(REQUEST)
    assert [sent["Policy"] for sent in forms(fake)] == [REQUEST.policy]


async def test_a_refusal_is_asked_once() -> None:
    async with sts(refusal("AccessDenied", 403), answer(), attempts=3) as (client, fake):
        with pytest.raises(AccessDenied):
            await client.assume_role(REQUEST)
    assert len(fake.received) == 1


async def test_a_region_that_does_not_exist_is_not_asked() -> None:
    with pytest.raises(ConfigurationError, match="not an aws region"):
        sts_target("middle-earth", None)


async def test_throttling_and_faults_are_tried_again_with_the_same_policy_and_wait_for_the_rate() -> None:
    waits = 0

    async def counted() -> None:
        nonlocal waits
        waits += 1

    script = (refusal("Throttling"), saying("", 500), answer())
    async with sts(*script, attempts=3, before_retry=counted) as (client, fake):
        credentials = await client.assume_role(REQUEST)
    assert credentials.access_key == "ASIAACME"
    assert [sent["Policy"] for sent in forms(fake)] == [REQUEST.policy] * 3
    assert waits == 2


async def test_throttling_without_end_is_reported() -> None:
    async with sts(refusal("Throttling")) as (client, _):
        with pytest.raises(Throttled):
            await client.assume_role(REQUEST)


async def test_no_answer_is_an_outage() -> None:
    async with fake_aws(silence) as fake:
        limits = WireLimits(connections=1, read_seconds=0.02)
        client = StsClient(own_session(), endpoint_url=fake.target.url, limits=limits, retry=RetryRules(1))
        with pytest.raises(AnswerLate, match="sts did not answer in time"):
            await client.assume_role(REQUEST)
        await client.close()


async def test_a_connection_that_breaks_is_an_outage() -> None:
    async with sts(closing(b"HTTP/1.1 200 OK\r\n")) as (client, _):
        with pytest.raises(ConnectionBroken, match="sts cannot be reached"):
            await client.assume_role(REQUEST)


async def test_a_gateway_without_credentials_of_its_own_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    async with sts(answer(), keys=False) as (client, fake):
        with pytest.raises(AwsUnavailable, match="own credentials"):
            await client.assume_role(REQUEST)
    assert fake.received == []


async def test_a_caller_that_is_cancelled_leaves_no_answer_for_the_next() -> None:
    gate = asyncio.Event()
    async with sts(after(gate, answer(identity="globex")), answer()) as (client, fake):
        call = asyncio.create_task(client.assume_role(REQUEST))
        await fake.until_received()
        call.cancel()
        await asyncio.wait((call,))
        gate.set()
        assert (await client.assume_role(REQUEST)).access_key == "ASIAACME"
    assert fake.connections == [0, 1]


async def test_the_wrong_tenants_credentials_open_no_session() -> None:
    async with sts(answer(), answer()) as (client, _):
        sessions = Sessions(client, Tenants(POOLED), ROLES, permissions_for, SessionRules(seconds=900))
        with pytest.raises(IsolationBreach):
            await sessions.open(principal(GLOBEX))
        assert (await sessions.open(principal(ACME))).credentials.access_key == "ASIAACME"
        await sessions.close()


@pytest.mark.parametrize("name", ["AccessKeyId", "SecretAccessKey", "SessionToken"])
async def test_credentials_with_an_empty_part_are_no_sessions(name: str) -> None:
    answer = {**texts(text().encode()), f"AssumeRoleResult/Credentials/{name}": ""}
    with pytest.raises(AnswerCorrupt, match="incomplete"):
        verified(REQUEST, answer)
