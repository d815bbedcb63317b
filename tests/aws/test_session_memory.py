"""What a tenant, or a subject of one, costs a process once a query was made for it."""

import asyncio
import gc
import time
import tracemalloc
from dataclasses import replace

import pytest

from gateway.aws.sts.assume_role import AssumeRole
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.signer import Form, Signer
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId, tenant_id
from tests.aws.tenant_fixtures import POOLED, ROLES, principal, session_policy
from tests.aws.virtual_time import run

pytestmark = pytest.mark.slow

# just before the tables that keep the sessions grow
TENANTS = 1_300
MOST = 1_536
# of what STS gives for a session with a policy and tags; how long it is, AWS decides
TOKEN = 800


class LongTokens:
    """As long as those of STS for a session with a policy and tags."""

    async def assume_role(self, request: AssumeRole) -> Credentials:
        mark = f"{hash(request.source_identity) & 0xFFFFFFFF:012d}"
        return Credentials(f"ASIA{mark}", f"{mark}{'s' * 28}", f"{mark}{'t' * 788}", time.time() + request.seconds)


async def used(sessions: Sessions, principals: list[Principal]) -> None:
    """Opens a session for each, authorises a request and signs it."""
    signer = Signer("dynamodb", "eu-west-1")
    form = Form("dynamodb.eu-west-1.amazonaws.com", "application/x-amz-json-1.0", "DynamoDB_20120810.GetItem")
    for one in principals:
        session = await sessions.open(one)
        key = {"PK": {"S": f"TENANT#{one.tenant}#USER#1"}, "SK": {"S": "PROFILE"}}
        session.permissions.check("GetItem", {"TableName": POOLED.table, "Key": key})
        signer.request(form, session.credentials, b"{}", time.time())


async def kept_by(sessions: Sessions, principals: list[Principal]) -> float:
    """Bytes of one of them."""
    # what the first one makes for all, and what the rate remembers
    await used(sessions, [replace(principals[0], tenant=tenant_id(f"first-{number}")) for number in range(50)])
    gc.collect()
    tracemalloc.start()
    try:
        await used(sessions, principals)
        # the tasks of the last ones end
        await asyncio.sleep(0.1)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / len(principals)
    finally:
        tracemalloc.stop()
        await sessions.close()


def sessions_of(role: str, own: tuple[str, ...] = ()) -> Sessions:
    policies = PolicySet((), (parse(ROLES.policy("viewer"), "session"),))
    shared = SharedPermissions(
        policies, {}, TableRegistry("eu-west-1", "123456789012", tables={POOLED.table: KeySchema("PK")})
    )

    def permissions_for(tenancy: Tenancy, tenant: TenantId, role: str, subject: str | None) -> Permissions:
        return Permissions.of_tenant(shared, tenant, subject)

    return Sessions(LongTokens(), Tenants(POOLED), Roles({role: session_policy("GetItem")}, own), permissions_for)


@pytest.mark.no_cover
@pytest.mark.usefixtures("frozen_heap")
def test_a_tenant_keeps_no_more_than_one_and_a_half_kibibytes_after_a_query() -> None:
    sessions = sessions_of("viewer")
    tenants = [principal(tenant_id(f"tenant-{number}")) for number in range(TENANTS)]
    assert run(kept_by(sessions, tenants)) <= MOST
    assert len(sessions) == TENANTS + 50


@pytest.mark.no_cover
@pytest.mark.usefixtures("frozen_heap")
def test_a_subject_keeps_no_more_than_one_kibibyte_besides_the_token_of_aws() -> None:
    sessions = sessions_of("customer", own=("customer",))
    tenants = [tenant_id(f"tenant-{number}") for number in range(13)]
    subjects = [
        principal(tenants[number % 13], "customer", subject=f"{number:08d}-0c5e-4a8e-9c2c-6f3f8d1a2b3c")
        for number in range(TENANTS)
    ]
    assert run(kept_by(sessions, subjects)) - TOKEN <= 1_024
    assert len(sessions) == TENANTS + 50
