"""Drift: differences between the model, the table and the installed policies."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from gateway.errors import ConfigurationError
from gateway.iam.language.policy_text import canonical
from gateway.iam.policies.deployment import Deployment, render
from gateway.iam.policies.generate import BOUNDARY_FILE, ENDPOINT_FILE, GATEWAY_FILE, TENANT_FILE, TRUST_FILE, documents
from gateway.ops.audit import fixes
from gateway.ops.audit.checks.documents import statements_of
from gateway.ops.audit.checks.network import own_endpoints
from gateway.ops.audit.facts import EndpointFacts, Missing, RoleFacts, Statements, TtlFacts, UnknownFact
from gateway.ops.audit.results import AuditFinding, Case, failed, missing, passed


def table_drift(case: Case) -> Iterator[AuditFinding]:
    faults = [*_key_faults(case), *_index_faults(case), *_ttl_faults(case)]
    yield from (failed(fault, fixes.TABLE) for fault in faults)
    if not faults:
        names = ", ".join(index.name for index in case.model.table.indexes) or "no index"
        yield passed(f"keys, {names}, projections and the TTL attribute are as the model says")


def _key_faults(case: Case) -> Iterator[str]:
    spec, table = case.model.table, case.facts.table
    if table.keys != (spec.pk, spec.sk):
        yield f"the table is keyed by {_listed(table.keys)}, the model by {_listed((spec.pk, spec.sk))}"
    odd = sorted(name for name, kind in table.key_types.items() if kind != "S")
    if odd:
        yield f"key attributes that are not strings: {', '.join(odd)}"


def _index_faults(case: Case) -> Iterator[str]:
    live = {**case.facts.table.indexes, **case.facts.table.local_indexes}
    declared = {index.name: index for index in case.model.table.indexes}
    yield from (f"{name} is missing in the table" for name in declared if name not in live)
    yield from (
        f"the model does not declare {name}: it costs writes and serves no pattern" for name in live.keys() - declared
    )
    for name in declared.keys() & live.keys():
        index, facts = declared[name], live[name]
        if index.local is not (name in case.facts.table.local_indexes):
            yield f"{name} is {'global' if index.local else 'local'} in the table, but not in the model"
        if facts.keys != (index.pk, index.sk):
            yield f"{name} is keyed by {_listed(facts.keys)}, the model by {_listed((index.pk, index.sk))}"
        projection = " ".join([index.projection, *sorted(case.model.table.included(index))])
        if facts.projection != projection:
            yield (
                f"{name} projects {facts.projection}, the model says {projection}; DynamoDB cannot change the "
                "projection of an index: declare an index of another name, fill it, and remove this one"
            )


def _ttl_faults(case: Case) -> Iterator[str]:
    live, declared = case.facts.ttl, case.model.table.ttl
    if isinstance(live, TtlFacts) and live.attribute not in (None, declared):
        yield f"TTL reads `{live.attribute}`, the model says `{declared}`"


def policy_drift(case: Case) -> Iterator[AuditFinding]:
    yield from _files(case)
    deployment = case.deployment
    if deployment is None:
        yield missing(UnknownFact("installed policies were not compared", "give `--tenant-role`"))
        return
    generated = documents(case.model)
    yield from _tenant_role(case.facts.tenant_role, generated, deployment)
    yield from _gateway_role(case, case.facts.gateway_role, generated, deployment)
    if isinstance(case.facts.endpoints, tuple):
        yield from _endpoints(own_endpoints(case, case.facts.endpoints), case.facts.gateway_role, generated, deployment)


def _files(case: Case) -> Iterator[AuditFinding]:
    stale = case.facts.files.stale_policies
    if not isinstance(stale, tuple):
        yield missing(stale)
    elif stale:
        yield failed(f"policies/: {'; '.join(stale)}", fixes.POLICIES)
    else:
        yield passed("policies/ is as the model writes it")


def _tenant_role(
    role: RoleFacts | Missing, generated: Mapping[str, Mapping[str, Any]], deployment: Deployment
) -> Iterator[AuditFinding]:
    if not isinstance(role, RoleFacts):
        yield missing(role)
        return
    yield from _attached("tenants' role", role, TENANT_FILE, render(generated[TENANT_FILE], deployment))
    expected = canonical(render(generated[BOUNDARY_FILE], deployment))
    yield _same("boundary of the tenants' role", BOUNDARY_FILE, canonical(role.boundary or {}) == expected)
    if deployment.gateway_role:
        expected = canonical(render(generated[TRUST_FILE], deployment))
        yield _same("trust of the tenants' role", TRUST_FILE, canonical(role.trust) == expected)
    else:
        yield missing(UnknownFact("the trust policy was not compared", "give `--gateway-role`"))


def _gateway_role(
    case: Case, role: RoleFacts | Missing, generated: Mapping[str, Mapping[str, Any]], deployment: Deployment
) -> Iterator[AuditFinding]:
    if not isinstance(role, RoleFacts):
        yield missing(role)
        return
    # a tenant with its own table has its own role, and the gateway has the same document for it
    expected = [render(generated[GATEWAY_FILE], target) for target in (deployment, *_silos(role, deployment))]
    readers = [policy for policy in role.policies.values() if _assumes_only(policy, case.subject.dax_roles)]
    yield from _attached("gateway's role", role, GATEWAY_FILE, *expected, *readers)


def _assumes_only(policy: Statements, roles: frozenset[str]) -> bool:
    """Whether a policy allows nothing but to assume these roles, in which the gateway reads from DAX clusters."""
    statements = statements_of(policy)
    return bool(statements) and all(
        statement.get("Effect") == "Allow"
        and statement.keys() <= {"Sid", "Effect", "Action", "Resource"}
        and _several(statement.get("Action")) == {"sts:AssumeRole"}
        and _several(statement.get("Resource")) <= roles
        for statement in statements
    )


def _several(value: Any) -> frozenset[Any]:
    return frozenset(value if isinstance(value, list) else [value])


def _silos(role: RoleFacts, deployment: Deployment) -> Iterator[Deployment]:
    for statement in (statement for policy in role.policies.values() for statement in statements_of(policy)):
        arn = statement.get("Resource")
        with suppress(ConfigurationError):
            if isinstance(arn, str):
                yield replace(deployment, tenant_role=arn)


def _endpoints(
    endpoints: tuple[EndpointFacts, ...],
    role: RoleFacts | Missing,
    generated: Mapping[str, Mapping[str, Any]],
    deployment: Deployment,
) -> Iterator[AuditFinding]:
    """A silo uses the same endpoint: a statement may be repeated with its role and tables of its own account."""
    expected = canonical(render(generated[ENDPOINT_FILE], deployment))
    named = _silos(role, deployment) if isinstance(role, RoleFacts) else ()
    silos = [render(generated[ENDPOINT_FILE], silo) for silo in named if silo.tenant_role != deployment.tenant_role]
    theirs = {_behind(statement) for document in silos for statement in statements_of(document)}
    for endpoint in endpoints:
        ours = [statement for statement in statements_of(endpoint.policy) if _behind(statement) not in theirs]
        same = canonical({**endpoint.policy, "Statement": ours} if theirs else endpoint.policy) == expected
        yield _same(f"endpoint {endpoint.name}", ENDPOINT_FILE, same)


def _behind(statement: Mapping[str, Any]) -> str:
    """A statement without its id and its tables, which the silo's own policies name."""
    return canonical({key: value for key, value in statement.items() if key not in ("Sid", "Resource")})


def _attached(
    label: str, role: RoleFacts, name: str, expected: Statements, *others: Statements
) -> Iterator[AuditFinding]:
    texts = {attached: canonical(policy) for attached, policy in role.policies.items()}
    yield _same(label, name, canonical(expected) in texts.values())
    expected_texts = {canonical(other) for other in (expected, *others)}
    for attached, policy in role.policies.items():
        # a policy that only denies, such as a revocation of sessions, is not drift
        if texts[attached] not in expected_texts and _grants(policy):
            yield failed(f"the {label} has a further policy `{attached}` that allows something", fixes.ROLES)


def _grants(policy: Statements) -> bool:
    statements = statements_of(policy)
    # a policy that cannot be read might allow anything
    return not statements or any(statement.get("Effect") != "Deny" for statement in statements)


def _same(label: str, name: str, same: bool) -> AuditFinding:
    return passed(f"{label}: {name}") if same else failed(f"{label}: differs from {name}", fixes.ROLES)


def _listed(keys: tuple[str, ...]) -> str:
    return " / ".join(keys)
