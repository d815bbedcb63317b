from gateway.ops.audit.checks.privilege import no_scan
from gateway.ops.audit.facts import CountedByCloudWatch, NotHere
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.spoil import changed, facts_of, failures, with_role

OPEN = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": "dynamodb:Scan", "Resource": "*"}],
}


def test_a_role_that_may_scan_fails(case: Case) -> None:
    spoilt = with_role(case, "gateway_role", policies={"wide": OPEN})
    assert failures(no_scan, spoilt) == ["the gateway's role may Scan"]


def test_the_boundary_and_the_denials_of_the_tenants_role_hold_against_a_further_policy(case: Case) -> None:
    role = case.facts.tenant_role
    policies = {**getattr(role, "policies"), "wide": OPEN}  # noqa: B009  a fact that is known here
    assert failures(no_scan, with_role(case, "tenant_role", policies=policies)) == []
    only = with_role(case, "tenant_role", policies={"wide": OPEN}, boundary=None)
    assert failures(no_scan, only) == ["the tenants' role may Scan"]


def test_a_policy_that_is_not_understood_fails(case: Case) -> None:
    spoilt = with_role(case, "tenant_role", policies={"odd": {"Version": "2012-10-17", "Statement": [], "X": 1}})
    [fact] = failures(no_scan, spoilt)
    assert fact.startswith("the tenants' role: policy `odd` is not understood")
    broken = with_role(case, "tenant_role", boundary={"Statement": "?"})
    assert "policy `permissions boundary` is not understood" in failures(no_scan, broken)[0]


def test_scans_that_cloudwatch_counted_fail(case: Case) -> None:
    assert failures(no_scan, changed(case, seen=CountedByCloudWatch(7, 1_200, {}))) == [
        "CloudWatch counted 1,200 Scans in 7 days"
    ]


def test_what_is_not_there_does_not_apply(case: Case) -> None:
    nowhere = NotHere("no iam here")
    sandbox = changed(case, tenant_role=nowhere, gateway_role=nowhere, seen=NotHere("no cloudwatch here"))
    assert facts_of(no_scan, sandbox, LineVerdict.NOT_APPLICABLE) == [
        "no iam here",
        "no iam here",
        "no cloudwatch here",
    ]
    assert failures(no_scan, sandbox) == []
