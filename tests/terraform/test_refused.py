"""What Terraform must not plan."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.terraform.conftest import WorkspaceOf
from tests.terraform.tool import REPOSITORY, Failed, workspace

# all of them in one plan: Terraform checks every variable before it stops
_VALUES: dict[str, Any] = {
    "capacity_mode": "serverless",
    "provisioned": {"read": {"min": 9, "max": 5}, "write": {"min": 1, "max": 5}},
    "issuers": [],
    "run_gateway": True,
    "gateway_image": "registry.example.com/gateway:latest",
    "revoke_sessions": {"all_before": "yesterday"},
    "developers": ["arn:aws:iam::123456789012:root"],
}
_EXPECTED = {
    "an unknown mode of capacity": "The capacity mode is `on_demand` or `provisioned`",
    "a floor above the ceiling": "Each `min` is at least 1 and no larger than its `max`",
    "no issuer": "Name at least one issuer",
    "an image that moves": "Name a version by tag or digest",
    "a time that is none": "Write the time as",
    "a whole account as developer": "no wildcard, no whole account",
}


def _refusal(workspace_of: WorkspaceOf, root: str, **variables: Any) -> str:
    with pytest.raises(Failed) as refused:
        workspace_of(root).plan(**variables)
    return " ".join(str(refused.value).split())


@pytest.fixture(scope="module")
def refusal(workspace_of: WorkspaceOf) -> str:
    return _refusal(workspace_of, "envs/dev", **_VALUES)


@pytest.mark.parametrize("expected", _EXPECTED.values(), ids=_EXPECTED)
def test_a_wrong_value_is_refused(expected: str, refusal: str) -> None:
    assert expected in refusal


def test_credentials_of_another_account_are_refused(workspace_of: WorkspaceOf) -> None:
    assert "not allowed" in _refusal(workspace_of, "envs/dev", account_id="999999999999")


def test_a_document_with_a_token_that_nobody_knows_is_refused(
    provider: None, sources: Path, account: str, tmp_path: Path
) -> None:
    shutil.copytree(REPOSITORY / "policies", tmp_path / "policies")
    boundary = tmp_path / "policies" / "boundary.json"
    boundary.write_text(boundary.read_text().replace("<table>", "<tabel>"))
    iam = workspace(sources, "modules/iam", account)
    iam = replace(iam, environment={**iam.environment, "AWS_REGION": "eu-west-1"})
    with pytest.raises(Failed, match="Nothing is known for <tabel>"):
        iam.plan(name="gateway-x", table_name="gateway-x", policies_dir=str(tmp_path / "policies"))


@pytest.fixture(scope="module")
def together(workspace_of: WorkspaceOf) -> str:
    """Values that are right by themselves and wrong together."""
    return _refusal(
        workspace_of, "envs/prod", dax={}, run_gateway=True, gateway_image="registry.example.com/gateway:1.0.0"
    )


def test_dax_is_refused_without_the_acknowledgement(together: str) -> None:
    assert "DAX does not isolate tenants" in together


def test_a_public_load_balancer_without_a_certificate_is_refused(together: str) -> None:
    assert "Tokens must not cross the internet in the clear" in together
