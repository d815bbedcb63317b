"""Random roles: the policies that are generated for them say what the declaration says in plain words, no more."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.demo import MODEL
from gateway.errors import ModelError
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.generate import session_document
from gateway.iam.policies.roles import gateway_role
from gateway.model.model import Model
from gateway.model.role import Role
from tests.drawn import drawn
from tests.policies.cases import partition_cases
from tests.policies.fixtures import alone

# what lies in one partition is declared together, or nearly every role would be refused
GROUPS = (
    ("Product", "Stock", "Category"),
    ("Supplier",),
    ("User", "Order", "Email", "Phone", "Notification", "UserSubscription", "OrderLine", "OrderEvent"),
    ("Session",),
    ("product", "stock"),
    ("category",),
    ("sessionsOfUser", "ordersOfUserByStatus"),
    ("userWithOrders", "emailsOfUser", "phonesOfUser", "notificationsOfUser", "subscriptionsOfUser"),
    ("reviewQueue",),
)
names = st.sets(st.sampled_from(GROUPS), min_size=1, max_size=3).map(lambda found: tuple(n for g in found for n in g))
roles = st.builds(
    lambda reads, own, writes, removes: Role(
        name="random", description="", reads=reads, own=own, writes=writes if reads else (), removes=removes
    ),
    names,
    st.booleans(),
    st.sampled_from([(), (), ("Category",), ("Product", "Stock"), ("Supplier",)]),
    st.sampled_from([None, ()]),
)

OF_USER = ("User", "Email", "Phone", "Notification", "UserSubscription")
acting = st.builds(
    lambda reads, writes, beside, own, removes: Role(
        name="random",
        description="",
        reads=tuple(dict.fromkeys((*writes[1], *reads))),
        writes=writes[0],
        beside=beside,
        removes=removes,
        own=own,
        acting=True,
    ),
    st.sampled_from([(), ("product", "stock"), ("category",), OF_USER]),
    st.sampled_from(
        [
            (("Order", "OrderLine", "OrderEvent"), ("order", "orderLine", "orderEvent")),
            (("Stock",), ("product", "stock")),
            (("Order", "OrderLine", "OrderEvent", "Stock"), ("order", "orderLine", "orderEvent", "stock", "product")),
            (("Category",), ("category", "categories", "productsByCategory")),
            (("Supplier",), ("Supplier",)),
        ]
    ),
    st.sampled_from([OF_USER, (*OF_USER, "Product"), ("Product", "User"), ()]),
    st.booleans(),
    st.sampled_from([None, ()]),
)


def declared(role: Role) -> Model:
    first, *others = MODEL.domains
    mutations = tuple(
        replace(each, acts_as=role.name if role.acting and role.writes_result(each) else None)
        for each in first.mutations
    )
    return Model(domains=(replace(first, roles=(role,), mutations=mutations), *others))


@settings(deadline=None, max_examples=drawn(10, 3), suppress_health_check=list(HealthCheck))
@given(roles)
def test_a_random_role_gets_what_it_declares_or_is_refused(role: Role) -> None:
    try:
        model = declared(role)
    except ModelError:
        return
    assert disagreements(model, role) == []


@settings(deadline=None, max_examples=drawn(10, 3), suppress_health_check=list(HealthCheck))
@given(acting)
def test_a_random_role_that_mutations_act_in_gets_what_it_declares_or_is_refused(role: Role) -> None:
    try:
        model = declared(role)
    except ModelError:
        return
    assert disagreements(model, role) == []
    assert role.name not in model.roles, "no token carries it"


@pytest.mark.parametrize(
    "changes",
    [
        {"reads": ("Product", "Stock", "Category")},
        {"reads": ("Product", "Stock", "Category"), "writes": ("Category",)},
        {"reads": ("category", "Supplier"), "writes": ("Supplier",), "removes": ()},
        {"reads": GROUPS[7], "own": True},
        {"reads": ("sessionsOfUser", "ordersOfUserByStatus", "product", "stock"), "own": True},
        {
            "reads": ("order", "orderLine", "orderEvent"),
            "writes": ("Order", "OrderLine", "OrderEvent"),
            "beside": ("User", "Email", "Phone", "Notification", "UserSubscription"),
            "own": True,
            "acting": True,
        },
    ],
)
def test_a_role_gets_what_it_declares(changes: dict[str, Any]) -> None:
    role = Role(name="random", description="", **changes)
    assert disagreements(declared(role), role) == []


def disagreements(model: Model, role: Role) -> list[Any]:
    made = gateway_role(model, role)
    policies = alone(parse(session_document(made), "session"))
    return [
        case
        for case in partition_cases(model, role, made.actions)
        if evaluate(policies, Authorisation(case.action, case.resource, case.context)).allowed is not case.allowed
        and not (made.whole and case.resource.endswith("9"))
    ]
