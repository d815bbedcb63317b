"""An STS that follows a script behind a real socket, and the client that asks it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

import boto3
from botocore.session import get_session

from gateway.aws.sts.sts_client import StsClient
from gateway.aws.wire.retry import RetryRules
from tests.aws.fake import Behaviour, FakeAws, fake_aws, raw, response

# reads the files of botocore once for all tests
LOADER = get_session().get_component("data_loader")
ASSUMED = "arn:aws:sts::123456789012:assumed-role/gateway-tenant/viewer@acme"


def text(arn: str = ASSUMED, identity: str = "acme") -> str:
    return f"""<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
        <SourceIdentity>{identity}</SourceIdentity>
        <AssumedRoleUser><Arn>{arn}</Arn><AssumedRoleId>AROA:viewer</AssumedRoleId></AssumedRoleUser>
        <Credentials><AccessKeyId>ASIAACME</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
        <SessionToken>token</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials>
        <PackedPolicySize>12</PackedPolicySize></AssumeRoleResult>
        <ResponseMetadata><RequestId>request-1</RequestId></ResponseMetadata></AssumeRoleResponse>"""


def saying(body: str, status: int = 200) -> Behaviour:
    return raw(response(body.encode(), status, {"Content-Type": "text/xml"}))


def answer(arn: str = ASSUMED, identity: str = "acme") -> Behaviour:
    return saying(text(arn, identity))


def refusal_text(code: str) -> str:
    return (
        '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>'
        f"<Code>{code}</Code><Message>arn:aws:iam::123456789012:role/secret said no</Message></Error>"
        "<RequestId>request-1</RequestId></ErrorResponse>"
    )


def refusal(code: str, status: int = 400) -> Behaviour:
    return saying(refusal_text(code), status)


def own_session(*, keys: bool = True) -> boto3.Session:
    own = {"aws_access_key_id": "AKIAGATEWAY", "aws_secret_access_key": "secret"} if keys else {}
    core = get_session()
    core.register_component("data_loader", LOADER)
    return boto3.Session(**own, botocore_session=core)


def forms(fake: FakeAws) -> list[dict[str, str]]:
    """What was sent."""
    return [{name: values[0] for name, values in parse_qs(each.body.decode()).items()} for each in fake.received]


async def _at_once() -> None:
    """A rate that lets everything pass."""


@asynccontextmanager
async def sts(
    *script: Behaviour, attempts: int = 1, keys: bool = True, before_retry: Callable[[], Awaitable[None]] = _at_once
) -> AsyncIterator[tuple[StsClient, FakeAws]]:
    async with fake_aws(*script) as fake:
        client = StsClient(
            own_session(keys=keys),
            endpoint_url=fake.target.url,
            retry=RetryRules(attempts, pause=0.001, throttled_pause=0.001),
            before_retry=before_retry,
        )
        try:
            yield client, fake
        finally:
            await client.close()
