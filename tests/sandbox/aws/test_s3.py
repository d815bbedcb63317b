"""The sandbox's S3 before boto3, which signs by itself, and before requests that nobody should make."""

import hashlib
from base64 import b64encode
from collections.abc import AsyncIterator
from time import time
from typing import Any

import boto3
import httpx2
import pytest
from botocore.config import Config
from starlette.applications import Starlette

from gateway.iam.language.document import parse
from gateway.sandbox.aws.account import Account, Registry, administrator, role_holder
from gateway.sandbox.aws.s3 import SandboxS3

REGION, BUCKET = "eu-west-1", "files-1"
ACCOUNT = Account("123456789012", REGION)
ADMIN = administrator(ACCOUNT)
READS = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{BUCKET}/own/*"}
READER = role_holder(ACCOUNT, "reader", (parse({"Version": "2012-10-17", "Statement": READS}, "identity"),))


class Clock:
    ahead = 0.0

    def __call__(self) -> float:
        return time() + self.ahead


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def http(clock: Clock) -> AsyncIterator[httpx2.AsyncClient]:
    registry = Registry()
    for caller in (ADMIN, READER):
        registry.add(caller)
    app = Starlette(routes=SandboxS3(ACCOUNT, registry, clock, BUCKET).routes())
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8001") as client:
        yield client


def url(method: str, key: str, caller: Any = ADMIN, **more: Any) -> str:
    client = boto3.client(
        "s3",
        endpoint_url="http://127.0.0.1:8001",
        region_name=REGION,
        aws_access_key_id=caller.credentials.access_key,
        aws_secret_access_key=caller.credentials.secret_key,
        config=Config(signature_version="s3v4", s3={"addressing_style": "path"}),
    )
    try:
        made: str = client.generate_presigned_url(method, {"Bucket": BUCKET, "Key": key, **more}, ExpiresIn=60)
        return made
    finally:
        client.close()


async def test_boto3_puts_and_gets_an_object(http: httpx2.AsyncClient) -> None:
    key = "own/a b/ü:+@"
    put = await http.put(
        url("put_object", key, ContentType="text/plain"), content=b"hello", headers={"content-type": "text/plain"}
    )
    assert put.status_code == 200
    assert put.headers["x-amz-checksum-sha256"] == b64encode(hashlib.sha256(b"hello").digest()).decode()
    got = await http.get(url("get_object", key, READER))
    assert (got.content, got.headers["content-type"]) == (b"hello", "text/plain")
    head = await http.head(url("head_object", key))
    assert (head.content, head.headers["content-length"]) == (b"", "5")


async def test_iam_decides(http: httpx2.AsyncClient) -> None:
    for refused in (url("put_object", "own/x", READER), url("put_object", "other/x", READER)):
        answer = await http.put(refused, content=b"x")
        assert (answer.status_code, "<Code>AccessDenied</Code>" in answer.text) == (403, True)
    assert (await http.get(url("get_object", "other/x", READER))).status_code == 403


async def test_an_address_is_for_one_request_and_for_its_time(http: httpx2.AsyncClient, clock: Clock) -> None:
    signed = url("get_object", "own/x")
    for wrong in (
        signed.replace("own/x", "own/y"),
        signed[:-1] + ("0" if signed[-1] != "0" else "1"),
        "/files-1/own/x",
    ):
        assert (await http.get(wrong)).status_code == 403
    assert "SignatureDoesNotMatch" in (await http.put(signed, content=b"x")).text
    assert "not signed: x-amz-acl" in (await http.get(signed, headers={"x-amz-acl": "public-read"})).text
    clock.ahead = 61
    assert "Request has expired" in (await http.get(signed)).text
    clock.ahead = -600
    assert (await http.get(signed)).status_code == 403


async def test_other_buckets_regions_and_keys_are_refused(http: httpx2.AsyncClient) -> None:
    signed = url("get_object", "own/x")
    assert (await http.get(signed.replace(REGION, "us-east-1"))).status_code in (400, 403)
    stranger = administrator(ACCOUNT)
    assert "InvalidAccessKeyId" in (await http.get(url("get_object", "own/x", stranger))).text
    assert (await http.options("/files-1/own/x")).headers["access-control-allow-origin"] == "*"
    assert (await http.get(url("get_object", "own/nothing"))).status_code == 403, "as S3 without the right to list"
