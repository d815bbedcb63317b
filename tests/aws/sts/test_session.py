"""What STS is asked is what the shipped policies let the gateway ask, and nothing less."""

from dataclasses import replace

import pytest

from gateway.aws.sts.assume_role import AssumeRole, source_identity
from gateway.aws.sts.session import SessionKey, question
from gateway.demo import MODEL
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.verdict import Allow, Deny
from gateway.iam.policies.deployment import Deployment, render
from gateway.iam.policies.generate import GATEWAY_FILE, TRUST_FILE, documents, kind_of, session_file
from gateway.iam.sts.assume_role import Invalid, RoleRequest
from gateway.iam.sts.trust import AssumableRole, AssumingCaller, assume
from gateway.model.tenant import TenantId, tenant_id
from tests.aws.tenant_fixtures import ACME, POOLED, ROLE_ARN

GATEWAY = "arn:aws:iam::123456789012:role/gateway"
SESSION = "arn:aws:sts::123456789012:assumed-role/gateway/task-1"
DEPLOYMENT = Deployment.of_role(ROLE_ARN, "eu-west-1", POOLED.table, GATEWAY)
LONG = tenant_id("x" * 63)


def shipped(name: str) -> PolicyDocument:
    return parse(render(documents(MODEL)[name], DEPLOYMENT), kind_of(name))


def request_for(tenant: TenantId, role: str, subject: str | None = None) -> AssumeRole:
    own = (subject or "ann").replace("|", ".") if MODEL.all_roles[role].own else None
    key = SessionKey(tenant, role, source_identity(tenant, subject), POOLED, own)
    return question(key, shipped(session_file(role)).text, 3_600)


def verdict(request: AssumeRole) -> Allow | Deny | Invalid:
    caller = AssumingCaller(GATEWAY, PolicySet((shipped(GATEWAY_FILE),)), SESSION)
    sent = RoleRequest(
        request.role_arn,
        request.session_name,
        request.seconds,
        request.policy,
        tags=request.tags,
        external_id=request.external_id,
        source_identity=request.source_identity,
    )
    return assume(sent, AssumableRole(ROLE_ARN, shipped(TRUST_FILE)), caller)


@pytest.mark.parametrize("role", tuple(MODEL.all_roles))
@pytest.mark.parametrize("subject", [None, "auth0|ann"])
@pytest.mark.parametrize("tenant", [ACME, LONG])
def test_the_trust_policy_lets_the_gateway_open_every_session(tenant: TenantId, subject: str | None, role: str) -> None:
    assert isinstance(verdict(request_for(tenant, role, subject)), Allow)


def test_a_session_has_a_subject_in_roles_of_own_rows_and_in_no_other() -> None:
    request = request_for(ACME, "customer", "ann")
    assert ("Subject", "ann") in request.tags
    assert isinstance(verdict(replace(request, tags=request.tags[:-1])), Deny)
    shared = request_for(ACME, "viewer", "ann")
    assert dict(shared.tags).keys() == {"TenantId", "GatewayRole"}
    assert isinstance(verdict(replace(shared, tags=(*shared.tags, ("Subject", "ann")))), Deny)


def test_without_the_tenants_tag_the_trust_policy_refuses() -> None:
    request = request_for(ACME, "viewer")
    assert isinstance(verdict(replace(request, tags=request.tags[1:])), Deny)
