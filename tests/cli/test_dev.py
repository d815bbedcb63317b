"""`gateway dev` shows a role that can send the first query."""

from dataclasses import replace

from gateway.demo import MODEL
from gateway.demo.commerce.roles import ORDERING
from gateway.graph.playground.first_query import first_query, shown_role
from gateway.model.model import Model
from gateway.model.role import ALL, STANDARD_ROLES, Role

CLERK = Role(name="clerk", description="knows suppliers only", reads=("supplier",))
ENGINEER = Role(name="engineer", description="reads devices", reads=("Device", "Reading", "LatestReading"))


def with_roles(*roles: Role) -> Model:
    first, *others = MODEL.domains
    return Model(domains=(replace(first, roles=(*roles, ORDERING)), *others))


def test_it_is_the_weakest_that_reads_everything() -> None:
    assert shown_role(MODEL) == "viewer"
    assert shown_role(with_roles(*STANDARD_ROLES, CLERK)) == "viewer"
    assert shown_role(with_roles(Role(name="chief", description="reads all", reads=ALL), CLERK)) == "chief"


def test_without_one_it_is_the_weakest() -> None:
    assert shown_role(with_roles(CLERK)) == "clerk"


def test_it_can_send_the_first_query() -> None:
    model = with_roles(ENGINEER, CLERK)
    assert (shown_role(model), first_query(model)) == (
        "engineer",
        "{ allDevices(first: 3) { nodes { deviceId title location } } }",
    )
    blind = with_roles(replace(ENGINEER, hides=("location",)), CLERK)
    assert "location" not in first_query(blind)
    assert first_query(with_roles(CLERK)) == "{ __typename }"
