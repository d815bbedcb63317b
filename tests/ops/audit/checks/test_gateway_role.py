from dataclasses import replace
from typing import Any

from gateway.iam.policies.generate import GATEWAY_FILE
from gateway.ops.audit.checks.privilege import gateway_privilege
from gateway.ops.audit.facts import UnknownFact
from gateway.ops.audit.results import Case, LineVerdict
from tests.ops.audit.fixtures import policy
from tests.ops.audit.spoil import changed, failures, verdicts, with_role


def statement(action: str, resource: str = "*") -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": action, "Resource": resource}]}


def test_the_shipped_role_reaches_no_data(case: Case) -> None:
    assert verdicts(gateway_privilege(case)) == {LineVerdict.PASS}


def test_data_permissions_of_the_gateway_itself_fail(case: Case) -> None:
    spoilt = with_role(case, "gateway_role", policies={"data": statement("dynamodb:GetItem")})
    assert failures(gateway_privilege, spoilt) == [
        "the gateway's own role may GetItem: without a tenant",
        "the gateway's role may not assume the tenants' role",
    ]


def test_its_own_denial_holds_against_a_further_policy(case: Case) -> None:
    both = {"tenant": policy(GATEWAY_FILE), "data": statement("dynamodb:*")}
    assert verdicts(gateway_privilege(with_role(case, "gateway_role", policies=both))) == {LineVerdict.PASS}


def test_a_gateway_that_may_assume_any_role_fails(case: Case) -> None:
    spoilt = with_role(case, "gateway_role", policies={"any": statement("sts:AssumeRole")})
    assert failures(gateway_privilege, spoilt) == ["the gateway's role may assume any role"]
    nameless = replace(spoilt, subject=replace(case.subject, tenant_role=None))
    assert failures(gateway_privilege, nameless) == ["the gateway's role may assume any role"]


def test_policies_that_are_not_understood_fail(case: Case) -> None:
    spoilt = with_role(case, "gateway_role", policies={"odd": {}}, boundary={})
    assert [fact.partition(":")[0] for fact in failures(gateway_privilege, spoilt)] == ["the gateway's role"] * 2


def test_a_role_that_may_not_be_read_is_unknown(case: Case) -> None:
    assert verdicts(gateway_privilege(changed(case, gateway_role=UnknownFact("why")))) == {LineVerdict.UNKNOWN}
