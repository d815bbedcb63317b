"""What the tests of tenants' sessions share: a clock to turn, an STS in memory, policies, principals."""

import asyncio
from dataclasses import dataclass, field
from functools import cache

import pytest

from gateway.aws.sts.assume_role import AssumeRole
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import Session, SessionRules
from gateway.aws.sts.sessions import Sessions
from gateway.aws.sts.tenants import Tenancy, Tenants
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AccessDenied, AwsUnavailable, InvalidRequest
from gateway.iam.dynamodb.condition_keys import PRINCIPAL_SUBJECT
from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.variables import Value
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId, tenant_id

ROLE_ARN = "arn:aws:iam::123456789012:role/gateway-tenant"
POOLED = Tenancy("app", ROLE_ARN, AwsTarget.regional("dynamodb", "eu-west-1"), "eu-west-1")
ACME, GLOBEX = tenant_id("acme"), tenant_id("globex")
HOUR = 3_600
OUTAGE = AwsUnavailable("sts is not available")
REFUSED = AccessDenied("aws gives this tenant and role no session")
TOO_LARGE = InvalidRequest("sts does not accept the session policy or the tags")


def session_policy(*actions: str) -> PolicyDocument:
    granted = [f"dynamodb:{action}" for action in actions]
    statement = {"Sid": "Granted", "Effect": "Allow", "Action": granted, "Resource": "*"}
    return parse({"Version": "2012-10-17", "Statement": [statement]}, "session")


ROLES = Roles({"admin": session_policy("GetItem", "PutItem"), "viewer": session_policy("GetItem")})


@cache
def _policies(role: str) -> PolicySet:
    # any other role may do what a viewer may
    return PolicySet((), (parse(ROLES.policy(role if role in ROLES.names else "viewer"), "session"),))


def permissions_for(tenancy: Tenancy, tenant: TenantId, role: str, subject: str | None = None) -> Permissions:
    place = TableRegistry("eu-west-1", "123456789012", tables={tenancy.table: KeySchema("PK")})
    tags: dict[str, Value] = {"aws:PrincipalTag/TenantId": tenant}
    return Permissions(_policies(role), tags if subject is None else {**tags, PRINCIPAL_SUBJECT: subject}, place)


def principal(tenant: TenantId = ACME, *roles: str, subject: str = "ann") -> Principal:
    return Principal(tenant, subject, frozenset(roles or ("viewer",)), "https://issuer.example", 2_000_000_000)


@dataclass(slots=True)
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass(slots=True)
class MemorySts:
    """Gives each session credentials whose token holds the tags; fails and waits on demand, and counts."""

    clock: Clock
    life: float = 3_600.0
    fault: Exception | None = None
    # closed, it lets nobody through
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[AssumeRole] = field(default_factory=list)
    running: int = 0
    most_running: int = 0

    async def assume_role(self, request: AssumeRole) -> Credentials:
        self.requests.append(request)
        number = len(self.requests)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        finally:
            self.running -= 1
        if self.fault is not None:
            raise self.fault
        tags = dict(request.tags)
        token = f"{tags['TenantId']} {tags['GatewayRole']} {request.source_identity}"
        return Credentials(f"ASIA{number}", "secret", token, self.clock.now + self.life)


@dataclass(slots=True)
class SessionSetup:
    clock: Clock
    sts: MemorySts
    tenants: Tenants
    sessions: Sessions

    @property
    def calls(self) -> int:
        return len(self.sts.requests)


def session_setup(
    rules: SessionRules | None = None, tenants: Tenants | None = None, roles: Roles = ROLES
) -> SessionSetup:
    clock = Clock()
    sts = MemorySts(clock)
    sts.gate.set()
    served = tenants or Tenants(POOLED)
    # a rate that holds nobody up: its own tests are those of `CallRate`
    chosen = rules or SessionRules(calls_per_second=100_000)
    sessions = Sessions(sts, served, roles, permissions_for, chosen, clock=clock, jitter=lambda: 0.5)
    return SessionSetup(clock, sts, served, sessions)


async def settle() -> None:
    """Lets what runs in the background get as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


def token(session: Session) -> str | None:
    """What STS put into the token of `MemorySts`: tenant, role and source identity of the request."""
    return session.credentials.session_token


async def until_called(setup: SessionSetup, calls: int) -> None:
    for _ in range(100):
        if setup.calls >= calls:
            return
        await asyncio.sleep(0)
    pytest.fail(f"sts was called {setup.calls} times, not {calls}")
