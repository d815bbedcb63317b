"""Callers: the principal, role and session behind an Authorization header, cached by the hash of the header.

A caller is cached until something it depends on may have changed: its token expires or was verified a minute ago, the
issuer's keys are due to be fetched, or the session is due to be refreshed. Earlier changes increment an epoch: new keys
of an issuer, and sessions that are forgotten, dropped or suspended.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from gateway.aws.sts.assume_role import subject_hash
from gateway.aws.sts.session import Session
from gateway.aws.sts.sessions import Sessions
from gateway.errors import Forbidden, Unauthenticated
from gateway.identity.authenticator import Authenticator, VerifiedToken
from gateway.identity.errors import RolesMissing
from gateway.identity.principal import Principal
from gateway.model.tenant import partition


@dataclass(frozen=True, slots=True)
class Caller:
    """What requests need to know about their caller."""

    principal: Principal
    session: Session
    role: str
    subject: str  # hashed, as in the log
    cost_limit: float  # capacity units that one operation may use
    own: str  # the prefix of the tenant's partition keys
    scope: str  # the scope of its session


def caller_of(principal: Principal, session: Session, cost_limit: float) -> Caller:
    own = partition(session.tenant, "")
    return Caller(principal, session, session.role, subject_hash(principal.subject), cost_limit, own, session.scope)


@dataclass(frozen=True, slots=True)
class _Verification:
    """A token and the time at which it was verified."""

    token: VerifiedToken
    at: float


@dataclass(frozen=True, slots=True)
class _Remembered:
    """A cached caller, valid between its times and in its epochs; its verification may be valid for longer."""

    verification: _Verification
    caller: Caller | None = None
    since: float = 0.0
    until: float = 0.0
    keys_epoch: int = 0
    sessions_epoch: int = 0


class Callers:
    """Caches up to `most` callers, each for `seconds` after its verification; 0 seconds disables the cache."""

    def __init__(
        self,
        authenticator: Authenticator,
        sessions: Sessions,
        cost_limit_of: Callable[[str], float],
        *,
        clock: Callable[[], float] = time.time,
        seconds: float = 60,
        most: int = 10_000,
    ) -> None:
        """`cost_limit_of` returns the cost limit of a role."""
        self._authenticator = authenticator
        self._sessions = sessions
        self._cost_limit_of = cost_limit_of
        self._clock = clock
        self._seconds = seconds
        self._most = most
        # INVARIANT: it holds no token, so no one can act for a caller by reading this memory.
        self._remembered: OrderedDict[bytes, _Remembered] = OrderedDict()

    def __len__(self) -> int:
        return len(self._remembered)

    def known(self, authorization: bytes | None) -> Caller | None:
        """Returns the caller if it is cached and still valid; otherwise use `open`."""
        if authorization is None:
            return None
        digest = sha256(authorization).digest()
        entry = self._remembered.get(digest)
        # INVARIANT: a suspended tenant, a revoked session and a withdrawn key are refused at once, cached or not.
        if (
            entry is None
            # a clock that is set back must not prolong anything
            or not entry.since <= self._clock() < entry.until
            or entry.sessions_epoch != self._sessions.epoch
            or entry.keys_epoch != self._authenticator.epoch
        ):
            return None
        self._remembered.move_to_end(digest)
        return entry.caller

    async def open(
        self, authorization: bytes | None, identified: Callable[[Principal], None] = lambda principal: None
    ) -> Caller:
        """Verifies the token and opens the session of its tenant.

        Calls `identified` as soon as the token is verified. Raises `Unauthenticated`, `Forbidden`, `Throttled` or
        `Unavailable`.
        """
        digest = sha256(authorization or b"").digest()
        before = self._remembered.get(digest)
        verification = await self._verified(authorization, before)
        if before is None or before.verification is not verification:
            # even if opening the session fails, the token is not verified again for each request
            before = self._remember(digest, _Remembered(verification))
        identified(verification.token.principal)
        if not verification.token.principal.roles:
            raise RolesMissing(verification.token.roles_missing)
        token, keys_epoch, sessions_epoch = verification.token, self._authenticator.epoch, self._sessions.epoch
        # if the session is forgotten while it is opened, the epoch has changed and the next request opens it again
        session = await self._sessions.open(token.principal)
        caller = before.caller
        if caller is None or caller.session is not session:
            caller = caller_of(token.principal, session, self._cost_limit_of(session.role))
        if token.principal.support is not None:
            # INVARIANT: support access is checked for each request, so a revoked grant is refused at once.
            return caller
        until = min(token.good_until, verification.at + self._seconds, self._sessions.fresh_until(session))
        self._remember(digest, _Remembered(verification, caller, self._clock(), until, keys_epoch, sessions_epoch))
        return caller

    async def lasting(
        self, authorization: bytes | None, identified: Callable[[Principal], None] = lambda principal: None
    ) -> "LastingCaller":
        """Does the same as `open` for a long-lived connection."""
        verification = await self._verified(authorization, self._remembered.get(sha256(authorization or b"").digest()))
        identified(verification.token.principal)
        if not verification.token.principal.roles:
            raise RolesMissing(verification.token.roles_missing)
        parts = self._authenticator, self._sessions, self._cost_limit_of, self._clock
        lasting = LastingCaller(verification.token, *parts)
        await lasting.caller()
        return lasting

    async def _verified(self, authorization: bytes | None, before: _Remembered | None) -> _Verification:
        now = self._clock()
        verification = None if before is None else before.verification
        recent = verification is not None and verification.at <= now < verification.at + self._seconds
        if verification is not None and recent and await self._authenticator.still_holds(verification.token):
            return verification
        text = None if authorization is None else authorization.decode("latin-1")
        return _Verification(await self._authenticator.verify(text), now)

    def _remember(self, digest: bytes, entry: _Remembered) -> _Remembered:
        if self._seconds > 0:
            self._remembered[digest] = entry
            self._remembered.move_to_end(digest)
            if len(self._remembered) > self._most:
                self._remembered.popitem(last=False)
        return entry


class LastingCaller:
    """The caller of a long-lived connection, such as a subscription.

    INVARIANT: it is used only while nothing has changed that it depends on: the expiry of its token, the issuer's keys,
    a support grant, the tenant and its sessions. Whatever may have changed is checked again; the token itself is not
    kept.

    INVARIANT: its policies stay those of its first session: what was authorized by them is not shown under others.
    """

    __slots__ = (
        "_authenticator",
        "_caller",
        "_clock",
        "_cost_limit_of",
        "_epochs",
        "_policies",
        "_sessions",
        "_since",
        "_token",
        "_until",
    )

    def __init__(
        self,
        token: VerifiedToken,
        authenticator: Authenticator,
        sessions: Sessions,
        cost_limit_of: Callable[[str], float],
        clock: Callable[[], float],
    ) -> None:
        self._token = token
        self._authenticator = authenticator
        self._sessions = sessions
        self._cost_limit_of = cost_limit_of
        self._clock = clock
        self._caller: Caller | None = None
        self._epochs = (0, 0)
        self._policies: str | None = None  # the fingerprint
        self._since = self._until = 0.0

    @property
    def principal(self) -> Principal:
        return self._token.principal

    @property
    def unchanged(self) -> bool:
        """Whether the caller is certainly still valid; never for support access, which may be revoked at any time."""
        return (
            self._token.principal.support is None
            and self._since <= self._clock() < self._until
            and self._epochs == (self._authenticator.epoch, self._sessions.epoch)
        )

    async def caller(self) -> Caller:
        """Returns the current caller; raises `Unauthenticated`, `Forbidden`, `Throttled` or `Unavailable`."""
        if self._caller is not None and self.unchanged:
            return self._caller
        epochs = (self._authenticator.epoch, self._sessions.epoch)
        if not await self._authenticator.still_holds(self._token):
            raise Unauthenticated("the token has expired, or its key was withdrawn; connect again with a new one")
        session = await self._sessions.open(self._token.principal)
        policies = session.permissions.policies.fingerprint
        if self._policies not in (None, policies):
            raise Forbidden("the policies of the role have changed; connect again")
        self._policies = policies
        if self._caller is None or self._caller.session is not session:
            self._caller = caller_of(self._token.principal, session, self._cost_limit_of(session.role))
        self._since, self._epochs = self._clock(), epochs
        self._until = min(self._token.good_until, self._sessions.fresh_until(session))
        return self._caller
