"""What STS is asked is what the shipped policies let the gateway ask, and nothing less."""

from dataclasses import replace

import pytest

from gateway.aws.session import Key, question
from gateway.aws.sts import AssumeRole, source_identity
from gateway.domains import MODEL
from gateway.iam.deployment import Deployment, render
from gateway.iam.document import Document, parse
from gateway.iam.evaluator import Allow, Deny, PolicySet
from gateway.iam.generate import GATEWAY_FILE, KINDS, TRUST_FILE, documents, session_file
from gateway.iam.roles import ROLE_NAMES
from gateway.iam.sts import RoleRequest
from gateway.iam.trust import Caller, Invalid, Role, assume
from gateway.model.tenant import TenantId, tenant_id
from tests.aws.tenant_world import ACME, POOLED, ROLE_ARN

GATEWAY = "arn:aws:iam::123456789012:role/gateway"
SESSION = "arn:aws:sts::123456789012:assumed-role/gateway/task-1"
DEPLOYMENT = Deployment.of_role(ROLE_ARN, "eu-west-1", POOLED.table, GATEWAY)
LONG = tenant_id("x" * 63)


def shipped(name: str) -> Document:
    return parse(render(documents(MODEL)[name], DEPLOYMENT), KINDS[name])


def asked(tenant: TenantId, role: str, subject: str | None = None) -> AssumeRole:
    key = Key(tenant, role, source_identity(tenant, subject), POOLED)
    return question(key, shipped(session_file(role)).text, 3_600)


def verdict(request: AssumeRole) -> Allow | Deny | Invalid:
    caller = Caller(GATEWAY, PolicySet((shipped(GATEWAY_FILE),)), SESSION)
    sent = RoleRequest(
        request.role_arn,
        request.session_name,
        request.seconds,
        request.policy,
        tags=request.tags,
        external_id=request.external_id,
        source_identity=request.source_identity,
    )
    return assume(sent, Role(ROLE_ARN, shipped(TRUST_FILE)), caller)


@pytest.mark.parametrize("role", ROLE_NAMES)
@pytest.mark.parametrize("subject", [None, "auth0|ann"])
@pytest.mark.parametrize("tenant", [ACME, LONG])
def test_the_trust_policy_lets_the_gateway_open_every_session(tenant: TenantId, subject: str | None, role: str) -> None:
    assert isinstance(verdict(asked(tenant, role, subject)), Allow)


def test_without_the_tenants_tag_the_trust_policy_refuses() -> None:
    request = asked(ACME, "viewer")
    assert isinstance(verdict(replace(request, tags=request.tags[1:])), Deny)
