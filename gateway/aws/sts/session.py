"""What a tenant's request may use, and for how long it is kept."""

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
    # as CloudTrail shows it
    source_identity: str = ""
    # as in its key
    identity: str | None = None
    # by our own clock; it is over when its credentials expire
    opened_at: float = 0.0
    refresh_at: float = inf

    @property
    def subject(self) -> str | None:
        """Whose rows it has, where its role is one of own rows."""
        return self.permissions.reader

    @property
    def scope(self) -> str:
        """Whose it is: what is sealed for one scope is worth nothing in another; no tenant id has a `#`."""
        subject = self.subject
        return self.tenant if subject is None else f"{self.tenant}#{subject}"

    def serves(self, now: float, margin: float) -> bool:
        # A clock that is set back must not prolong a session.
        return self.opened_at - margin <= now < self.credentials.expires_at - margin


@dataclass(frozen=True, slots=True)
class SessionRules:
    # of a session's life; the credentials of a chained role last an hour at most
    seconds: int = 3_600
    # how many are kept; the one unused for longest goes first
    sessions: int = 20_000
    # INVARIANT: a session with less than this many seconds to live is never handed out.
    margin: float = 30.0
    # the part of its life after which a session is renewed while it still serves; one point in between for each
    refresh: tuple[float, float] = (0.75, 0.9)
    # calls to STS at one time
    calls: int = 16
    # calls to STS that may begin within any second, retries included; an account has 600, which its processes share
    calls_per_second: int = 50
    # seconds until STS has to answer; for whoever waits for a session the wait for its turn is included
    call_seconds: float = 25.0
    # how long a failure is remembered: without asking STS again, whoever needs the session is told the same
    hold_seconds: float = 5.0
    # the first pause after STS failed; it doubles with each failure
    pause: float = 1.0
    longest_pause: float = 60.0
    # a session for each subject, so that CloudTrail names the subject; see `gateway.aws.sts.assume_role`
    per_subject: bool = False


class SessionKey(NamedTuple):
    """What a session is kept by: the tenancy too, so that a tenant that moves gets another one."""

    tenant: TenantId
    role: str
    # what CloudTrail shows, where it does not follow from tenant and subject
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
    """What STS is asked for a session of this key; `policy` is the session policy of its role."""
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
    """The last thing that STS said instead of giving a session."""

    error: GatewayError
    at: float
    hold: float
    pause: float
    count: int

    def holds(self, now: float) -> bool:
        """Whether somebody without a session is told the same again, without asking STS."""
        return self.at <= now < self.at + self.hold

    def pauses(self, now: float) -> bool:
        """Whether a session that still serves is not yet refreshed again."""
        return self.at <= now < self.at + self.pause


def failure(error: GatewayError, before: Failure | None, now: float, share: float, rules: SessionRules) -> Failure:
    """`share` is the jitter, from 0 to 1."""
    count = 1 if before is None else before.count + 1
    # a verdict will not change by itself, an outage will
    first = rules.hold_seconds if isinstance(error, Forbidden | Internal) else rules.pause
    pause = exponential(count - 1, first, rules.longest_pause) * (0.5 + share / 2)
    return Failure(error, now, min(pause, rules.hold_seconds), pause, count)
