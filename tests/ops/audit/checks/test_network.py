from dataclasses import replace
from typing import Any

import pytest

from gateway.iam.generate import ENDPOINT_FILE
from gateway.ops.audit.checks.network import endpoint
from gateway.ops.audit.facts import EndpointFacts, Unknown
from gateway.ops.audit.lines import Case, Verdict
from tests.ops.audit.spoil import changed, failures, verdicts
from tests.ops.audit.world import policy

FULL = {"Version": "2008-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}]}


def with_endpoint(case: Case, **changes: Any) -> Case:
    assert isinstance(case.facts.endpoints, tuple)
    [found] = case.facts.endpoints
    return changed(case, endpoints=(replace(found, **changes),))


def test_an_account_without_endpoint_fails(case: Case) -> None:
    none = changed(case, endpoints=())
    assert failures(endpoint, none) == ["there is no endpoint for DynamoDB in any VPC of eu-west-1"]
    named = replace(none, subject=replace(case.subject, vpc="vpc-1"))
    assert failures(endpoint, named) == ["there is no endpoint for DynamoDB in VPC vpc-1"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": "pending"}, "is pending"),
        ({"routes": 0}, "has no route table: nothing goes through it"),
    ],
)
def test_an_endpoint_that_nothing_goes_through_fails(case: Case, changes: dict[str, Any], words: str) -> None:
    [fact] = failures(endpoint, with_endpoint(case, **changes))
    assert fact.endswith(words)


def test_the_policy_that_aws_gives_by_default_fails(case: Case) -> None:
    [fact] = failures(endpoint, with_endpoint(case, policy=FULL))
    assert "lets others than the tenants' role read" in fact
    assert "lets a Scan pass" in fact


def test_a_policy_that_blocks_tenants_fails(case: Case) -> None:
    narrow = policy(ENDPOINT_FILE)
    narrow["Statement"][0]["Resource"] = narrow["Statement"][0]["Resource"][:1]
    [fact] = failures(endpoint, with_endpoint(case, policy=narrow))
    assert "its policy blocks" in fact


def test_without_the_role_the_policy_must_at_least_name_one(case: Case) -> None:
    nameless = replace(case, subject=replace(case.subject, tenant_role=None))
    assert verdicts(endpoint(nameless)) == {Verdict.PASS}
    [fact] = failures(endpoint, with_endpoint(nameless, policy=FULL))
    assert fact.endswith("its policy does not name the tenants' role")


def test_a_policy_that_is_not_understood_fails(case: Case) -> None:
    for odd in ({}, {"Version": "2012-10-17", "Statement": "all"}, {**FULL, "Statement": FULL["Statement"][0], "X": 1}):
        [fact] = failures(endpoint, with_endpoint(case, policy=odd))
        assert "is not understood" in fact


def test_endpoints_that_nobody_may_list_are_unknown(case: Case) -> None:
    assert verdicts(endpoint(changed(case, endpoints=Unknown("why")))) == {Verdict.UNKNOWN}


def test_every_endpoint_is_judged(case: Case) -> None:
    assert isinstance(case.facts.endpoints, tuple)
    second = EndpointFacts("vpce-2", "Gateway", "vpc-2", "available", 1, FULL)
    both = changed(case, endpoints=(*case.facts.endpoints, second))
    assert verdicts(endpoint(both)) == {Verdict.PASS, Verdict.FAIL}
