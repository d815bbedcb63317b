"""Prepared permissions beside the evaluator, on 100,000 random requests: never laxer, and of the same statements.

That many in `make test-random`, a sample in `make test`; `PREPARED_SEED` begins elsewhere.
"""

import json
import os
from dataclasses import dataclass, field
from random import Random

from gateway.demo import MODEL
from gateway.iam.dynamodb.partial_evaluation import PreparedPermission
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.iam.language.verdict import Allow
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import generated, permissions_at
from gateway.model.tenant import TenantId
from tests.drawn import drawn
from tests.iam.random_requests import NAME, PLACE, TENANTS, Form, forms, random_policies, tenant_keys

OF_EACH_FORM = drawn(560, 18)
OF_RANDOM_POLICIES = drawn(50_000, 1_500)
SEED = int(os.environ.get("PREPARED_SEED", "12"))
DEPLOYMENT = Deployment.of_role("arn:aws:iam::123456789012:role/gateway-tenant", "eu-west-1", NAME)
FORMS = forms()
SHIPPED = permissions_at(generated(MODEL), MODEL)


@dataclass(slots=True)
class Tally:
    requests: int = 0
    allowed: int = 0
    by_residual: int = 0
    by_text: int = 0
    prepared: int = 0
    missed: list[str] = field(default_factory=list)


def example(shared: SharedPermissions, form: Form) -> PreparedPermission | None:
    """Prepared from a request of a tenant that none of the requests is of."""
    return shared.prepare(form.operation, form.body(["TENANT#somebody#USER#1"] * form.most))


def compare(
    permissions: Permissions, form: Form, ready: PreparedPermission | None, keys: list[str], tally: Tally
) -> None:
    body, own = form.body(keys), permissions.own
    verdict = permissions._evaluated(form.operation, body)
    context = (
        form.title,
        keys,
        own,
        [each.text for each in permissions.policies.identity],
        permissions.policies.session,
    )
    assert permissions.check(form.operation, body) == verdict, context
    tally.requests += 1
    tally.allowed += verdict.allowed
    if ready is None:
        return
    text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
    by_keys, by_text = ready.residual.allows(keys, own), ready.residual.allows_text(text, form.marker, own, len(keys))
    if by_keys or by_text:
        assert isinstance(verdict, Allow), context
        assert verdict.statements == ready.statements, context
    # the text decides the same, except that it leaves escapes to the evaluator
    assert by_text == by_keys or (by_keys and "\\" in text), context
    tally.by_residual += by_keys
    tally.by_text += by_text
    if verdict.allowed and not by_keys and all(key.startswith(own) for key in keys):
        tally.missed.append(f"{form.title} {keys}")


def test_shipped_roles_are_prepared_for_whatever_the_store_sends_and_decided_alike() -> None:
    random, tally = Random(SEED), Tally()
    for role in tuple(MODEL.all_roles):
        shared = SHIPPED(DEPLOYMENT, TenantId("somebody"), role).shared
        for form in FORMS:
            ready = example(shared, form)
            tally.prepared += ready is not None
            # what is not prepared is what the evaluator never allows
            count = OF_EACH_FORM if ready is not None else OF_EACH_FORM // 9
            for _ in range(count):
                permissions = Permissions.of_tenant(shared, TenantId(random.choice(TENANTS)))
                before = tally.allowed
                compare(permissions, form, ready, tenant_keys(random, permissions.own[7:-1], form), tally)
                assert ready is not None or tally.allowed == before, (role, form.title)
    assert tally.missed == [], "a request behind the own prefix that only the evaluator allows"
    assert tally.requests > drawn(50_000, 1_500)
    assert tally.by_residual > tally.requests // 3


def test_random_policies_are_prepared_where_they_are_understood_and_decided_alike() -> None:
    random, tally = Random(SEED + 1), Tally()
    while tally.requests < OF_RANDOM_POLICIES:
        principal = {"aws:PrincipalTag/GatewayRole": random.choice(("viewer", "acme"))}
        shared = SharedPermissions(random_policies(random), principal, PLACE)
        for form in random.sample(FORMS, 4):
            ready = example(shared, form)
            tally.prepared += ready is not None
            for _ in range(40):
                permissions = Permissions.of_tenant(shared, TenantId(random.choice(TENANTS)))
                compare(permissions, form, ready, tenant_keys(random, permissions.own[7:-1], form), tally)
    assert tally.prepared > tally.requests // 40 // 10, "hardly anything was prepared: the comparison says little"
    assert tally.by_residual > tally.requests // 20
