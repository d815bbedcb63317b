"""Least privilege, judged by the gateway's own evaluator on the documents that IAM holds today."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from gateway.iam import trust
from gateway.iam.clauses import ROLE_TAG, TENANT_TAG
from gateway.iam.deployment import Deployment
from gateway.iam.document import Document
from gateway.iam.evaluator import Allow, PolicySet
from gateway.iam.generate import GATEWAY_FILE
from gateway.iam.lint import lint
from gateway.iam.permissions import Permissions
from gateway.iam.policies import generated, place_of
from gateway.iam.roles import ROLE_NAMES, ROLES
from gateway.model.tenant import tenant_id
from gateway.ops.audit import fixes
from gateway.ops.audit.checks.documents import boundary_document, identity_documents, read_document
from gateway.ops.audit.facts import Missing, NotHere, RoleFacts, Statements, Unknown
from gateway.ops.audit.lines import Case, Finding, failed, missing, passed, passed_unless
from gateway.ops.probe_operations import probes
from gateway.ops.probes import Scene

_TENANT, _VICTIM = tenant_id("acme"), tenant_id("globex")
_SHOWN: Final = 3
_HOUR: Final = 3_600


def tenant_privilege(case: Case) -> Iterator[Finding]:
    role, deployment = case.facts.tenant_role, case.deployment
    if not isinstance(role, RoleFacts):
        yield missing(role)
    elif deployment is not None:
        yield from _tenant(case, role, deployment)
        yield _table_policy(case.facts.table_policy)


def _tenant(case: Case, role: RoleFacts, deployment: Deployment) -> Iterator[Finding]:
    documents, faults = identity_documents(role)
    boundary, fault = boundary_document(role)
    yield from (failed(f"the tenants' role: {each}", fixes.ROLES) for each in (*faults, *([fault] if fault else [])))
    if role.boundary is None:
        yield failed("the tenants' role has no permissions boundary", fixes.ROLES)
    if role.longest_session > _HOUR:
        yield failed(f"sessions of the tenants' role may last {role.longest_session:,} s", fixes.ROLES)
    yield from _linted((*documents, *([boundary] if boundary else [])))
    wide, narrow, asked = _tried(case, documents, boundary, deployment)
    if wide:
        yield failed(f"{len(wide)} requests get through that must not: {_some(wide)}", fixes.ROLES)
    if narrow:
        yield failed(f"{len(narrow)} requests of a tenant are denied: {_some(narrow)}", fixes.ROLES)
    if not wide and not narrow:
        yield passed(f"{asked:,} requests in {len(ROLES)} roles: own rows only, nothing without a tenant")
    yield from _trust(case, role, deployment)


def _linted(documents: tuple[Document, ...]) -> Iterator[Finding]:
    for document in documents:
        errors = [finding for finding in lint(document) if finding.level == "error"]
        for finding in islice(errors, _SHOWN):
            where = f"statement `{finding.statement}`" if finding.statement else "document"
            yield failed(f"{document.kind} policy, {where}: {finding.message}", fixes.ROLES)


def _tried(
    case: Case, documents: tuple[Document, ...], boundary: Document | None, deployment: Deployment
) -> tuple[list[str], list[str], int]:
    """Every probe of the proof of isolation, put to the live documents: what is too wide, too narrow, and how many."""
    sessions, place = generated(case.model).sessions, place_of(case.model, deployment)
    wide: list[str] = []
    narrow: list[str] = []
    asked = 0
    # the role must keep tenants apart by itself, too: a session policy is what the gateway sends, or forgets to send
    layers = [(role, role.name, (sessions[role.name],)) for role in ROLES] + [(ROLES[0], "the role alone", None)]
    for role, label, session in layers:
        policies = PolicySet(documents, session, boundary)
        arn = {"aws:PrincipalArn": deployment.tenant_role}
        tagged = {f"aws:PrincipalTag/{TENANT_TAG}": _TENANT, f"aws:PrincipalTag/{ROLE_TAG}": role.name}
        own, nobody = Permissions(policies, {**arn, **tagged}, place), Permissions(policies, arn, place)
        for probe in probes(Scene(case.model, deployment, _TENANT, role, _VICTIM)):
            asked += 2
            allowed = own.check(probe.operation, probe.body).allowed
            if allowed and probe.expected == "denied":
                wide.append(f"{label}: {probe.name}")
            if not allowed and probe.expected == "allowed":
                narrow.append(f"{label}: {probe.name}")
            if nobody.check(probe.operation, probe.body).allowed:
                wide.append(f"{label}, without a tenant: {probe.name}")
    return wide, narrow, asked


def _trust(case: Case, role: RoleFacts, deployment: Deployment) -> Iterator[Finding]:
    document, fault = read_document("trust", role.trust, "trust")
    if document is None:
        yield failed(f"the tenants' role: {fault}", fixes.ROLES)
        return
    yield from _linted((document,))
    if not deployment.gateway_role:
        yield missing(Unknown("who may assume the tenants' role was not tried", "give `--gateway-role`"))
        return
    fact = "only the gateway's role may assume the tenants' role, and only for a tenant"
    yield from passed_unless(_assuming(case, role, deployment, document), fact)


def _assuming(case: Case, role: RoleFacts, deployment: Deployment, document: Document) -> Iterator[Finding]:
    policies = PolicySet((generated(case.model).document(GATEWAY_FILE, deployment),))
    gateway = trust.Caller(deployment.gateway_role, policies)
    stranger = trust.Caller(f"{deployment.gateway_role}-stranger", policies)
    tags = ((TENANT_TAG, _TENANT), (ROLE_TAG, ROLE_NAMES[-1]))
    right = trust.RoleRequest(role.arn, "audit", tags=tags, source_identity=_TENANT)
    untagged = trust.RoleRequest(role.arn, "audit", source_identity=_TENANT)
    live = trust.Role(role.arn, document)
    if not isinstance(trust.assume(right, live, gateway), Allow):
        yield failed("the gateway's role may not assume the tenants' role", fixes.ROLES)
    if isinstance(trust.assume(right, live, stranger), Allow):
        yield failed("others than the gateway's role may assume the tenants' role", fixes.ROLES)
    if isinstance(trust.assume(untagged, live, gateway), Allow):
        yield failed("the tenants' role may be assumed without a tenant", fixes.ROLES)


def _table_policy(policy: Statements | Missing | None) -> Finding:
    if policy is None:
        return passed("the table has no resource policy")
    if isinstance(policy, Unknown | NotHere):
        return missing(policy)
    listed = policy.get("Statement", [])
    statements = listed if isinstance(listed, list) else [listed]
    if statements and all(isinstance(each, dict) and each.get("Effect") == "Deny" for each in statements):
        return passed("the table's resource policy only denies")
    return failed("the table's resource policy allows something: no other policy limits that", fixes.TABLE_POLICY)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return "; ".join(names[:_SHOWN]) + more
