"""Callers: who sends an Authorization header, in which role and with which session, remembered by the header's hash.

A caller is remembered until anything that it rests on may have changed: its token expires or was verified a minute ago,
the issuer's keys are due to be fetched, the session is due to be refreshed. What changes before that moment moves an
epoch: other keys of an issuer, sessions that are forgotten, dropped or suspended.
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
    """Everything about a caller that its requests need."""

    principal: Principal
    session: Session
    role: str
    subject: str  # hashed, as it is logged
    cost_limit: float  # capacity units that one operation may take
    own: str  # the prefix of the tenant's partition keys
    scope: str  # of its session


def caller_of(principal: Principal, session: Session, cost_limit: float) -> Caller:
    own = partition(session.tenant, "")
    return Caller(principal, session, session.role, subject_hash(principal.subject), cost_limit, own, session.scope)


@dataclass(frozen=True, slots=True)
class _Verification:
    """A token that was believed at a moment."""

    token: VerifiedToken
    at: float


@dataclass(frozen=True, slots=True)
class _Remembered:
    """`caller` may be used between its moments, in its epochs; after that its verification may still hold."""

    verification: _Verification
    caller: Caller | None = None
    since: float = 0.0
    until: float = 0.0
    keys_epoch: int = 0
    sessions_epoch: int = 0


class Callers:
    """Of so many headers, for so many seconds after each was verified; 0 seconds remember none."""

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
        """`cost_limit_of` takes a role."""
        self._authenticator = authenticator
        self._sessions = sessions
        self._cost_limit_of = cost_limit_of
        self._clock = clock
        self._seconds = seconds
        self._most = most
        # INVARIANT: it holds no token, so whoever can read this memory cannot act for anybody.
        self._remembered: OrderedDict[bytes, _Remembered] = OrderedDict()

    def __len__(self) -> int:
        return len(self._remembered)

    def known(self, authorization: bytes | None) -> Caller | None:
        """The caller, where nothing has to be asked; else `open` tells."""
        if authorization is None:
            return None
        digest = sha256(authorization).digest()
        found = self._remembered.get(digest)
        # INVARIANT: a suspended tenant, a revoked session and a withdrawn key are refused at once, remembered or not.
        if (
            found is None
            # a clock that is set back must not prolong anything
            or not found.since <= self._clock() < found.until
            or found.sessions_epoch != self._sessions.epoch
            or found.keys_epoch != self._authenticator.epoch
        ):
            return None
        self._remembered.move_to_end(digest)
        return found.caller

    async def open(
        self, authorization: bytes | None, identified: Callable[[Principal], None] = lambda principal: None
    ) -> Caller:
        """Verifies the token and opens the session of its tenant; `identified` is told as soon as a token is believed.

        Raises `Unauthenticated`, `Forbidden`, `Throttled` or `Unavailable`.
        """
        digest = sha256(authorization or b"").digest()
        before = self._remembered.get(digest)
        verification = await self._verified(authorization, before)
        if before is None or before.verification is not verification:
            # whatever becomes of its session, the token is not verified again for each request
            before = self._remember(digest, _Remembered(verification))
        identified(verification.token.principal)
        if not verification.token.principal.roles:
            raise RolesMissing(verification.token.roles_missing)
        token, keys_epoch, sessions_epoch = verification.token, self._authenticator.epoch, self._sessions.epoch
        # the session may be forgotten while it is opened: then the epoch has moved, and the next request asks again
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
        """As `open`, for a connection that stays."""
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
        known = None if before is None else before.verification
        recent = known is not None and known.at <= now < known.at + self._seconds
        if known is not None and recent and await self._authenticator.still_holds(known.token):
            return known
        text = None if authorization is None else authorization.decode("latin-1")
        return _Verification(await self._authenticator.verify(text), now)

    def _remember(self, digest: bytes, found: _Remembered) -> _Remembered:
        if self._seconds > 0:
            self._remembered[digest] = found
            self._remembered.move_to_end(digest)
            if len(self._remembered) > self._most:
                self._remembered.popitem(last=False)
        return found


class LastingCaller:
    """The caller of a connection that stays, such as a subscription's.

    INVARIANT: it is used only while nothing has changed that it rests on: the expiry of its token, the issuer's keys, a
    support grant, the tenant and its sessions. What may have changed is checked again; the token itself is not kept.
    INVARIANT: its policies stay those of its first session: what was judged by them is not shown under others.
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
        """Whether the caller is certainly the same; a support grant may be revoked at any time."""
        return (
            self._token.principal.support is None
            and self._since <= self._clock() < self._until
            and self._epochs == (self._authenticator.epoch, self._sessions.epoch)
        )

    async def caller(self) -> Caller:
        """The caller as it is now; raises `Unauthenticated`, `Forbidden`, `Throttled` or `Unavailable`."""
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
