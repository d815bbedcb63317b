"""The wire between boto3 and STS, cut just before the socket: what is sent is seen, what comes back is scripted."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import boto3
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.session import get_session

from gateway.aws.boto_sts import BotoSts, StsLimits

# reads the files of botocore once for all tests
LOADER = get_session().get_component("data_loader")
ASSUMED = "arn:aws:sts::123456789012:assumed-role/gateway-tenant/viewer@acme"


def answer(arn: str = ASSUMED, identity: str = "acme") -> tuple[int, str]:
    return (
        200,
        f"""<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>
        <SourceIdentity>{identity}</SourceIdentity>
        <AssumedRoleUser><Arn>{arn}</Arn><AssumedRoleId>AROA:viewer</AssumedRoleId></AssumedRoleUser>
        <Credentials><AccessKeyId>ASIAACME</AccessKeyId><SecretAccessKey>secret</SecretAccessKey>
        <SessionToken>token</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials>
        </AssumeRoleResult></AssumeRoleResponse>""",
    )


def refusal(code: str, status: int = 400) -> tuple[int, str]:
    return status, f"<ErrorResponse><Error><Code>{code}</Code><Message>no</Message></Error></ErrorResponse>"


class _Body:
    """What botocore reads an answer from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


@dataclass(slots=True)
class Wire:
    """Stands where botocore would open a connection, and answers by a script."""

    script: list[tuple[int, str] | Exception]
    urls: list[str] = field(default_factory=list)
    sent: list[dict[str, str]] = field(default_factory=list)
    # closed, it lets no answer through
    gate: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: Any, **_: Any) -> AWSResponse:
        self.urls.append(request.url)
        form = request.body if isinstance(request.body, str) else request.body.decode()
        self.sent.append({name: values[0] for name, values in parse_qs(form).items()})
        self.gate.wait(10)
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        status, text = step
        body: Any = _Body(text.encode())
        return AWSResponse(request.url, status, HTTPHeaders(), body)


@asynccontextmanager
async def sts(
    *script: tuple[int, str] | Exception, attempts: int = 1, endpoint_url: str | None = None, keys: bool = True
) -> AsyncIterator[tuple[BotoSts, Wire]]:
    wire = Wire(list(script))
    wire.gate.set()
    own = {"aws_access_key_id": "AKIAGATEWAY", "aws_secret_access_key": "secret"} if keys else {}
    core = get_session()
    core.register_component("data_loader", LOADER)
    session = boto3.Session(**own, botocore_session=core)
    answering: Any = wire
    session.events.register("before-send.sts", answering)
    asked = BotoSts(session, StsLimits(threads=2, attempts=attempts), endpoint_url=endpoint_url)
    try:
        yield asked, wire
    finally:
        wire.gate.set()
        await asked.close()
