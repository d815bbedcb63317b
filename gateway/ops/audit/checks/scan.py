"""No Scan: neither role may send one, and CloudWatch has counted none."""

from collections.abc import Iterator

from gateway.iam.language.document import PolicyDocument
from gateway.iam.language.evaluator import PolicySet, evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.ops.audit import fixes
from gateway.ops.audit.checks.documents import boundary_document, identity_documents
from gateway.ops.audit.facts import CountedByCloudWatch, Missing, RoleFacts
from gateway.ops.audit.results import AuditFinding, Case, failed, missing, passed

_ACTIONS = ("Scan", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete")


def no_scan(case: Case) -> Iterator[AuditFinding]:
    for label, role in (("tenants'", case.facts.tenant_role), ("gateway's", case.facts.gateway_role)):
        yield _policies(case, label, role)
    yield _counted(case.facts.seen)


def _policies(case: Case, label: str, role: RoleFacts | Missing) -> AuditFinding:
    if not isinstance(role, RoleFacts):
        return missing(role)
    documents, faults = identity_documents(role)
    boundary, fault = boundary_document(role)
    if faults or fault:
        return failed(f"the {label} role: {'; '.join([*faults, *([fault] if fault else [])])}", fixes.ROLES)
    open_to = sorted(_allowed(case, documents, boundary))
    if open_to:
        return failed(f"the {label} role may {', '.join(open_to)}", fixes.ROLES)
    return passed(f"the {label} role may neither Scan nor use PartiQL, on the table or any index")


def _allowed(case: Case, documents: tuple[PolicyDocument, ...], boundary: PolicyDocument | None) -> Iterator[str]:
    policies = PolicySet(documents, boundary=boundary)
    table = case.facts.table
    resources = (table.arn, *(f"{table.arn}/index/{name}" for name in (*table.indexes, *table.local_indexes)))
    context = {"aws:PrincipalTag/TenantId": "audit"}
    for action in _ACTIONS:
        requests = (Authorisation(f"dynamodb:{action}", resource, context) for resource in resources)
        if any(evaluate(policies, one).allowed for one in requests):
            yield action


def _counted(seen: CountedByCloudWatch | Missing) -> AuditFinding:
    if not isinstance(seen, CountedByCloudWatch):
        return missing(seen)
    if seen.scans > 0:
        return failed(f"CloudWatch counted {seen.scans:,.0f} Scans in {seen.days} days", fixes.SCANS)
    return passed(f"CloudWatch counted no Scan in {seen.days} days")
