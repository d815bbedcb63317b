"""`gateway dev` shows a role that can send the first query."""

from dataclasses import replace

from gateway.demo import MODEL
from gateway.demo.commerce.roles import ORDERING
from gateway.graph.playground.first_query import shown_role
from gateway.model.model import Model
from gateway.model.role import ALL, STANDARD_ROLES, Role

CLERK = Role(name="clerk", description="knows suppliers only", reads=("supplier",))


def with_roles(*roles: Role) -> Model:
    first, *others = MODEL.domains
    return Model(domains=(replace(first, roles=(*roles, ORDERING)), *others))


def test_it_is_the_weakest_that_reads_everything() -> None:
    assert shown_role(MODEL) == "viewer"
    assert shown_role(with_roles(*STANDARD_ROLES, CLERK)) == "viewer"
    assert shown_role(with_roles(Role(name="chief", description="reads all", reads=ALL), CLERK)) == "chief"


def test_without_one_it_is_the_weakest() -> None:
    assert shown_role(with_roles(CLERK)) == "clerk"
