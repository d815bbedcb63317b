"""The role in which the gateway reads from a DAX cluster: who assumes it, where, and what is believed of the answer."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import boto3
import pytest
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders

from gateway.aws.sts.reader_role import in_role
from gateway.aws.wire.errors import AnswerCorrupt
from tests.aws.sts_wire import own_session, text

ROLE = "arn:aws:iam::123456789012:role/gateway-dax-reader"
ASSUMED = "arn:aws:sts::123456789012:assumed-role/gateway-dax-reader/gateway-dax"


class _Body:
    """What botocore reads an answer from."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self._content


@dataclass(slots=True)
class Wire:
    """Stands where botocore would open a connection, and answers by a script."""

    script: list[tuple[int, str]]
    urls: list[str] = field(default_factory=list)
    sent: list[dict[str, str]] = field(default_factory=list)

    def __call__(self, request: Any, **_: Any) -> AWSResponse:
        self.urls.append(request.url)
        form = request.body if isinstance(request.body, str) else request.body.decode()
        self.sent.append({name: values[0] for name, values in parse_qs(form).items()})
        status, content = self.script.pop(0)
        body: Any = _Body(content.encode())
        return AWSResponse(request.url, status, HTTPHeaders(), body)


def answer(arn: str) -> tuple[int, str]:
    return 200, text(arn)


def gateway(*script: tuple[int, str]) -> tuple[boto3.Session, Wire]:
    """The session of the gateway's own role, and the wire between it and STS."""
    wire = Wire(list(script))
    made = own_session()
    answering: Any = wire
    made.events.register("before-send.sts", answering)
    return made, wire


def test_the_role_is_assumed_when_it_is_needed_by_the_gateways_own_at_the_regional_endpoint() -> None:
    own, wire = gateway(answer(ASSUMED))
    reader = in_role(own, ROLE, "eu-west-1")
    assert wire.sent == []
    credentials: Any = reader.get_credentials()
    assert (credentials.access_key, credentials.secret_key, credentials.token) == ("ASIAACME", "secret", "token")
    assert wire.urls == ["https://sts.eu-west-1.amazonaws.com/"]
    assert wire.sent == [
        {
            "Action": "AssumeRole",
            "Version": "2011-06-15",
            "RoleArn": ROLE,
            "RoleSessionName": "gateway-dax",
            "DurationSeconds": "3600",
        }
    ]
    assert own.get_credentials().access_key == "AKIAGATEWAY"  # type: ignore[union-attr]  # it was made with keys


def test_credentials_that_run_out_are_renewed() -> None:
    status, content = answer(ASSUMED)
    soon = status, content.replace("2030-01-01", "2020-01-01").replace("ASIAACME", "ASIAOLD")
    own, wire = gateway(soon, answer(ASSUMED))
    credentials: Any = in_role(own, ROLE, "eu-west-1").get_credentials()
    with pytest.raises(RuntimeError, match="still expired"):
        _ = credentials.access_key
    assert credentials.access_key == "ASIAACME"
    assert len(wire.sent) == 2


def test_another_endpoint_of_sts_is_used_where_one_is_set() -> None:
    own, wire = gateway(answer(ASSUMED))
    _ = in_role(own, ROLE, "eu-west-1", "http://127.0.0.1:4566").get_credentials().access_key  # type: ignore[union-attr]  # as above
    assert wire.urls == ["http://127.0.0.1:4566/"]


@pytest.mark.parametrize("arn", [ASSUMED.replace("reader", "writer"), ASSUMED.replace("123456789012", "999999999999")])
def test_credentials_of_another_role_are_refused(arn: str) -> None:
    own, _ = gateway(answer(arn))
    credentials: Any = in_role(own, ROLE, "eu-west-1").get_credentials()
    with pytest.raises(AnswerCorrupt, match="another role"):
        _ = credentials.access_key
