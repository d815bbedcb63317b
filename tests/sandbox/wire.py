"""Requests to the sandbox, signed by botocore: what AWS's own SDK signs has to be understood."""

import asyncio
import json
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import boto3
import httpx2
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from gateway.aws.wire.credentials import Credentials
from gateway.sandbox.aws.engine import Engine, EngineResponse
from gateway.sandbox.server import address_of, listen, served_in_thread
from tests.sandbox.documents import REGION, TENANT_ROLE, VIEWER

URL = "http://127.0.0.1:8001"


@dataclass(frozen=True)
class Signed:
    headers: dict[str, str]
    body: bytes


def signed(
    credentials: Credentials, body: bytes, headers: Mapping[str, str], *, api: str = "dynamodb", region: str = REGION
) -> Signed:
    """Moments are those of botocore's clock; `replace` the headers to spoil the request afterwards."""
    request = AWSRequest("POST", f"{URL}/", dict(headers), body)
    keys = BotoCredentials(credentials.access_key, credentials.secret_key, credentials.session_token)
    SigV4Auth(keys, api, region).add_auth(request)
    return Signed(dict(request.headers.items()), body)


def dynamodb(credentials: Credentials, operation: str, body: Any, **scope: str) -> Signed:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    target = operation if "." in operation else f"DynamoDB_20120810.{operation}"
    headers = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.0"}
    return signed(credentials, content, headers, **scope)


def sts(credentials: Credentials, **form: str) -> Signed:
    content = urlencode({"Version": "2011-06-15", **form}).encode()
    return signed(credentials, content, {"Content-Type": "application/x-www-form-urlencoded"}, api="sts")


async def send(app: ASGIApp, request: Signed, path: str = "/") -> httpx2.Response:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=URL) as client:
        return await client.post(path, headers=request.headers, content=request.body)


def given_keys(answer: httpx2.Response) -> Credentials:
    """The keys in an answer of STS."""
    names = ("AccessKeyId", "SecretAccessKey", "SessionToken")
    key, secret, token = (re.findall(rf"<{name}>([^<]+)<", answer.text)[0] for name in names)
    return Credentials(key, secret, token)


def error_name(answer: httpx2.Response) -> str:
    """The name of DynamoDB's error, `` where there is none."""
    return str(answer.json().get("__type", "")).rpartition("#")[2]


@contextmanager
def boto(api: str, url: str, credentials: Credentials) -> Iterator[Any]:
    client = boto3.client(  # type: ignore[call-overload]  # the name is not a literal here
        api,
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id=credentials.access_key,
        aws_secret_access_key=credentials.secret_key,
        aws_session_token=credentials.session_token,
    )
    try:
        yield client
    finally:
        client.close()


def assume(url: str, gateway: Credentials, tenant: str, policy: str | None = VIEWER, **more: Any) -> Credentials:
    """A session of a tenant, as the gateway opens it."""
    arguments = {
        "RoleArn": TENANT_ROLE,
        "RoleSessionName": f"viewer@{tenant}",
        "SourceIdentity": tenant,
        "Tags": [{"Key": "TenantId", "Value": tenant}],
        **({"Policy": policy} if policy is not None else {}),
        **more,
    }
    with boto("sts", url, gateway) as client:
        given = client.assume_role(**arguments)["Credentials"]
    expires_at = given["Expiration"].timestamp()
    return Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"], expires_at)


@dataclass
class Recorded:
    """An engine that answers the same to everything and keeps what it was asked."""

    answer: EngineResponse
    called: list[tuple[str, bytes]] = field(default_factory=list)

    async def call(self, target: str, body: bytes) -> EngineResponse:
        self.called.append((target, body))
        return self.answer

    async def close(self) -> None: ...


@contextmanager
def listening() -> Iterator[tuple[socket.socket, str]]:
    with listen(0) as found:
        yield found, address_of(found)


@contextmanager
def serving(app: ASGIApp, found: socket.socket) -> Iterator[None]:
    with served_in_thread(app, found):
        yield


def closed(engine: Engine) -> None:
    asyncio.run(engine.close())


@contextmanager
def another_engine() -> Iterator[str]:
    """The address of an engine that has every table already and nothing in them."""

    async def answer(request: Request) -> Response:
        if request.headers["x-amz-target"].endswith(".CreateTable"):
            return JSONResponse({"__type": "x#ResourceInUseException"}, 400)
        return JSONResponse({})

    with listening() as (found, url), serving(Starlette(routes=[Route("/", answer, methods=["POST"])]), found):
        yield url
