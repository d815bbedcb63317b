import copy
from dataclasses import replace
from typing import Any

import pytest

from gateway.iam.policies.generate import BOUNDARY_FILE, TENANT_FILE, TRUST_FILE
from gateway.ops.audit.checks.privilege import tenant_privilege
from gateway.ops.audit.facts import NotHere, UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.fixtures import GATEWAY_ROLE, policy
from tests.ops.audit.spoil import changed, facts_of, failures, verdicts, with_role

STAR = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}]}


def test_the_shipped_policies_pass(case: Case) -> None:
    assert verdicts(tenant_privilege(case)) == {LineVerdict.PASS}


def test_a_role_without_conditions_lets_foreign_requests_through(case: Case) -> None:
    wide = with_role(case, "tenant_role", policies={"star": STAR}, boundary=STAR)
    facts = failures(tenant_privilege, wide)
    assert any("requests get through that must not: " in fact for fact in facts)
    # the linter says why
    assert any("a wildcard also grants actions that AWS adds later" in fact for fact in facts)


@pytest.mark.parametrize(
    ("absent", "words"),
    [("true", "the role alone: "), ("false", "the role alone, without a tenant: ")],
)
def test_foreign_rows_and_sessions_without_a_tenant_are_found_each(case: Case, absent: str, words: str) -> None:
    # denied only without a tenant, or only with one: the other half gets through
    half = {
        "Effect": "Deny",
        "Action": "dynamodb:*",
        "Resource": "*",
        "Condition": {"Null": {"aws:PrincipalTag/TenantId": absent}},
    }
    policies = {"star": STAR, "half": {"Version": "2012-10-17", "Statement": [half]}}
    facts = failures(tenant_privilege, with_role(case, "tenant_role", policies=policies, boundary=STAR))
    [through] = [fact for fact in facts if "get through" in fact]
    assert f"must not: {words}" in through


def test_a_pattern_that_matches_longer_ids_gets_through(case: Case) -> None:
    # the classical mistake: `TENANT#a*` also matches the rows of a tenant `ab`
    loose = _replaced(policy(TENANT_FILE), "TenantId}#*", "TenantId}*")
    spoilt = with_role(case, "tenant_role", policies={"own-rows": loose})
    assert any("a wildcard right after a variable" in fact for fact in failures(tenant_privilege, spoilt))


def test_a_role_that_grants_nothing_denies_tenants(case: Case) -> None:
    narrow = policy(TENANT_FILE)
    narrow["Statement"] = [each for each in narrow["Statement"] if each["Sid"] != "OwnIndexRows"]
    [fact] = failures(tenant_privilege, with_role(case, "tenant_role", policies={"own-rows": narrow}))
    assert "requests of a tenant are denied: " in fact


def test_a_role_without_boundary_or_with_long_sessions_fails(case: Case) -> None:
    spoilt = with_role(case, "tenant_role", boundary=None, longest_session=43_200)
    assert failures(tenant_privilege, spoilt) == [
        "the tenants' role has no permissions boundary",
        "sessions of the tenants' role may last 43,200 s",
    ]


def test_policies_that_are_not_understood_fail(case: Case) -> None:
    spoilt = with_role(case, "tenant_role", boundary={"Statement": []}, policies={"odd": {}}, trust={})
    facts = failures(tenant_privilege, spoilt)
    assert [fact for fact in facts if "is not understood" in fact] == [facts[0], facts[1], facts[-1]]


def test_a_trust_policy_for_everybody_fails(case: Case) -> None:
    everybody = _replaced(policy(TRUST_FILE), GATEWAY_ROLE, "*")
    facts = failures(tenant_privilege, with_role(case, "tenant_role", trust=everybody))
    assert "principals other than the gateway's role may assume the tenants' role" in facts


def test_a_trust_policy_without_tags_fails(case: Case) -> None:
    bare = policy(TRUST_FILE)
    for statement in bare["Statement"]:
        statement.pop("Condition", None)
    facts = failures(tenant_privilege, with_role(case, "tenant_role", trust=bare))
    assert "the tenants' role may be assumed without a tenant" in facts


def test_a_trust_policy_for_another_gateway_fails(case: Case) -> None:
    other = _replaced(policy(TRUST_FILE), GATEWAY_ROLE, f"{GATEWAY_ROLE}-old")
    facts = failures(tenant_privilege, with_role(case, "tenant_role", trust=other))
    assert facts == ["the gateway's role may not assume the tenants' role"]


def test_without_the_gateways_role_the_trust_is_not_tried(case: Case) -> None:
    nameless = replace(case, subject=replace(case.subject, gateway_role=None))
    assert facts_of(tenant_privilege, nameless, LineVerdict.UNKNOWN) == [
        "it was not checked who may assume the tenants' role"
    ]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (None, LineVerdict.PASS),
        ({"Statement": {"Effect": "Deny", "Principal": "*", "Action": "*", "Resource": "*"}}, LineVerdict.PASS),
        (STAR, LineVerdict.FAIL),
        ({}, LineVerdict.FAIL),
        (UnknownFact("why"), LineVerdict.UNKNOWN),
    ],
)
def test_a_resource_policy_may_only_deny(case: Case, found: Any, verdict: LineVerdict) -> None:
    assert list(tenant_privilege(changed(case, table_policy=found)))[-1].verdict is verdict


def test_nothing_passes_where_there_is_no_iam(case: Case) -> None:
    assert verdicts(tenant_privilege(changed(case, tenant_role=NotHere("no iam")))) == {LineVerdict.NOT_APPLICABLE}
    assert verdicts(tenant_privilege(changed(case, tenant_role=UnknownFact("denied")))) == {LineVerdict.UNKNOWN}


def test_the_boundary_alone_still_keeps_tenants_apart(case: Case) -> None:
    kept = with_role(case, "tenant_role", policies={"star": STAR}, boundary=policy(BOUNDARY_FILE))
    assert not any("get through" in fact for fact in failures(tenant_privilege, kept))


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    return copy.copy(value)
