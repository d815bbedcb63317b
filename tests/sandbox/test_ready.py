import json
from pathlib import Path

from gateway.aws.wire.credentials import Credentials
from gateway.sandbox.__main__ import options_from
from gateway.sandbox.ready import Options, Ready, from_line, to_line

READY = Ready(
    url="http://127.0.0.1:8001",
    region="eu-west-1",
    table="gateway-sandbox",
    role_arn="arn:aws:iam::123456789012:role/gateway-tenant",
    stream_role_arn="arn:aws:iam::123456789012:role/gateway-stream",
    tenants=("acme", "globex"),
    seeded=True,
    admin=Credentials("AKIA1", "secret-one"),
    gateway=Credentials("AKIA2", "secret-two"),
)


def test_what_the_child_says_is_what_the_parent_reads() -> None:
    assert from_line(json.loads(to_line(READY))) == READY


def test_secrets_are_in_the_line_and_in_no_other_text() -> None:
    assert "secret-one" in to_line(READY)
    assert "secret" not in repr(READY)


def test_the_issuer_is_at_the_same_address() -> None:
    assert READY.issuer == "http://127.0.0.1:8001/issuer"
    assert READY.jwks_url == "http://127.0.0.1:8001/issuer/.well-known/jwks.json"


def test_options_survive_the_command_line() -> None:
    for options in (
        Options(),
        Options(
            port=0,
            dynamodb_endpoint="http://127.0.0.1:8002",
            policies=Path("elsewhere"),
            table="other",
            region="us-east-1",
            account="111122223333",
        ),
    ):
        assert options_from(options.arguments()) == options
