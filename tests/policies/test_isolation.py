"""The isolation table: every access pattern, operation, role and index, with one's own keys and with others'."""

from itertools import permutations

import pytest

from gateway.demo import MODEL
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.verdict import Allow, Deny
from gateway.iam.policies.hidden_data import personal_attributes
from gateway.iam.policies.pattern_requests import SAMPLE_SUBJECT, questions
from gateway.iam.policies.policies import generated, permissions_at
from gateway.model.tenant import TenantId, tenant_id
from gateway.ops.isolation.probe_operations import probes
from gateway.ops.isolation.probes import Probe, ProbeScene
from tests.policies.fixtures import DEPLOYMENT, NAME, ROLE, SHIPPED
from tests.policies.isolation import faults
from tests.policies.sent import requests

TENANTS = tuple(tenant_id(name) for name in ("acme", "acme2", "ac", "ab-acme"))
PAIRS = tuple(permutations(TENANTS, 2))
HIDDEN = frozenset(personal_attributes(MODEL))
PERMISSIONS = permissions_at(generated(MODEL), MODEL)


def allowed(role: str, tenant: TenantId) -> Permissions:
    return PERMISSIONS(DEPLOYMENT, tenant, role, SAMPLE_SUBJECT if ROLE[role].own else None)


@pytest.mark.parametrize("name", SHIPPED)
def test_each_document_holds_by_itself(name: str) -> None:
    assert list(faults(name, SHIPPED[name])) == []


@pytest.mark.parametrize("role", tuple(MODEL.all_roles))
def test_what_the_gateway_sends_for_a_tenant_is_allowed(role: str) -> None:
    hidden = frozenset(ROLE[role].hidden)
    for pattern, operation, body in requests(TENANTS[0], hidden=hidden, finds=ROLE[role].finds):
        expected = pattern in ROLE[role].patterns
        verdict = allowed(role, TENANTS[0]).check(operation, body)
        assert verdict.allowed is expected, (pattern, operation, verdict)


@pytest.mark.parametrize("role", tuple(MODEL.all_roles))
@pytest.mark.parametrize(("tenant", "victim"), PAIRS)
def test_what_the_gateway_sends_for_one_tenant_is_denied_to_another(
    role: str, tenant: TenantId, victim: TenantId
) -> None:
    permissions = allowed(role, tenant)
    for pattern, operation, body in requests(victim, hidden=HIDDEN):
        verdict = permissions.check(operation, body)
        assert isinstance(verdict, Deny), (pattern, operation)
        assert verdict.explicit


def test_every_pattern_and_every_index_is_in_the_table() -> None:
    sent = list(requests(TENANTS[0]))
    assert {pattern for pattern, _, _ in sent} == set(MODEL.patterns)
    assert {body.get("IndexName") for _, _, body in sent} == {None, *(index.name for index in MODEL.table.indexes)}
    assert {question.pattern for question in questions(MODEL, TENANTS[0])} == set(MODEL.patterns)


@pytest.mark.parametrize("role", tuple(MODEL.all_roles))
@pytest.mark.parametrize(("tenant", "victim"), PAIRS[:4])
def test_every_probe_gets_the_verdict_that_it_expects(role: str, tenant: TenantId, victim: TenantId) -> None:
    scene = ProbeScene(MODEL, DEPLOYMENT, tenant, ROLE[role], victim)
    permissions = allowed(role, tenant)
    wrong = [probe.name for probe in probes(scene) if not _as_expected(permissions, probe)]
    assert wrong == []


def _as_expected(permissions: Permissions, probe: Probe) -> bool:
    verdict = permissions.check(probe.operation, probe.body)
    return probe.expected == "harmless" or verdict.allowed is (probe.expected == "allowed")


@pytest.mark.parametrize("role", tuple(MODEL.all_roles))
@pytest.mark.parametrize("principal", [{}, {"aws:PrincipalTag/TenantId": ""}, {"aws:PrincipalTag/Tenant": "acme"}])
def test_a_session_without_a_tenant_gets_nothing(role: str, principal: dict[str, str]) -> None:
    given = allowed(role, TENANTS[0])
    without = Permissions(given.policies, principal, given.place)
    for _, operation, body in requests(TENANTS[0], hidden=HIDDEN):
        assert not without.check(operation, body).allowed


def test_writers_write_and_readers_do_not() -> None:
    item = {"PK": {"S": "TENANT#acme#USER#1"}, "SK": {"S": "PROFILE"}}
    verdicts = {role: allowed(role, TENANTS[0]).check("PutItem", {"TableName": NAME, "Item": item}) for role in ROLE}
    assert {role for role, verdict in verdicts.items() if isinstance(verdict, Allow)} == {"admin", "editor"}


def test_support_reads_everything_that_is_not_personal() -> None:
    support = allowed("support", TENANTS[0])
    names = {attribute.name for entity in MODEL.entities.values() for attribute in entity.attributes}
    denied = support.attributes_denied(names, "GetItem", NAME, leading_key="TENANT#acme#ANY")
    assert set(denied) == HIDDEN
    assert {"name", "email", "phone", "address"} <= HIDDEN
    assert support.attributes_denied(MODEL.table.reserved, "GetItem", NAME, leading_key="TENANT#acme#ANY") == {}
