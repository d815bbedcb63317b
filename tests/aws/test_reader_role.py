"""The role in which the gateway reads from a DAX cluster: who assumes it, where, and what is believed of the answer."""

from typing import Any

import boto3
import pytest
from botocore.session import get_session

from gateway.aws.errors import AnswerCorrupt
from gateway.aws.reader_role import in_role
from tests.aws.sts_wire import LOADER, Wire, answer

ROLE = "arn:aws:iam::123456789012:role/gateway-dax-reader"
ASSUMED = "arn:aws:sts::123456789012:assumed-role/gateway-dax-reader/gateway-dax"


def gateway(*script: tuple[int, str]) -> tuple[boto3.Session, Wire]:
    """The session of the gateway's own role, and the wire between it and STS."""
    wire = Wire(list(script))
    wire.gate.set()
    core = get_session()
    core.register_component("data_loader", LOADER)
    made = boto3.Session("AKIAGATEWAY", "secret", botocore_session=core)
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
    status, text = answer(ASSUMED)
    soon = status, text.replace("2030-01-01", "2020-01-01").replace("ASIAACME", "ASIAOLD")
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
