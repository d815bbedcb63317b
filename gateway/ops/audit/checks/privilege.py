"""Least privilege and no Scan: the gateway's evaluator decides on the policies that IAM has now."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

from gateway.iam.dynamodb.condition_keys import PRINCIPAL_SUBJECT, ROLE_TAG, SUBJECT_TAG, TENANT_TAG
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Allow, Authorisation
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.generate import GATEWAY_FILE
from gateway.iam.policies.lint import lint
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT
from gateway.iam.policies.policies import generated, place_of
from gateway.iam.policies.roles import ITEM_ACTIONS, GatewayRole, Grant, roles_of
from gateway.iam.sts import trust
from gateway.iam.sts.assume_role import RoleRequest
from gateway.model.tenant import tenant_id
from gateway.ops.audit import fixes
from gateway.ops.audit.checks.documents import read_document, role_policies
from gateway.ops.audit.facts import CountedByCloudWatch, Missing, NotHere, RoleFacts, Statements, UnknownFact
from gateway.ops.audit.results import AuditFinding, Case, failed, missing, passed, passed_unless, some
from gateway.ops.isolation.probe_operations import probes
from gateway.ops.isolation.probes import ProbeScene

_TENANT, _VICTIM = tenant_id("acme"), tenant_id("globex")
_SHOWN: Final = 3
_HOUR: Final = 3_600


def tenant_privilege(case: Case) -> Iterator[AuditFinding]:
    role, deployment = case.facts.tenant_role, case.deployment
    if not isinstance(role, RoleFacts):
        yield missing(role)
    elif deployment is not None:
        yield from _tenant(case, role, deployment)
        yield _table_policy(case.facts.table_policy)


def _tenant(case: Case, role: RoleFacts, deployment: Deployment) -> Iterator[AuditFinding]:
    policies, faults = role_policies(role)
    yield from (failed(f"the tenants' role: {reason}", fixes.ROLES) for reason in faults)
    if role.boundary is None:
        yield failed("the tenants' role has no permissions boundary", fixes.ROLES)
    if role.longest_session > _HOUR:
        yield failed(f"sessions of the tenants' role may last {role.longest_session:,} s", fixes.ROLES)
    yield from _linted((*policies.identity, *([policies.boundary] if policies.boundary else [])))
    wide, narrow, evaluated = _evaluate_probes(case, policies, deployment)
    if wide:
        yield failed(f"{len(wide)} requests get through that must not: {some(wide, _SHOWN, '; ')}", fixes.ROLES)
    if narrow:
        yield failed(f"{len(narrow)} requests of a tenant are denied: {some(narrow, _SHOWN, '; ')}", fixes.ROLES)
    if not wide and not narrow:
        yield passed(
            f"{evaluated:,} requests in {len(case.model.roles)} roles: own rows only, nothing without a tenant"
        )
    yield from _trust(case, role, deployment)


def _linted(documents: tuple[PolicyDocument, ...]) -> Iterator[AuditFinding]:
    for document in documents:
        errors = [finding for finding in lint(document) if finding.level == "error"]
        for finding in islice(errors, _SHOWN):
            where = f"statement `{finding.statement}`" if finding.statement else "document"
            yield failed(f"{document.kind} policy, {where}: {finding.message}", fixes.ROLES)


def _evaluate_probes(case: Case, installed: PolicySet, deployment: Deployment) -> tuple[list[str], list[str], int]:
    """Evaluates every probe of the isolation proof on the live policies: what is too wide, too narrow, and how many."""
    sessions, place = generated(case.model).sessions, place_of(case.model, deployment)
    wide: list[str] = []
    narrow: list[str] = []
    evaluated = 0
    # the role must isolate tenants without a session policy as well, in case the gateway sends none
    alone = GatewayRole("any", "", (Grant(ITEM_ACTIONS),), patterns=frozenset(case.model.patterns))
    layers = [(role, role.name, (sessions[role.name],)) for role in roles_of(case.model)]
    for role, label, session in (*layers, (alone, "the role alone", None)):
        policies = PolicySet(installed.identity, session, installed.boundary)
        arn = {"aws:PrincipalArn": deployment.tenant_role}
        tagged = {f"aws:PrincipalTag/{TENANT_TAG}": _TENANT, f"aws:PrincipalTag/{ROLE_TAG}": role.name}
        tagged |= {PRINCIPAL_SUBJECT: SAMPLE_SUBJECT} if role.own else {}
        own, nobody = Permissions(policies, {**arn, **tagged}, place), Permissions(policies, arn, place)
        for probe in probes(ProbeScene(case.model, deployment, _TENANT, role, _VICTIM)):
            evaluated += 2
            allowed = own.check(probe.operation, probe.body).allowed
            if allowed and probe.expected == "denied":
                wide.append(f"{label}: {probe.name}")
            if not allowed and probe.expected == "allowed":
                narrow.append(f"{label}: {probe.name}")
            if nobody.check(probe.operation, probe.body).allowed:
                wide.append(f"{label}, without a tenant: {probe.name}")
    return wide, narrow, evaluated


def _trust(case: Case, role: RoleFacts, deployment: Deployment) -> Iterator[AuditFinding]:
    document, fault = read_document("trust", role.trust, "trust")
    if document is None:
        yield failed(f"the tenants' role: {fault}", fixes.ROLES)
        return
    yield from _linted((document,))
    if not deployment.gateway_role:
        yield missing(UnknownFact("it was not checked who may assume the tenants' role", "give `--gateway-role`"))
        return
    fact = "only the gateway's role may assume the tenants' role, and only for a tenant"
    yield from passed_unless(_assuming(case, role, deployment, document), fact)


def _assuming(case: Case, role: RoleFacts, deployment: Deployment, document: PolicyDocument) -> Iterator[AuditFinding]:
    policies = PolicySet((generated(case.model).document(GATEWAY_FILE, deployment),))
    gateway = trust.AssumingCaller(deployment.gateway_role, policies)
    stranger = trust.AssumingCaller(f"{deployment.gateway_role}-stranger", policies)
    weakest = roles_of(case.model)[-1]
    subject = ((SUBJECT_TAG, SAMPLE_SUBJECT),) if weakest.own else ()
    tags = ((TENANT_TAG, _TENANT), (ROLE_TAG, weakest.name), *subject)
    right = RoleRequest(role.arn, "audit", tags=tags, source_identity=_TENANT)
    untagged = RoleRequest(role.arn, "audit", source_identity=_TENANT)
    live = trust.AssumableRole(role.arn, document)
    if not isinstance(trust.assume(right, live, gateway), Allow):
        yield failed("the gateway's role may not assume the tenants' role", fixes.ROLES)
    if isinstance(trust.assume(right, live, stranger), Allow):
        yield failed("principals other than the gateway's role may assume the tenants' role", fixes.ROLES)
    if isinstance(trust.assume(untagged, live, gateway), Allow):
        yield failed("the tenants' role may be assumed without a tenant", fixes.ROLES)


def _table_policy(policy: Statements | Missing | None) -> AuditFinding:
    if policy is None:
        return passed("the table has no resource policy")
    if isinstance(policy, UnknownFact | NotHere):
        return missing(policy)
    listed = policy.get("Statement", [])
    statements = listed if isinstance(listed, list) else [listed]
    if statements and all(
        isinstance(statement, dict) and statement.get("Effect") == "Deny" for statement in statements
    ):
        return passed("the table's resource policy only denies")
    return failed("the table's resource policy allows something: no other policy limits that", fixes.TABLE_POLICY)


# The gateway's own role: it assumes the tenants' role, and reaches no data itself.

_ASSUME: Final = "sts:AssumeRole"
_NO_CONTEXT: Final[Mapping[str, str]] = {}


def gateway_privilege(case: Case) -> Iterator[AuditFinding]:
    role = case.facts.gateway_role
    if not isinstance(role, RoleFacts):
        yield missing(role)
        return
    policies, faults = role_policies(role)
    if faults:
        yield from (failed(f"the gateway's role: {reason}", fixes.ROLES) for reason in faults)
        return
    further = " and the reader roles of DAX clusters" if case.subject.dax_roles else ""
    fact = f"the gateway's own role reaches no data and assumes only the tenants' role{further}"
    yield from passed_unless(_faults(case, role, policies), fact)


def _faults(case: Case, role: RoleFacts, policies: PolicySet) -> Iterator[AuditFinding]:
    if data := sorted(_allowed(case, policies, (*ITEM_ACTIONS, "Scan"))):
        yield failed(f"the gateway's own role may {', '.join(data)}: without a tenant", fixes.ROLES)
    stranger = f"{role.arn.rpartition('/')[0]}/stranger"
    if _may(policies, _ASSUME, stranger):
        yield failed("the gateway's role may assume any role", fixes.ROLES)
    if case.subject.tenant_role and not _may(policies, _ASSUME, case.subject.tenant_role):
        yield failed("the gateway's role may not assume the tenants' role", fixes.ROLES)


def _allowed(
    case: Case, policies: PolicySet, actions: tuple[str, ...], context: Mapping[str, str] = _NO_CONTEXT
) -> Iterator[str]:
    """The actions that are allowed on the table or on an index."""
    for action in actions:
        if any(_may(policies, f"dynamodb:{action}", resource, context) for resource in case.facts.table.resources):
            yield action


def _may(policies: PolicySet, action: str, resource: str, context: Mapping[str, str] = _NO_CONTEXT) -> bool:
    return evaluate(policies, Authorisation(action, resource, context)).allowed


# No Scan: neither role may send one, and CloudWatch has counted none.

_WHOLE_TABLE: Final = ("Scan", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")


def no_scan(case: Case) -> Iterator[AuditFinding]:
    for label, role in (("tenants'", case.facts.tenant_role), ("gateway's", case.facts.gateway_role)):
        yield _without_scan(case, label, role)
    yield _counted(case.facts.seen)


def _without_scan(case: Case, label: str, role: RoleFacts | Missing) -> AuditFinding:
    if not isinstance(role, RoleFacts):
        return missing(role)
    policies, faults = role_policies(role)
    if faults:
        return failed(f"the {label} role: {'; '.join(faults)}", fixes.ROLES)
    if open_to := sorted(_allowed(case, policies, _WHOLE_TABLE, {"aws:PrincipalTag/TenantId": "audit"})):
        return failed(f"the {label} role may {', '.join(open_to)}", fixes.ROLES)
    return passed(f"the {label} role may neither Scan nor use PartiQL, on the table or any index")


def _counted(seen: CountedByCloudWatch | Missing) -> AuditFinding:
    if not isinstance(seen, CountedByCloudWatch):
        return missing(seen)
    if seen.scans > 0:
        return failed(f"CloudWatch counted {seen.scans:,.0f} Scans in {seen.days} days", fixes.SCANS)
    return passed(f"CloudWatch counted no Scan in {seen.days} days")
