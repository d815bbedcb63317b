"""The tenants' sessions: opened once per tenant and role, cached, refreshed before they expire, and never used after.

An unexpired session stays in use whatever STS returns in the meantime, because AWS authorizes each call to DynamoDB by
itself; suspend a tenant to refuse it immediately. Without a session there is no access: no failure falls back to the
gateway's own credentials. Only use refreshes a session, so an idle tenant or subject costs no calls unless it is warmed
up, and its session is dropped after it expires.
"""

import asyncio
import logging
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from gateway.aws.sts.assume_role import Sts, source_identity, support_identity
from gateway.aws.sts.call_rate import CallRate, Priority, Ticket
from gateway.aws.sts.kept_sessions import KeptSessions
from gateway.aws.sts.roles import Roles
from gateway.aws.sts.session import (
    Failure,
    PermissionsFor,
    Session,
    SessionKey,
    SessionRules,
    failure,
    key_of,
    question,
)
from gateway.aws.sts.tenants import Tenants
from gateway.aws.wire.errors import AnswerLate, AwsError
from gateway.errors import Forbidden, GatewayError, Internal, Throttled, Unavailable
from gateway.iam.dynamodb.permissions import Permissions
from gateway.identity.principal import Principal
from gateway.model.tenant import TenantId
from gateway.single_flight import Flight, SingleFlight, copy_for_waiter

_RULES = SessionRules()
# any other error is a bug
_EXPECTED = (Forbidden, Throttled, Unavailable, Internal)
_log = logging.getLogger("gateway.sessions")


class Sessions:
    """`epoch` increases whenever a session that was handed out must not be used again."""

    def __init__(
        self,
        sts: Sts,
        tenants: Tenants,
        roles: Roles,
        permissions_for: PermissionsFor,
        rules: SessionRules = _RULES,
        *,
        rate: CallRate | None = None,
        on_forget: Callable[[TenantId], None] = lambda tenant: None,
        clock: Callable[[], float] = time.time,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.epoch = 0
        self._sts = sts
        self._tenants = tenants
        self._roles = roles
        self._permissions_for = permissions_for
        self._rules = rules
        self._on_forget = on_forget
        self._clock = clock
        self._jitter = jitter
        self._kept = KeptSessions(rules.sessions, permissions_for)
        # oldest first
        self._failures: OrderedDict[SessionKey, Failure] = OrderedDict()
        self._single_flight: SingleFlight[SessionKey, Session | GatewayError, Ticket] = SingleFlight()
        # injected if retries are sent elsewhere, so that they count as well
        self._rate = rate or CallRate(rules.calls_per_second, rules.calls)

    def __len__(self) -> int:
        return len(self._kept)

    async def open(self, principal: Principal) -> Session:
        """Returns a session with time left to live.

        Raises `Forbidden`, `Unavailable` or `Throttled` if there is none.
        """
        key = self._key(principal)
        return self._serving(key) or await self._obtain(key)

    async def open_anew(self, principal: Principal) -> Session:
        """Opens a session at STS even if one is cached, so that it fails if STS does; it replaces the cached one."""
        return await self._obtain(self._key(principal))

    def _key(self, principal: Principal) -> SessionKey:
        # INVARIANT: the tenant is looked up before any cached session, so a suspended one is refused at once.
        tenancy = self._tenants.lookup(principal.tenant)
        role = self._roles.role_of(principal.roles)
        # INVARIANT: the session of an own-rows role belongs to its subject alone.
        subject = self._roles.subject_of(role, principal.subject)
        return SessionKey(principal.tenant, role, self._identity(principal, subject), tenancy, subject)

    def _identity(self, principal: Principal, subject: str | None) -> str | None:
        if principal.support is not None:
            return support_identity(principal.tenant, principal.support.actor)
        shared = subject is None and self._rules.per_subject
        return source_identity(principal.tenant, principal.subject) if shared else None

    async def act(self, session: Session, role: str, subject: str) -> Session:
        """Returns the session in which a mutation acts for the caller of this one, with the same tenant and subject."""
        tenancy = self._tenants.lookup(session.tenant)
        if role not in self._roles.acting:
            raise Internal(f"`{role}` is not an acting role")
        # INVARIANT: a session acts for the subject that it was opened for, never for another one.
        bound = self._roles.subject_of(role, session.subject or subject)
        identity = session.identity if bound == session.subject else session.source_identity
        key = SessionKey(session.tenant, role, identity, tenancy, bound)
        return self._serving(key) or await self._obtain(key)

    async def renew(self, session: Session) -> Session:
        """Replaces a session that AWS no longer accepts by the cached one if that differs, or by a new one."""
        tenancy = self._tenants.lookup(session.tenant)
        key = key_of(session)._replace(tenancy=tenancy)
        kept = self._kept.use(key)
        if kept is not None and kept.credentials == session.credentials:
            # a new session would most likely be rejected too, and every request would call STS again
            if self._clock() < kept.opened_at + self._rules.hold_seconds:
                raise Unavailable("aws does not accept the session that it has just given")
            self._kept.remove(key)
            self.epoch += 1
        return self._serving(key) or await self._obtain(key)

    def fresh_until(self, session: Session) -> float:
        """Returns how long `open` returns this session, unless the epoch changes; 0 if it is no longer cached."""
        return session.refresh_at if self._kept.use(key_of(session)) is session else 0.0

    def suspend(self, tenant: TenantId) -> None:
        self._tenants.suspend(tenant)
        self.forget(tenant)

    def resume(self, tenant: TenantId) -> None:
        self._tenants.resume(tenant)

    def forget(self, tenant: TenantId) -> None:
        """Drops the tenant's sessions and calls `on_forget`, so that other caches drop the tenant too.

        Callers that wait for a session that is being opened wait for the next one.
        """
        self.epoch += 1
        self._on_forget(tenant)
        self._single_flight.cancel(lambda key: key.tenant == tenant)
        self._kept.forget(tenant)
        for key in [key for key in self._failures if key.tenant == tenant]:
            del self._failures[key]

    async def warm_up(self, tenants: Iterable[TenantId], roles: Iterable[str]) -> None:
        """Opens sessions in advance, with the lowest priority; stops if STS fails."""
        names = tuple(roles)
        pairs = ((tenant, role) for tenant in tenants for role in names)
        await asyncio.gather(*(self._warm_up(pairs) for _ in range(self._rules.calls)))

    async def _warm_up(self, pairs: Iterator[tuple[TenantId, str]]) -> None:
        for tenant, role in pairs:
            try:
                key = SessionKey(tenant, role, None, self._tenants.lookup(tenant))
            except Forbidden:
                continue
            if self._single_flight.closed or len(self._kept) >= self._rules.sessions:
                return
            if key in self._kept:
                continue
            task = self._join(key, Ticket(Priority.WARM_UP)).task
            await asyncio.wait((task,))
            if not task.cancelled() and isinstance(task.result(), Throttled | Unavailable):
                return

    async def close(self) -> None:
        await self._single_flight.close()

    def _serving(self, key: SessionKey) -> Session | None:
        now = self._clock()
        kept = self._kept.use(key)
        if kept is None or not kept.serves(now, self._rules.margin):
            return None
        if now >= kept.refresh_at:
            self._refresh(key, now)
        return kept

    def _refresh(self, key: SessionKey, now: float) -> None:
        """Refreshes the session in the background; callers are served with the current one in the meantime."""
        last = self._failures.get(key)
        if not self._single_flight.closed and (last is None or not last.pauses(now)):
            self._join(key, Ticket(Priority.REFRESH))

    def _join(self, key: SessionKey, ticket: Ticket) -> Flight[Session | GatewayError, Ticket]:
        """Returns the flight for this key with its own ticket, or starts one with this ticket."""
        flight = self._single_flight.find(key)
        return flight or self._single_flight.start((key,), self._open_session(key, ticket), ticket)

    async def _obtain(self, key: SessionKey) -> Session:
        deadline = asyncio.get_running_loop().time() + self._rules.call_seconds
        while True:
            self._raise_if_just_failed(key)
            flight = self._join(key, Ticket(Priority.CALLER, deadline))
            # the flight may have started in the background
            self._rate.promote(flight.context, deadline)
            await asyncio.wait((flight.task,))
            # INVARIANT: a tenant that was suspended during the wait gets no session.
            tenancy = self._tenants.lookup(key.tenant)
            if not flight.task.cancelled() and tenancy == key.tenancy:
                return _session_or_error(flight.task.result())
            key = key._replace(tenancy=tenancy)

    def _raise_if_just_failed(self, key: SessionKey) -> None:
        last = self._failures.get(key)
        if last is not None and last.holds(self._clock()):
            _session_or_error(last.error)

    async def _open_session(self, key: SessionKey, ticket: Ticket) -> Session | GatewayError:
        """Never raises, so that each waiting caller can raise its own error."""
        try:
            session = await self._assume(key, ticket)
        except Exception as error:  # INVARIANT: an error of any kind means no session
            return self._failed(key, error)
        self._kept.drop_ended(self._clock(), self._rules.margin)
        self._kept.put(key, session)
        self._failures.pop(key, None)
        return session

    async def _assume(self, key: SessionKey, ticket: Ticket) -> Session:
        permissions = self._permissions(key)
        request = question(key, self._roles.policy(key.role), self._rules.seconds)
        try:
            async with self._rate.turn(ticket):
                end = min(asyncio.get_running_loop().time() + self._rules.call_seconds, ticket.deadline)
                asked_at = self._clock()
                async with asyncio.timeout_at(end):
                    credentials = await self._sts.assume_role(request)
        except TimeoutError as error:
            raise AnswerLate("sts did not answer in time") from error
        # the earlier of both clocks counts: ours may be behind that of AWS, or ahead
        expires_at = min(credentials.expires_at, asked_at + self._rules.seconds)
        credentials = replace(credentials, expires_at=expires_at, owner=key.tenant)
        usable = credentials.expires_at - self._rules.margin - asked_at
        first, last = self._rules.refresh
        refresh_at = asked_at + usable * (first + (last - first) * self._jitter())
        session = Session(
            tenant=key.tenant,
            role=key.role,
            credentials=credentials,
            tenancy=key.tenancy,
            permissions=permissions,
            source_identity=key.source_identity,
            identity=key.identity,
            opened_at=asked_at,
            refresh_at=refresh_at,
        )
        if not session.serves(self._clock(), self._rules.margin):
            raise Unavailable("sts gave a session that is already over")
        return session

    def _permissions(self, key: SessionKey) -> Permissions:
        # a refreshed session keeps its permissions
        kept = self._kept.use(key)
        return kept.permissions if kept else self._permissions_for(key.tenancy, key.tenant, key.role, key.subject)

    def _failed(self, key: SessionKey, error: Exception) -> GatewayError:
        ours = error if isinstance(error, _EXPECTED) else Internal("the session could not be opened")
        ours.__cause__ = error.__cause__ if ours is error else error
        code = ours.said.code if isinstance(ours, AwsError) else type(error).__name__
        reason = f"{ours.message} ({code})" if code else ours.message
        _log.warning("no session for tenant `%s` as `%s`: %s", key.tenant, key.role, reason)
        last = failure(copy_for_waiter(ours), self._failures.get(key), self._clock(), self._jitter(), self._rules)
        self._failures[key] = last
        self._failures.move_to_end(key)
        if len(self._failures) > self._rules.sessions:
            self._failures.popitem(last=False)
        return ours


def _session_or_error(outcome: Session | GatewayError) -> Session:
    if isinstance(outcome, GatewayError):
        raise copy_for_waiter(outcome) from outcome
    return outcome
