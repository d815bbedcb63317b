"""Signed addresses of S3, by the example of AWS's own documentation and by what boto3 makes of the same request."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore import auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials as BotoCredentials

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.s3 import FileBucket, signed
from gateway.errors import Unavailable

SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
KEYS = Credentials("AKIAIOSFODNN7EXAMPLE", SECRET)
EXAMPLE = FileBucket("examplebucket", AwsTarget("https://s3.amazonaws.com", "us-east-1"), seconds=86_400)
NOW = datetime(2013, 5, 24, tzinfo=UTC)


def test_the_example_of_the_documentation() -> None:
    request = signed(EXAMPLE, "GET", "test.txt", KEYS, now=NOW.timestamp())
    assert request.url.startswith("https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&")
    assert request.url.endswith("X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
    assert request.expires_at == NOW.timestamp() + 86_400


@pytest.mark.parametrize("key", ["acme/Paper/scan/p-1/x", "acme/Paper/scan/p:1@+._-/x", "a b/ü"])
def test_it_is_what_boto3_signs(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "get_current_datetime", lambda: NOW.replace(tzinfo=None))
    headers = {"content-length": "12", "content-type": "text/plain", "if-none-match": "*", "x-amz-tagging": "a=b"}
    session = Credentials("ASIAX", "secret", "a token/with+signs=")
    bucket = FileBucket("b-1", AwsTarget("http://127.0.0.1:8001", "eu-west-1"), in_path=True)
    ours = signed(bucket, "PUT", key, session, headers=headers, query={"tagging": ""}, seconds=60, now=NOW.timestamp())
    path = ours.url.partition("?")[0]
    theirs: Any = AWSRequest("PUT", f"{path}?tagging=", headers=headers)
    boto = BotoCredentials("ASIAX", "secret", "a token/with+signs=")
    auth.S3SigV4QueryAuth(boto, "s3", "eu-west-1", expires=60).add_auth(theirs)
    signature = re.compile(r"X-Amz-Signature=([0-9a-f]{64})")
    assert signature.findall(ours.url) == signature.findall(theirs.url)


def test_an_address_never_outlives_its_session() -> None:
    short = Credentials("ASIAX", "secret", "token", NOW.timestamp() + 30)
    assert "X-Amz-Expires=30&" in signed(EXAMPLE, "GET", "x", short, now=NOW.timestamp()).url
    with pytest.raises(Unavailable):
        signed(EXAMPLE, "GET", "x", short, now=NOW.timestamp() + 30)


def test_a_bucket_has_its_own_name_at_aws_and_a_path_at_another_endpoint() -> None:
    aws = FileBucket("b-1", AwsTarget.regional("s3", "eu-west-1"))
    assert aws.address == "https://b-1.s3.eu-west-1.amazonaws.com"
    assert (
        FileBucket("b-1", AwsTarget("http://127.0.0.1:8001/", "eu-west-1"), True).address == "http://127.0.0.1:8001/b-1"
    )
