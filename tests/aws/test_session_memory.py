"""What a tenant costs a process once a query was made for it."""

import asyncio
import gc
import time
import tracemalloc

import pytest

from gateway.aws.sts.assume_role import AssumeRole
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.signer import Form, Signer
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet
from gateway.model.tenant import TenantId, tenant_id
from tests.aws.tenant_fixtures import POOLED, ROLES, principal
from tests.aws.virtual_time import run

# just before the tables that keep the sessions grow
TENANTS = 1_300
MOST = 1_536


class LongTokens:
    """As long as those of STS for a session with a policy and tags."""

    async def assume_role(self, request: AssumeRole) -> Credentials:
        mark = f"{hash(request.source_identity) & 0xFFFFFFFF:012d}"
        return Credentials(f"ASIA{mark}", f"{mark}{'s' * 28}", f"{mark}{'t' * 788}", time.time() + request.seconds)


async def used(sessions: Sessions, tenants: list[TenantId]) -> None:
    """Opens a session for each, judges a request and signs it."""
    signer = Signer("dynamodb", "eu-west-1")
    form = Form("dynamodb.eu-west-1.amazonaws.com", "application/x-amz-json-1.0", "DynamoDB_20120810.GetItem")
    for tenant in tenants:
        session = await sessions.open(principal(tenant))
        key = {"PK": {"S": f"TENANT#{tenant}#USER#1"}, "SK": {"S": "PROFILE"}}
        session.permissions.check("GetItem", {"TableName": POOLED.table, "Key": key})
        signer.request(form, session.credentials, b"{}", time.time())


async def kept_by(sessions: Sessions) -> float:
    """Bytes of a tenant."""
    # what the first one makes for all, and what the rate remembers
    await used(sessions, [tenant_id(f"first-{number}") for number in range(50)])
    tenants = [tenant_id(f"tenant-{number}") for number in range(TENANTS)]
    gc.collect()
    tracemalloc.start()
    try:
        await used(sessions, tenants)
        # the tasks of the last ones end
        await asyncio.sleep(0.1)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] / TENANTS
    finally:
        tracemalloc.stop()
        await sessions.close()


@pytest.mark.no_cover
def test_a_tenant_keeps_no_more_than_one_and_a_half_kibibytes_after_a_query() -> None:
    policies = PolicySet((), (parse(ROLES.policy("viewer"), "session"),))
    shared = SharedPermissions(
        policies, {}, TableRegistry("eu-west-1", "123456789012", tables={POOLED.table: KeySchema("PK")})
    )

    def permissions_for(tenancy: Tenancy, tenant: TenantId, role: str) -> Permissions:
        return Permissions.of_tenant(shared, tenant)

    sessions = Sessions(LongTokens(), Tenants(POOLED), ROLES, permissions_for)
    assert run(kept_by(sessions)) <= MOST
    assert len(sessions) == TENANTS + 50
