from dataclasses import replace
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.iam.policies.deployment import render
from gateway.iam.policies.generate import ENDPOINT_FILE, GATEWAY_FILE, documents
from gateway.ops.audit.checks.drift import policy_drift, table_drift
from gateway.ops.audit.facts import NotHere, TtlFacts, UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.fixtures import DEPLOYMENT, policy
from tests.ops.audit.spoil import changed, facts_of, failures, role_of, with_index, with_role, with_table

DENY = {"Version": "2012-10-17", "Statement": {"Effect": "Deny", "Action": "*", "Resource": "*"}}
ALLOW = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}}


def test_other_keys_and_types_of_keys_are_drift(case: Case) -> None:
    types = {**case.facts.table.key_types, "GSI1SK": "N"}
    assert failures(table_drift, with_table(case, keys=("id",), key_types=types)) == [
        "the table is keyed by id, the model by PK / SK",
        "key attributes that are not strings: GSI1SK",
    ]


def test_missing_further_and_other_indexes_are_drift(case: Case) -> None:
    table = case.facts.table
    changes: dict[str, Any] = dict(with_index(table, "GSI1", keys=("GSI1PK",), projection="INCLUDE a b"))
    changes["OLD"] = replace(changes.pop("GSI2"), name="OLD")
    assert failures(table_drift, with_table(case, indexes=changes)) == [
        "GSI2 is missing in the table",
        "the model does not declare OLD: it costs writes and serves no pattern",
        "GSI1 is keyed by GSI1PK, the model by GSI1PK / GSI1SK",
        (
            "GSI1 projects INCLUDE a b, the model says ALL; DynamoDB cannot change the projection of an index: "
            "declare an index of another name, fill it, and remove this one"
        ),
    ]


def test_another_ttl_attribute_is_drift(case: Case) -> None:
    assert failures(table_drift, changed(case, ttl=TtlFacts("ENABLED", "expires"))) == [
        "TTL reads `expires`, the model says `ttl`"
    ]
    assert failures(table_drift, changed(case, ttl=UnknownFact("why"))) == []


def test_files_that_are_stale_or_missing_are_reported(case: Case) -> None:
    stale = changed(case, files=replace(case.facts.files, stale_policies=("boundary.json: stale",)))
    assert failures(policy_drift, stale) == ["policies/: boundary.json: stale"]
    none = changed(case, files=replace(case.facts.files, stale_policies=NotHere("there is no directory")))
    assert facts_of(policy_drift, none, LineVerdict.NOT_APPLICABLE) == ["there is no directory"]


@pytest.mark.parametrize(
    ("name", "changes", "fact"),
    [
        ("tenant_role", {"boundary": None}, "boundary of the tenants' role: differs from boundary.json"),
        ("tenant_role", {"trust": DENY}, "trust of the tenants' role: differs from tenant-trust.json"),
        ("tenant_role", {"policies": {}}, "tenants' role: differs from tenant-role.json"),
        ("gateway_role", {"policies": {}}, "gateway's role: differs from gateway-role.json"),
    ],
)
def test_installed_text_that_differs_is_drift(case: Case, name: str, changes: dict[str, Any], fact: str) -> None:
    assert failures(policy_drift, with_role(case, name, **changes)) == [fact]


def test_a_further_policy_is_drift_unless_it_only_denies(case: Case) -> None:
    installed = role_of(case.facts, "tenant_role").policies
    revoked = with_role(case, "tenant_role", policies={**installed, "AWSRevokeOlderSessions": DENY})
    assert failures(policy_drift, revoked) == []
    for wide in (ALLOW, {}):
        spoilt = with_role(case, "tenant_role", policies={**installed, "mine": wide})
        assert failures(policy_drift, spoilt) == ["the tenants' role has a further policy `mine` that allows something"]


def test_the_role_of_a_tenant_with_its_own_table_is_no_drift(case: Case) -> None:
    silo = replace(DEPLOYMENT, tenant_role="arn:aws:iam::123456789012:role/silo-tenant")
    installed = role_of(case.facts, "gateway_role").policies
    second = {**installed, "silo": render(documents(MODEL)[GATEWAY_FILE], silo)}
    assert failures(policy_drift, with_role(case, "gateway_role", policies=second)) == []
    widened = {**installed, "silo": {**ALLOW, "Statement": [{**ALLOW["Statement"], "Resource": silo.tenant_role}]}}  # type: ignore[dict-item]  # the constant above
    assert len(failures(policy_drift, with_role(case, "gateway_role", policies=widened))) == 1


def test_a_silo_may_pass_the_endpoint_and_nobody_else(case: Case) -> None:
    assert isinstance(case.facts.endpoints, tuple)
    [found] = case.facts.endpoints
    silo = replace(DEPLOYMENT, tenant_role="arn:aws:iam::123456789012:role/silo-tenant")
    [passing] = render(documents(MODEL)[ENDPOINT_FILE], silo)["Statement"]
    passing = {**passing, "Sid": "Silo", "Resource": ["arn:aws:dynamodb:eu-west-1:123456789012:table/*"]}
    both = {**found.policy, "Statement": [*found.policy["Statement"], passing]}
    beside = changed(case, endpoints=(replace(found, policy=both),))
    # the gateway may not assume that role: then it is nobody's silo
    assert failures(policy_drift, beside) == [f"endpoint {found.name}: differs from vpc-endpoint.json"]
    policies = {**role_of(case.facts, "gateway_role").policies, "silo": render(documents(MODEL)[GATEWAY_FILE], silo)}
    known = with_role(beside, "gateway_role", policies=policies)
    assert failures(policy_drift, known) == []
    [own] = found.policy["Statement"]
    for wide in ({**passing, "Action": ["dynamodb:*"]}, {**own, "Sid": "Wide", "Resource": ["*"]}):
        spoilt = {**both, "Statement": [own, passing, wide]}
        assert failures(policy_drift, changed(known, endpoints=(replace(found, policy=spoilt),))) == [
            f"endpoint {found.name}: differs from vpc-endpoint.json"
        ]


def test_another_endpoint_policy_is_drift(case: Case) -> None:
    assert isinstance(case.facts.endpoints, tuple)
    [found] = case.facts.endpoints
    other = policy(ENDPOINT_FILE)
    other["Statement"][0]["Sid"] = "Other"
    [fact] = failures(policy_drift, changed(case, endpoints=(replace(found, policy=other),)))
    assert fact == f"endpoint {found.name}: differs from vpc-endpoint.json"


def test_what_was_not_named_or_may_not_be_read_is_unknown(case: Case) -> None:
    nameless = replace(case, subject=replace(case.subject, tenant_role=None, gateway_role=None))
    assert facts_of(policy_drift, nameless, LineVerdict.UNKNOWN) == ["installed policies were not compared"]
    half = replace(case, subject=replace(case.subject, gateway_role=None))
    assert facts_of(policy_drift, half, LineVerdict.UNKNOWN) == ["the trust policy was not compared"]
    blind = changed(case, tenant_role=UnknownFact("a"), gateway_role=UnknownFact("b"), endpoints=UnknownFact("c"))
    assert facts_of(policy_drift, blind, LineVerdict.UNKNOWN) == ["a", "b"]


def test_the_role_that_reads_from_dax_may_be_assumed_where_the_settings_name_it(case: Case) -> None:
    reader = "arn:aws:iam::123456789012:role/shop-prod-dax-reader"

    def with_readers(statement: dict[str, Any], *roles: str) -> Case:
        policies = {**role_of(case.facts, "gateway_role").policies, "dax-readers": {"Statement": statement}}
        named = replace(case, subject=replace(case.subject, dax_roles=frozenset(roles)))
        return with_role(named, "gateway_role", policies=policies)

    right = {"Sid": "AssumeDaxReader", "Effect": "Allow", "Action": "sts:AssumeRole", "Resource": reader}
    assert failures(policy_drift, with_readers(right, reader)) == []
    more = ["the gateway's role has a further policy `dax-readers` that allows something"]
    assert failures(policy_drift, with_readers(right)) == more
    for wide in (
        {**right, "Resource": [reader, "*"]},
        {**right, "Action": ["sts:AssumeRole", "dax:*"]},
        {**right, "NotAction": "s3:*"},
    ):
        assert failures(policy_drift, with_readers(wide, reader)) == more
