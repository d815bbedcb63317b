"""AssumeRole: the trust policy and the caller's own policies must both agree, for every action that is needed."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.iam.language.document import parse
from gateway.iam.language.errors import PolicyError
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.verdict import Allow, Deny
from gateway.iam.sts.assume_role import Invalid, RoleRequest
from gateway.iam.sts.trust import AssumableRole, AssumingCaller, assume, session_tags

ROLE = "arn:aws:iam::123456789012:role/tenant"
GATEWAY = "arn:aws:iam::123456789012:role/gateway"
SESSION = "arn:aws:sts::123456789012:assumed-role/gateway/task"
ALL = ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"]
PINNED = {
    "StringLike": {"aws:RequestTag/TenantId": "?*"},
    "Null": {"aws:RequestTag/TenantId": "false"},
    "ForAllValues:StringEquals": {"aws:TagKeys": ["TenantId", "Role"], "sts:TransitiveTagKeys": ["TenantId"]},
}


def statement(**more: Any) -> dict[str, Any]:
    return {"Sid": "Gateway", "Effect": "Allow", "Principal": {"AWS": GATEWAY}, "Action": ALL, **more}


def role(*statements: dict[str, Any], **more: Any) -> AssumableRole:
    listed = list(statements) or [statement(Condition=PINNED)]
    return AssumableRole(ROLE, parse({"Version": "2012-10-17", "Statement": listed}, "trust"), **more)


def caller(actions: list[str] | None = None, **more: Any) -> AssumingCaller:
    allowed = {"Effect": "Allow", "Action": actions or ALL, "Resource": ROLE, "Sid": "Assume"}
    own = parse({"Version": "2012-10-17", "Statement": allowed}, "identity")
    return AssumingCaller(GATEWAY, PolicySet((own,)), **more)


REQUEST = RoleRequest(ROLE, "acme-viewer", tags=(("TenantId", "acme"),), source_identity="sub-1234")
LONGER = replace(REQUEST, duration_seconds=7_200)
TRANSITIVE = {"transitive_tag_keys": ("TenantId",)}


def denied(request: RoleRequest = REQUEST, by: AssumableRole | None = None, of: AssumingCaller | None = None) -> Deny:
    verdict = assume(request, by or role(), of or caller())
    assert isinstance(verdict, Deny), verdict
    return verdict


def test_a_pinned_session_is_allowed() -> None:
    assert assume(REQUEST, role(), caller()) == Allow(("trust/Gateway", "identity/Assume"))


def test_a_session_without_its_tenant_tag_is_refused() -> None:
    verdict = denied(replace(REQUEST, tags=()))
    assert (verdict.layer, verdict.action) == ("trust", "sts:AssumeRole")
    assert verdict.condition == "StringLike aws:RequestTag/TenantId"


def test_a_tag_that_is_not_listed_is_refused() -> None:
    assert "aws:TagKeys" in str(denied(replace(REQUEST, tags=(("TenantId", "acme"), ("Admin", "yes")))).condition)


@pytest.mark.parametrize("action", ALL)
def test_each_action_is_needed_in_the_trust_policy_and_in_the_callers(action: str) -> None:
    rest = [one for one in ALL if one != action]
    by_trust = denied(by=role(statement(Action=rest)))
    assert (by_trust.layer, by_trust.action) == ("trust", action)
    by_caller = denied(of=caller(rest))
    assert (by_caller.layer, by_caller.action, by_caller.resource) == ("identity", action, ROLE)


def test_tagging_and_naming_a_source_are_asked_only_when_they_happen() -> None:
    bare = replace(REQUEST, tags=(), source_identity=None)
    plain = role(statement(Action="sts:AssumeRole"))
    assert assume(bare, plain, caller(["sts:AssumeRole"])).__class__ is Allow
    inherited = caller(["sts:AssumeRole"], session_arn=SESSION, transitive_tags={"Cell": "7"})
    assert denied(bare, plain, inherited).action == "sts:TagSession"
    named = caller(["sts:AssumeRole"], session_arn=SESSION, source_identity="sub-1")
    assert denied(bare, plain, named).action == "sts:SetSourceIdentity"


@pytest.mark.parametrize(
    ("principal", "trusted"),
    [
        ("*", True),
        ({"AWS": "*"}, True),
        ({"AWS": GATEWAY}, True),
        ({"AWS": SESSION}, True),
        ({"AWS": "123456789012"}, True),
        ({"AWS": "arn:aws:iam::123456789012:root"}, True),
        ({"AWS": ["arn:aws:iam::123456789012:role/other", GATEWAY]}, True),
        ({"AWS": "arn:aws:iam::123456789012:role/other"}, False),
        ({"AWS": "999999999999"}, False),
        ({"AWS": "arn:aws-cn:iam::123456789012:root"}, False),
        ({"AWS": GATEWAY.upper()}, False),
        ({"Service": "ecs.amazonaws.com"}, False),
        ({"Federated": "*"}, False),
    ],
)
def test_who_is_trusted(principal: Any, trusted: bool) -> None:
    verdict = assume(REQUEST, role(statement(Principal=principal)), caller(session_arn=SESSION))
    assert isinstance(verdict, Allow if trusted else Deny)
    if isinstance(verdict, Deny):
        assert verdict.reason == "the trust policy does not name the caller"


def test_a_denial_of_the_trust_policy_wins() -> None:
    no = {"Sid": "No", "Effect": "Deny", "Principal": "*", "Action": "sts:*"}
    unless = {"StringNotEquals": {"aws:PrincipalArn": GATEWAY}}
    verdict = denied(by=role(statement(), no))
    assert (verdict.explicit, verdict.statement, verdict.layer) == (True, "No", "trust")
    assert isinstance(assume(REQUEST, role(statement(), {**no, "Condition": unless}), caller()), Allow)


@pytest.mark.parametrize(
    ("condition", "more", "allowed"),
    [
        ({"StringEquals": {"sts:ExternalId": "x1"}}, {"external_id": "x1"}, True),
        ({"StringEquals": {"sts:ExternalId": "x1"}}, {"external_id": "x2"}, False),
        ({"StringEquals": {"sts:ExternalId": "x1"}}, {}, False),
        ({"StringLike": {"sts:RoleSessionName": "${aws:RequestTag/TenantId}-*"}}, {}, True),
        ({"StringLike": {"sts:RoleSessionName": "globex-*"}}, {}, False),
        ({"StringLike": {"sts:SourceIdentity": "sub-*"}}, {}, True),
        ({"StringEquals": {"aws:PrincipalAccount": "123456789012"}}, {}, True),
        ({"ArnEquals": {"aws:PrincipalArn": GATEWAY}}, {}, True),
        ({"ForAnyValue:StringEquals": {"sts:TransitiveTagKeys": "TenantId"}}, TRANSITIVE, True),
        ({"ForAnyValue:StringEquals": {"sts:TransitiveTagKeys": "TenantId"}}, {}, False),
    ],
)
def test_the_context_of_a_trust_policy(condition: dict[str, Any], more: dict[str, Any], allowed: bool) -> None:
    verdict = assume(replace(REQUEST, **more), role(statement(Condition=condition)), caller())
    assert isinstance(verdict, Allow if allowed else Deny)


def test_the_tags_of_the_caller_are_seen() -> None:
    same = {"StringEquals": {"aws:RequestTag/TenantId": "${aws:PrincipalTag/TenantId}"}}
    by = role(statement(Condition=same))
    assert isinstance(assume(REQUEST, by, caller(tags={"TenantId": "acme"})), Allow)
    assert isinstance(assume(REQUEST, by, caller(tags={"TenantId": "globex"})), Deny)
    assert isinstance(assume(REQUEST, by, caller()), Deny)


@pytest.mark.parametrize(
    ("request_", "by", "of", "code"),
    [
        (replace(REQUEST, session_name="?"), role(), caller(), "ValidationError"),
        (replace(REQUEST, policy="{"), role(), caller(), "MalformedPolicyDocument"),
        (LONGER, role(), caller(), "ValidationError"),
        (LONGER, role(max_session_seconds=7_200), caller(session_arn=SESSION), "ValidationError"),
        (REQUEST, role(), caller(session_arn=SESSION, transitive_tags={"tenantid": "globex"}), "InvalidParameterValue"),
        (REQUEST, role(), caller(session_arn=SESSION, source_identity="somebody-else"), "ValidationError"),
    ],
)
def test_what_sts_refuses_before_or_after_the_policies(
    request_: RoleRequest, by: AssumableRole, of: AssumingCaller, code: str
) -> None:
    verdict = assume(request_, by, of)
    assert isinstance(verdict, Invalid)
    assert verdict.code == code


def test_a_longer_session_needs_a_role_that_takes_it() -> None:
    assert isinstance(assume(LONGER, role(max_session_seconds=7_200), caller()), Allow)


def test_the_same_source_identity_may_be_named_again() -> None:
    of = caller(session_arn=SESSION, source_identity="sub-1234")
    assert isinstance(assume(REQUEST, role(), of), Allow)


def test_another_role_is_not_meant() -> None:
    assert "another role" in denied(replace(REQUEST, role_arn=ROLE + "2")).reason


def test_trouble_while_deciding_is_a_denial() -> None:
    assert denied(replace(REQUEST, tags=(("TenantId", None),))).layer == "evaluator"  # type: ignore[arg-type]


def test_only_a_trust_policy_makes_a_role() -> None:
    other = parse(
        {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}, "identity"
    )
    with pytest.raises(PolicyError, match="cannot be a trust policy"):
        AssumableRole(ROLE, other)


def test_the_tags_of_a_session_override_those_of_the_role() -> None:
    found = session_tags(
        REQUEST,
        role(tags={"tenantid": "nobody", "Cost": "1", "cell": "0"}),
        caller(transitive_tags={"Cell": "7"}),
    )
    assert found == {"TenantId": "acme", "Cost": "1", "Cell": "7"}
