"""How the store meets a DynamoDB that leaves keys unprocessed: tried on a stand-in, without any network."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from gateway.aws.sts.session import Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.errors import DeadlineExceeded, GatewayError, Throttled
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import generated, permissions_at
from gateway.iam.policies.roles import ROLE_NAMES
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import partition, tenant_id
from gateway.store.access import Access
from gateway.store.plan import GetItems
from gateway.store.table import Table

_TENANT: Final = tenant_id("audit")
_ROLE: Final = "arn:aws:iam::123456789012:role/audit"
_TABLE, _REGION = "audit", "us-east-1"
_PATIENCE: Final = 0.05


class Unwilling(DynamoDB):
    """Leaves every key unprocessed, so many times."""

    def __init__(self, times: float) -> None:
        self.times = times
        self.asked: list[frozenset[str]] = []

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        request = body["RequestItems"]
        self.asked.append(frozenset(str(key) for key in request[_TABLE]["Keys"]))
        return {"Responses": {}, "UnprocessedKeys": request if len(self.asked) <= self.times else {}}


def asks_again(model: Model) -> bool:
    """Whether the same keys are asked for until they were processed."""
    client = Unwilling(times=2)
    try:
        asyncio.run(_read(client, model, patience=None))
    except GatewayError:
        return False
    return len(client.asked) == client.times + 1 and len(set(client.asked)) == 1


def fails_loudly(model: Model) -> bool:
    """Whether keys that are never processed end in an error and not in an answer without them."""
    try:
        asyncio.run(_read(Unwilling(times=float("inf")), model, _PATIENCE))
    except (Throttled, DeadlineExceeded):
        return True
    except GatewayError:
        return False
    return False


async def _read(client: DynamoDB, model: Model, patience: float | None) -> None:
    async def renew(session: Session) -> Session:
        return session

    deadline = None if patience is None else asyncio.get_running_loop().time() + patience
    entity = next(iter(model.entities))
    keys = tuple(ItemKey(partition(_TENANT, f"AUDIT#{number}"), "AUDIT") for number in range(2))
    plan = GetItems(_TENANT, entity, keys, frozenset())
    await Table(client, model, renew).get(Access(_session(model), deadline), plan)


def _session(model: Model) -> Session:
    tenancy = Tenancy(_TABLE, _ROLE, AwsTarget.regional("dynamodb", _REGION), _REGION)
    permissions = permissions_at(generated(model), model)
    deployment = Deployment.of_role(_ROLE, _REGION, _TABLE)
    role = ROLE_NAMES[0]
    return Session(_TENANT, role, Credentials("none", "none"), tenancy, permissions(deployment, _TENANT, role))
