import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.iam.policies.generate import ENDPOINT_FILE
from gateway.ops.audit.checks.drift import policy_drift
from gateway.ops.audit.checks.network import endpoint
from gateway.ops.audit.facts import EndpointFacts, UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.fixtures import policy
from tests.ops.audit.spoil import changed, failures, verdicts

FULL = {"Version": "2008-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "*", "Resource": "*"}]}


def own(case: Case) -> EndpointFacts:
    assert isinstance(case.facts.endpoints, tuple)
    [found] = case.facts.endpoints
    return found


def in_vpc(case: Case, vpc: str) -> Case:
    return replace(case, subject=replace(case.subject, vpc=vpc))


def with_endpoint(case: Case, **changes: Any) -> Case:
    """The endpoint of the gateway's VPC, which is named: whatever its policy says, it is the gateway's."""
    found = replace(own(case), **changes)
    return in_vpc(changed(case, endpoints=(found,)), found.vpc)


def test_an_account_without_endpoint_fails(case: Case) -> None:
    none = changed(case, endpoints=())
    assert failures(endpoint, none) == ["there is no endpoint for DynamoDB in any VPC of eu-west-1"]
    named = replace(none, subject=replace(case.subject, vpc="vpc-1"))
    assert failures(endpoint, named) == ["there is no endpoint for DynamoDB in VPC vpc-1"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": "pending"}, "is pending"),
        ({"routes": 0}, "has no route table, so no traffic goes through it"),
    ],
)
def test_an_endpoint_that_nothing_goes_through_fails(case: Case, changes: dict[str, Any], words: str) -> None:
    [fact] = failures(endpoint, with_endpoint(case, **changes))
    assert fact.endswith(words)


def test_the_policy_that_aws_gives_by_default_fails(case: Case) -> None:
    [fact] = failures(endpoint, with_endpoint(case, policy=FULL))
    assert "lets roles other than the tenants' read" in fact
    assert "lets a Scan pass" in fact


def test_a_policy_that_blocks_tenants_fails(case: Case) -> None:
    narrow = policy(ENDPOINT_FILE)
    narrow["Statement"][0]["Resource"] = narrow["Statement"][0]["Resource"][:1]
    [fact] = failures(endpoint, with_endpoint(case, policy=narrow))
    assert "its policy blocks" in fact


def test_without_the_role_the_policy_must_at_least_name_one(case: Case) -> None:
    nameless = replace(case, subject=replace(case.subject, tenant_role=None))
    assert verdicts(endpoint(nameless)) == {LineVerdict.PASS}
    [fact] = failures(endpoint, with_endpoint(nameless, policy=FULL))
    assert fact.endswith("its policy does not name the tenants' role")


def test_a_policy_that_is_not_understood_fails(case: Case) -> None:
    for odd in ({}, {"Version": "2012-10-17", "Statement": "all"}, {**FULL, "Statement": FULL["Statement"][0], "X": 1}):
        [fact] = failures(endpoint, with_endpoint(case, policy=odd))
        assert "is not understood" in fact


def test_endpoints_that_nobody_may_list_are_unknown(case: Case) -> None:
    assert verdicts(endpoint(changed(case, endpoints=UnknownFact("why")))) == {LineVerdict.UNKNOWN}


def test_every_endpoint_of_the_gateways_vpc_is_checked(case: Case) -> None:
    found = own(case)
    second = EndpointFacts("vpce-2", "Gateway", found.vpc, "available", 1, FULL)
    both = in_vpc(changed(case, endpoints=(found, second)), found.vpc)
    assert verdicts(endpoint(both)) == {LineVerdict.PASS, LineVerdict.FAIL}


def test_an_endpoint_of_another_vpc_neither_counts_nor_fails(case: Case) -> None:
    found = own(case)
    theirs = EndpointFacts("vpce-2", "Gateway", "vpc-2", "available", 1, FULL)
    beside = in_vpc(changed(case, endpoints=(found, theirs)), found.vpc)
    assert verdicts(endpoint(beside)) == {LineVerdict.PASS}
    assert failures(policy_drift, beside) == []
    # an endpoint that is right in every way, in a VPC where the gateway is not
    elsewhere = in_vpc(case, "vpc-2")
    assert failures(endpoint, elsewhere) == ["there is no endpoint for DynamoDB in VPC vpc-2"]


def test_without_the_vpc_an_endpoint_of_another_environment_does_not_fail_but_is_asked_about(case: Case) -> None:
    found = own(case)
    role = case.subject.tenant_role or ""
    others = json.loads(json.dumps(found.policy).replace(role, role.replace("shop-prod", "shop-test")))
    theirs = replace(found, name="vpce-2", vpc="vpc-2", policy=others)
    shared = changed(case, endpoints=(found, theirs))
    assert verdicts(endpoint(shared)) == {LineVerdict.PASS, LineVerdict.UNKNOWN}
    assert failures(policy_drift, shared) == []
    alone = changed(case, endpoints=(theirs,))
    assert failures(endpoint, alone) == [
        "there is no endpoint for DynamoDB in any VPC of eu-west-1 whose policy names the tenants' role"
    ]


@pytest.mark.parametrize("state", ["deleted", "deleting"])
def test_an_endpoint_that_was_deleted_neither_counts_nor_fails(case: Case, state: str) -> None:
    found = own(case)
    gone = replace(found, name="vpce-old", state=state, policy=FULL)
    assert verdicts(endpoint(in_vpc(changed(case, endpoints=(found, gone)), found.vpc))) == {LineVerdict.PASS}
    only = in_vpc(changed(case, endpoints=(replace(found, state=state),)), found.vpc)
    assert failures(endpoint, only) == [f"there is no endpoint for DynamoDB in VPC {found.vpc}"]
