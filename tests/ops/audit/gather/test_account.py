import os
import socket
from collections.abc import Iterator

import pytest
from moto import mock_aws
from moto.core import set_initial_no_auth_action_count

from gateway.aws.wire.credentials import Credentials
from gateway.errors import ConfigurationError
from gateway.ops.audit.facts import NotHere, UnknownFact
from gateway.ops.audit.gather.account import AuditedAccount, FactUnavailable, Live, learn
from tests.ops.audit.fixtures import REGION, client


@pytest.fixture
def live() -> Iterator[Live]:
    with mock_aws():
        made = Live(AuditedAccount(REGION, credentials=Credentials("test", "test")))
        yield made
        made.close()


def test_an_answer_is_handed_on(live: Live) -> None:
    assert live.call("dynamodb", "list_tables")["TableNames"] == []
    assert live.pages("dynamodb", "list_tables", "TableNames") == []


def test_a_failure_names_the_action_and_the_code(live: Live) -> None:
    with pytest.raises(FactUnavailable) as caught:
        live.call("dynamodb", "describe_table", TableName="absent")
    assert caught.value.code == "ResourceNotFoundException"
    assert caught.value.missing == UnknownFact("`dynamodb:DescribeTable` failed: ResourceNotFoundException")


@mock_aws
@set_initial_no_auth_action_count(2)
def test_a_denial_says_which_permission_is_missing() -> None:
    # the two first calls are free, then moto asks IAM, as AWS does
    client("iam").create_user(UserName="auditor")
    key = client("iam").create_access_key(UserName="auditor")["AccessKey"]
    live = Live(AuditedAccount(REGION, credentials=Credentials(key["AccessKeyId"], key["SecretAccessKey"])))
    found = learn(lambda: live.pages("iam", "list_role_policies", "PolicyNames", RoleName="any"))
    live.close()
    assert isinstance(found, UnknownFact)
    assert found.reason == "no permission for `iam:ListRolePolicies`"


@pytest.mark.parametrize("code", ["AccessDenied", "AccessDeniedException", "UnauthorizedOperation"])
def test_every_word_for_a_denial_is_understood(code: str) -> None:
    from gateway.ops.audit.gather.account import _unknown

    found = _unknown("ec2", "describe_vpc_endpoints", code)
    assert found.reason == "no permission for `ec2:DescribeVpcEndpoints`"
    assert "docs/audit.md" in found.fix


def test_behind_an_endpoint_only_dynamodb_is_asked() -> None:
    live = Live(AuditedAccount(REGION, "http://127.0.0.1:9"))
    found = learn(lambda: live.call("iam", "get_role", RoleName="any"))
    assert found == NotHere("there is no iam at http://127.0.0.1:9, only DynamoDB")


def test_an_address_that_nobody_answers_at_is_unknown() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # bound and not listening: whoever connects is refused
        live = Live(
            AuditedAccount(REGION, f"http://127.0.0.1:{taken.getsockname()[1]}", credentials=Credentials("a", "b"))
        )
        found = learn(lambda: live.call("dynamodb", "list_tables"))
        live.close()
    assert isinstance(found, UnknownFact)
    assert found.reason.startswith("dynamodb cannot be called: Could not connect to the endpoint URL")


def test_keys_do_not_show() -> None:
    assert "secret-text" not in repr(AuditedAccount(REGION, credentials=Credentials("key", "secret-text")))


def test_a_profile_that_does_not_exist_is_reported() -> None:
    with pytest.raises(ConfigurationError, match=r"--profile: `no-such-profile` cannot be used: .*could not be found"):
        Live(AuditedAccount(REGION, profile="no-such-profile"))


def test_an_invalid_address_is_unknown() -> None:
    live = Live(AuditedAccount(REGION, "not an address", credentials=Credentials("a", "b")))
    found = learn(lambda: live.call("dynamodb", "list_tables"))
    assert found == UnknownFact("dynamodb cannot be called: Invalid endpoint: not an address")


def test_without_credentials_nothing_can_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    found = learn(lambda: Live(AuditedAccount(REGION, "http://127.0.0.1:9")).call("dynamodb", "list_tables"))
    assert found == UnknownFact("there are no AWS credentials", "log in, or pass `--profile`")
