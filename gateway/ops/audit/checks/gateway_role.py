"""The gateway's own role: it assumes the tenants' role, and reaches no data itself."""

from collections.abc import Iterator
from typing import Final

from gateway.iam.evaluator import Authorisation, PolicySet, evaluate
from gateway.iam.roles import ITEM_ACTIONS
from gateway.ops.audit import fixes
from gateway.ops.audit.checks.documents import boundary_document, identity_documents
from gateway.ops.audit.facts import RoleFacts
from gateway.ops.audit.lines import Case, Finding, failed, missing, passed_unless

_ASSUME: Final = "sts:AssumeRole"


def gateway_privilege(case: Case) -> Iterator[Finding]:
    role = case.facts.gateway_role
    if not isinstance(role, RoleFacts):
        yield missing(role)
        return
    documents, faults = identity_documents(role)
    boundary, fault = boundary_document(role)
    broken = [*faults, *([fault] if fault else [])]
    if broken:
        yield from (failed(f"the gateway's role: {each}", fixes.ROLES) for each in broken)
        return
    policies = PolicySet(documents, boundary=boundary)
    further = " and, to read from DAX clusters, those that are made for it" if case.subject.dax_roles else ""
    fact = f"the gateway's own role reaches no data and assumes nobody's role but the tenants'{further}"
    yield from passed_unless(_faults(case, role, policies), fact)


def _faults(case: Case, role: RoleFacts, policies: PolicySet) -> Iterator[Finding]:
    table = case.facts.table
    resources = (table.arn, *(f"{table.arn}/index/{name}" for name in table.indexes))
    asked = [(action, resource) for action in (*ITEM_ACTIONS, "Scan") for resource in resources]
    data = sorted({action for action, resource in asked if _may(policies, f"dynamodb:{action}", resource)})
    if data:
        yield failed(f"the gateway's own role may {', '.join(data)}: without a tenant", fixes.ROLES)
    stranger = f"{role.arn.rpartition('/')[0]}/stranger"
    if _may(policies, _ASSUME, stranger):
        yield failed("the gateway's role may assume any role", fixes.ROLES)
    if case.subject.tenant_role and not _may(policies, _ASSUME, case.subject.tenant_role):
        yield failed("the gateway's role may not assume the tenants' role", fixes.ROLES)


def _may(policies: PolicySet, action: str, resource: str) -> bool:
    return evaluate(policies, Authorisation(action, resource, {})).allowed
