"""Names of sessions: legal for AWS, and no two tenants, roles or subjects share one."""

import itertools
import re

import pytest

from gateway.aws.sts.assume_role import AssumeRole, session_name, source_identity, subject_hash, support_identity
from gateway.model.tenant import TenantId, tenant_id
from tests.aws.tenant_fixtures import ACME, ROLE_ARN

LEGAL = re.compile(r"[\w+=,.@-]{2,64}", re.ASCII)
LONG = "x" * 63
TENANTS = [tenant_id(text) for text in ("a0", "a-b", "a-b-c", "acme", LONG, LONG[:-1] + "y", LONG[:-1], "0" * 63)]
ROLES = ["c", "b-c", "viewer", "admin", "r" * 32]


def test_a_session_is_named_after_role_and_tenant() -> None:
    assert session_name(ACME, "viewer") == "viewer@acme"


@pytest.mark.parametrize(("tenant", "role"), list(itertools.product(TENANTS, ROLES)))
def test_every_name_is_one_that_aws_takes(tenant: TenantId, role: str) -> None:
    assert LEGAL.fullmatch(session_name(tenant, role))
    assert LEGAL.fullmatch(source_identity(tenant))
    assert LEGAL.fullmatch(source_identity(tenant, "auth0|ann"))


def test_no_two_pairs_of_tenant_and_role_share_a_name() -> None:
    names = {session_name(tenant, role) for tenant, role in itertools.product(TENANTS, ROLES)}
    assert len(names) == len(TENANTS) * len(ROLES)


def test_hyphens_do_not_make_two_pairs_collide() -> None:
    assert session_name(tenant_id("a-b"), "c") != session_name(TenantId("a"), "b-c")
    assert session_name(tenant_id("bb-c"), "a") != session_name(tenant_id("bb"), "c-a")


def test_a_long_name_keeps_its_role_and_the_start_of_its_tenant() -> None:
    assert session_name(tenant_id(LONG), "viewer").startswith("viewer@xxxxxxxx")


def test_the_source_identity_is_the_tenant_and_names_a_subject_only_when_told() -> None:
    assert source_identity(ACME) == "acme"
    assert source_identity(ACME, "ann") == f"acme.{subject_hash('ann')}"


def test_a_long_tenant_does_not_push_the_subject_out_of_the_source_identity() -> None:
    twins = [source_identity(tenant_id(LONG[:-1] + last), "ann") for last in "yz"]
    assert twins[0] != twins[1]
    assert all(twin.endswith(f".{subject_hash('ann')}") for twin in twins)


def test_a_subject_is_hashed_whatever_it_contains() -> None:
    hashes = {subject_hash(subject) for subject in ("", "ann", "Ann", "ann\n", "ä", "\ud800", "x" * 10_000)}
    assert len(hashes) == 7
    assert all(re.fullmatch("[0-9a-f]{16}", found) for found in hashes)


def test_a_request_does_not_show_its_policy_in_logs() -> None:
    request = AssumeRole(ROLE_ARN, "viewer@acme", "acme", (), "the policy", 900, "eu-west-1")
    assert "the policy" not in repr(request)


@pytest.mark.parametrize("tenant", ["acme", "a" * 63])
@pytest.mark.parametrize("actor", ["jo", "jane@example.org", "j" * 128])
def test_the_identity_of_support_access_fits_and_is_no_subjects(tenant: str, actor: str) -> None:
    named = support_identity(tenant_id(tenant), actor)
    assert re.fullmatch(r"[\w+=,.@-]{2,64}", named)
    assert named != support_identity(tenant_id(tenant), f"{actor}x")
    assert named != support_identity(tenant_id(f"b{tenant[1:]}"), actor)
    assert "+" in named
    assert "+" not in source_identity(tenant_id(tenant), actor)
