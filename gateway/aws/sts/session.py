"""A tenant's session: its credentials and permissions, the key it is cached by, and its lifetime."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from gateway.aws.sts.assume_role import AssumeRole, session_name, source_identity
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.backoff import exponential
from gateway.errors import Forbidden, GatewayError, Internal
from gateway.iam.dynamodb.condition_keys import ROLE_TAG, SUBJECT_TAG, TENANT_TAG
from gateway.iam.dynamodb.permissions import Permissions
from gateway.model.tenant import TenantId


@dataclass(frozen=True, slots=True)
class Session:
    tenant: TenantId
    role: str
    credentials: Credentials
    tenancy: Tenancy
    permissions: Permissions = field(repr=False)
    # as in CloudTrail
    source_identity: str = ""
    # as in its key
    identity: str | None = None
    # by our own clock; the session ends when its credentials expire
    opened_at: float = 0.0
    refresh_at: float = inf

    @property
    def subject(self) -> str | None:
        """The subject whose rows it may access, if its role is an own-rows role."""
        return self.permissions.reader

    @property
    def scope(self) -> str:
        """Identifies whose session it is; what is sealed for one scope is invalid in any other.

        Tenant ids have no `#`, so scopes are unambiguous.
        """
        subject = self.subject
        return self.tenant if subject is None else f"{self.tenant}#{subject}"

    def serves(self, now: float, margin: float) -> bool:
        # a clock that is set back must not prolong a session
        return self.opened_at - margin <= now < self.credentials.expires_at - margin


@dataclass(frozen=True, slots=True)
class SessionRules:
    # the lifetime of a session; chained roles allow an hour at most
    seconds: int = 3_600
    # the number of cached sessions; the least recently used is evicted first
    sessions: int = 20_000
    # INVARIANT: a session with less than this many seconds to live is never handed out.
    margin: float = 30.0
    # the part of its lifetime after which a session is refreshed, at a random point in this range
    refresh: tuple[float, float] = (0.75, 0.9)
    # concurrent calls to STS
    calls: int = 16
    # calls to STS that may start within any second, including retries; the processes of an account share 600
    calls_per_second: int = 50
    # timeout of a call to STS; for a caller that waits for a session, it includes the time in the queue
    call_seconds: float = 25.0
    # how long a failure is returned to other callers without calling STS again
    hold_seconds: float = 5.0
    # the first pause after a failure of STS; it doubles with each failure
    pause: float = 1.0
    longest_pause: float = 60.0
    # one session per subject, so that CloudTrail names the subject; see `gateway.aws.sts.assume_role`
    per_subject: bool = False


class SessionKey(NamedTuple):
    """The cache key of a session; it includes the tenancy, so that a tenant that moves gets a new session."""

    tenant: TenantId
    role: str
    # what CloudTrail shows, if it does not follow from tenant and subject
    identity: str | None
    tenancy: Tenancy
    subject: str | None = None

    @property
    def source_identity(self) -> str:
        return source_identity(self.tenant, self.subject) if self.identity is None else self.identity


PermissionsFor = Callable[[Tenancy, TenantId, str, str | None], Permissions]


def key_of(session: Session) -> SessionKey:
    return SessionKey(session.tenant, session.role, session.identity, session.tenancy, session.subject)


def question(key: SessionKey, policy: str, seconds: int) -> AssumeRole:
    """Builds the AssumeRole request for this key; `policy` is the session policy of its role."""
    subject = () if key.subject is None else ((SUBJECT_TAG, key.subject),)
    return AssumeRole(
        role_arn=key.tenancy.role_arn,
        session_name=session_name(key.tenant, key.role),
        source_identity=key.source_identity,
        tags=((TENANT_TAG, key.tenant), (ROLE_TAG, key.role), *subject),
        policy=policy,
        seconds=seconds,
        region=key.tenancy.sts_region,
        external_id=key.tenancy.external_id,
    )


@dataclass(frozen=True, slots=True)
class Failure:
    """The latest failure of STS to open a session."""

    error: GatewayError
    at: float
    hold: float
    pause: float
    count: int

    def holds(self, now: float) -> bool:
        """Whether callers without a session get the same error again, without a call to STS."""
        return self.at <= now < self.at + self.hold

    def pauses(self, now: float) -> bool:
        """Whether the refresh of a session that is still valid must wait."""
        return self.at <= now < self.at + self.pause


def failure(error: GatewayError, before: Failure | None, now: float, share: float, rules: SessionRules) -> Failure:
    """`share` is the jitter, from 0 to 1."""
    count = 1 if before is None else before.count + 1
    # a refusal will not change by itself, an outage will
    first = rules.hold_seconds if isinstance(error, Forbidden | Internal) else rules.pause
    pause = exponential(count - 1, first, rules.longest_pause) * (0.5 + share / 2)
    return Failure(error, now, min(pause, rules.hold_seconds), pause, count)
