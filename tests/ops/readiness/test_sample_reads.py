"""A domain whose roles are all its own becomes ready too: every read is one that its role may make."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.sts.session import Session
from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.demo.commerce.roles import CUSTOMER, ORDERING
from gateway.iam.policies.policies import generated
from gateway.identity.principal import Principal
from gateway.model.model import Model
from gateway.model.role import Role
from gateway.ops.policies.files import permissions_for
from gateway.ops.readiness.pool_check import PoolCheck, sample_reads
from tests.ops.readiness.test_pool_check import INDEXES, POOL, refusing
from tests.store.fixtures import tenancy

READER = Role(name="reader", description="reads devices", reads=("Device", "Reading", "LatestReading"))
# the roles of a domain, and those whose sessions are needed
CASES: dict[str, tuple[tuple[Role, ...], set[str]]] = {
    "own rows": ((CUSTOMER, ORDERING), {"customer"}),
    "some entities": ((READER, CUSTOMER, ORDERING), {"reader", "customer"}),
    "everything": ((Role(name="auditor", description="reads everything"), READER, CUSTOMER, ORDERING), {"auditor"}),
}


def model_with(roles: tuple[Role, ...]) -> Model:
    commerce, *others = MODEL.domains
    return replace(MODEL, domains=(replace(commerce, roles=roles), *others))


def test_the_weakest_role_that_reads_everything_is_enough() -> None:
    assert {read.role for read in sample_reads(MODEL)} == {"viewer"}
    assert [read.index for read in sample_reads(MODEL)] == [None, *INDEXES]


@pytest.mark.parametrize(("roles", "used"), CASES.values(), ids=CASES.keys())
async def test_a_model_without_the_standard_roles_is_checked_in_its_own(
    roles: tuple[Role, ...], used: set[str]
) -> None:
    model = model_with(roles)
    permissions = permissions_for(generated(model), model)
    roles_used: list[str] = []

    async def open_session(principal: Principal) -> Session:
        [role] = principal.roles
        roles_used.append(role)
        place, subject = tenancy(), principal.subject if model.roles[role].own else None
        found: Any = permissions(place, principal.tenant, role, subject)
        return Session(principal.tenant, role, Credentials("AKID", "secret"), place, found)

    memory = refusing()
    assert await PoolCheck(open_session, open_session, memory, model).faults(POOL) == ()
    assert set(roles_used) == used
    assert len(roles_used) == len(used)
    read = {body.get("IndexName") for _, body in memory.sent}
    assert read == {sample.index for sample in sample_reads(model)} >= {None}
