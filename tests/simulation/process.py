"""One process of the gateway, as it is wired: its sessions, its read cache and its way to the table."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeVar

from gateway.aws.sts.assume_role import AssumeRole
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import Session, SessionRules
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenants
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.errors import AccessDenied, AwsUnavailable
from gateway.demo import MODEL
from gateway.iam.policies.policies import generated
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId
from gateway.ops.policies.files import permissions_for
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.keeper import CacheRules, Clocks
from gateway.store.rows import Rows
from gateway.store.table import Table
from tests.simulation.network import EPOCH, LAG, BadNetwork, delay
from tests.store.fixtures import tenancy

T = TypeVar("T")

# A session lives two minutes here, so that many of them end, are renewed, and cannot be, in one history.
RULES = SessionRules(seconds=120, margin=10.0, call_seconds=5.0)
_POLICIES = generated(MODEL)
_PERMISSIONS = permissions_for(_POLICIES, MODEL)
_ROLES = Roles(_POLICIES.sessions)


def wall() -> float:
    return EPOCH + asyncio.get_running_loop().time()


class Crashed(Exception):
    """The process died; whoever waited for it learns nothing."""


@dataclass
class BadSts:
    """Gives sessions; sometimes late, not at all, or shorter ones. `down` is an outage."""

    client: BadNetwork
    random: Random
    down: bool = False
    given: int = 0

    async def assume_role(self, request: AssumeRole) -> Credentials:
        await asyncio.sleep(delay(self.random))
        luck = self.random.random()
        if self.down or luck < 0.05:
            raise AwsUnavailable("sts is not available")
        if luck < 0.07:
            raise AccessDenied("aws gives this tenant and role no session")
        self.given += 1
        access_key = f"ASIA{self.given}"
        self.client.tenants[access_key] = dict(request.tags)["TenantId"]
        life = request.seconds * (self.random.random() if luck < 0.2 else 1)
        return Credentials(access_key, "secret", "token", wall() + life)


@dataclass
class Process:
    """`suspended` is since when a tenant is, `dropped` when its cache was last emptied; `faults` are broken promises.

    `own` is, for each row, the newest state that a change of this process has made and acknowledged, and when.
    """

    client: BadNetwork
    sts: BadSts
    random: Random
    faults: list[str]
    suspended: set[TenantId] = field(default_factory=set)
    dropped: dict[TenantId, float] = field(default_factory=dict)
    own: dict[tuple[str, str], tuple[int, float]] = field(default_factory=dict)
    # a dict and not a set, so that a seed ends them in one order in every process
    running: dict["asyncio.Task[Any]", None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        clocks = Clocks(asyncio.get_running_loop().time, wall, self.random.random)
        self.cache = ReadCache(MODEL, CacheRules(settle_seconds=LAG), clocks=clocks)
        self.sessions = Sessions(
            self.sts,
            Tenants(tenancy()),
            _ROLES,
            _PERMISSIONS,
            RULES,
            on_forget=self.cache.forget,
            clock=wall,
            jitter=self.random.random,
        )
        self.table = Table(self.client, MODEL, self._renewed, Rows(MODEL, wall), self.cache)

    async def session(self, tenant: TenantId, role: str) -> Session:
        principal = Principal(tenant, "ann", frozenset((role,)), "https://issuer.example", 2_000_000_000)
        return self._checked(await self.sessions.open(principal))

    async def _renewed(self, refused: Session) -> Session:
        return self._checked(await self.sessions.renew(refused))

    def _checked(self, session: Session) -> Session:
        if session.credentials.expires_at - RULES.margin <= wall():
            self.faults.append(f"{session.tenant}: a session was handed out within {RULES.margin:g} s of its end")
        if session.tenant in self.suspended:
            self.faults.append(f"{session.tenant}: a session was handed out while the tenant was suspended")
        return session

    def suspend(self, tenant: TenantId) -> None:
        self.suspended.add(tenant)
        self.dropped[tenant] = asyncio.get_running_loop().time()
        self.sessions.suspend(tenant)

    def resume(self, tenant: TenantId) -> None:
        self.suspended.discard(tenant)
        self.sessions.resume(tenant)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Work that ends with the process."""
        task = asyncio.create_task(work)
        self.running[task] = None
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self.running.pop(task, None)
        if task.cancelled():
            raise Crashed
        return task.result()

    async def die(self) -> None:
        for task in tuple(self.running):
            task.cancel()
        await self.cache.close()
        await self.sessions.close()
