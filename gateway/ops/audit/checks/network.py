"""The network path to DynamoDB: a VPC endpoint with routes, whose policy allows tenants' sessions only."""

import json
from collections.abc import Iterator
from typing import Final

from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.policies.pattern_requests import questions
from gateway.iam.policies.policies import place_of
from gateway.model.tenant import tenant_id
from gateway.ops.audit import fixes
from gateway.ops.audit.checks.documents import read_document, statements_of
from gateway.ops.audit.facts import EndpointFacts, Statements, UnknownFact
from gateway.ops.audit.results import AuditFinding, Case, failed, missing, passed

_TENANT: Final = tenant_id("audit")
_STRANGER: Final = "arn:aws:iam::999999999999:role/stranger"
_GONE: Final = ("deleting", "deleted")
_PRINCIPALS: Final = ("Principal", "NotPrincipal")


def endpoint(case: Case) -> Iterator[AuditFinding]:
    endpoints = case.facts.endpoints
    if not isinstance(endpoints, tuple):
        yield missing(endpoints)
        return
    ours = own_endpoints(case, endpoints)
    where = f"VPC {case.subject.vpc}" if case.subject.vpc else f"any VPC of {case.subject.region}"
    if not ours:
        yield failed(f"there is no endpoint for DynamoDB in {where}{_instead(case, endpoints)}", fixes.ENDPOINT)
    for endpoint in ours:
        yield from _endpoint(case, endpoint)
    if case.subject.vpc is None and len(ours) < len(standing(endpoints)):
        others = len(standing(endpoints)) - len(ours)
        yield missing(
            UnknownFact(
                f"{others} other endpoints do not name the tenants' role; it is unknown what they are for", fixes.VPC
            )
        )


def own_endpoints(case: Case, endpoints: tuple[EndpointFacts, ...]) -> tuple[EndpointFacts, ...]:
    """The endpoints of the gateway's VPC; if it is not named, those that name the tenants' role, or all without one."""
    vpc, role = case.subject.vpc, case.subject.tenant_role
    if vpc is not None:
        return tuple(endpoint for endpoint in standing(endpoints) if endpoint.vpc == vpc)
    if role is None:
        return standing(endpoints)
    return tuple(endpoint for endpoint in standing(endpoints) if f'"{role}"' in json.dumps(endpoint.policy))


def standing(endpoints: tuple[EndpointFacts, ...]) -> tuple[EndpointFacts, ...]:
    """EC2 lists an endpoint for a while after its deletion."""
    return tuple(facts for facts in endpoints if facts.state not in _GONE)


def _instead(case: Case, endpoints: tuple[EndpointFacts, ...]) -> str:
    if case.subject.vpc is not None or not standing(endpoints):
        return ""
    return " whose policy names the tenants' role"


def _endpoint(case: Case, facts: EndpointFacts) -> Iterator[AuditFinding]:
    label = f"{facts.name} ({facts.kind}, {facts.vpc})"
    if facts.state != "available":
        yield failed(f"{label} is {facts.state}", fixes.ENDPOINT)
    if not facts.routes:
        yield failed(f"{label} has no route table, so no traffic goes through it", fixes.ENDPOINT)
    faults = list(_policy_faults(case, facts.policy))
    if faults:
        yield failed(f"{label}: {'; '.join(faults)}", fixes.ENDPOINT_POLICY)
    elif facts.state == "available" and facts.routes:
        yield passed(f"{label} is available on {facts.routes} route tables and lets only tenants' sessions pass")


def _policy_faults(case: Case, policy: Statements) -> Iterator[str]:
    document, fault = read_document("of the endpoint", _as_identity(policy), "identity")
    if document is None:
        yield fault or ""
        return
    deployment = case.deployment
    if deployment is None:
        if not any(
            row.key.lower() == "aws:principalarn" for statement in document.statements for row in statement.conditions
        ):
            yield "its policy does not name the tenants' role"
        return
    place = place_of(case.model, deployment)
    rendered = PolicySet((document,))
    tags = {"aws:PrincipalTag/TenantId": _TENANT, "aws:PrincipalArn": deployment.tenant_role}
    own = Permissions(rendered, tags, place)
    stranger = Permissions(rendered, {**tags, "aws:PrincipalArn": _STRANGER}, place)
    requests = questions(case.model, _TENANT)
    bodies = [(request, request.body(case.model.table, deployment.table)) for request in requests]
    blocked = [request.pattern for request, body in bodies if not own.check(request.operation, body).allowed]
    if blocked:
        yield f"its policy blocks {len(blocked)} reads of tenants, such as {blocked[0]}"
    if any(stranger.check(request.operation, body).allowed for request, body in bodies):
        yield "its policy lets roles other than the tenants' read"
    if own.check("Scan", {"TableName": deployment.table}).allowed:
        yield "its policy lets a Scan pass"


def _as_identity(policy: Statements) -> Statements:
    """The evaluator knows no endpoint policies; without its principals it is read as an identity policy."""
    statements = statements_of(policy)
    kept = [{key: value for key, value in one.items() if key not in _PRINCIPALS} for one in statements]
    return {**{key: value for key, value in policy.items() if key != "Id"}, "Statement": kept}
