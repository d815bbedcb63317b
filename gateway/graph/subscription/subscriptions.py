"""All subscriptions of this process: groups them into cohorts, routes change notes, and checks open connections."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from gateway.aws.sts.callers import Caller, LastingCaller
from gateway.aws.sts.tenants import Tenancy
from gateway.errors import BadUserInput, Forbidden, GatewayError, LimitExceeded, Unavailable
from gateway.graph.query.arguments import InvalidArguments
from gateway.graph.query.tree import LookupField, WatchListField
from gateway.graph.subscription.cohort import PASSING, Cohort, WatchCounts, audience_of
from gateway.graph.subscription.event_reader import EventReader, WatchOperation
from gateway.graph.subscription.interest import Interest, interest_of
from gateway.graph.subscription.position import Positions
from gateway.graph.subscription.subscription import Subscription
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.stream.bus import Bus, NoBus, Unsubscribe
from gateway.stream.note import ChangeNote

CHECK_SECONDS = (
    1.0  # between checks of the connections: whether their callers are still valid, and whether the process drains
)
_log = logging.getLogger("gateway.subscription")


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """Limits in this process.

    `connections` is per tenant; `message_bytes` is the largest message that a client may send.
    """

    connections: int = 1_000
    subscriptions: int = 100  # per connection
    message_bytes: int = 128 * 1024
    init_seconds: float = 10.0  # within which a client must send `connection_init`
    ping_seconds: float = 30.0
    of_tenant: int = 10_000  # subscriptions per tenant


@dataclass(eq=False, slots=True)
class OpenConnection:
    """An open connection; `end` is called once, when its caller is no longer valid or the process drains."""

    lasting: LastingCaller
    end: Callable[[GatewayError], None]
    checking: "asyncio.Task[None] | None" = None


class Draining(Unavailable):
    """The process is about to stop; clients continue from their last position at another one."""


@dataclass(eq=False, slots=True)
class _TenantWatches:
    """Indexes the cohorts of one tenant by the keys they watch, so that a note is compared with only a few of them."""

    unsubscribe: Unsubscribe = field(default=lambda: None)
    items: dict[ItemKey, dict[Cohort, None]] = field(default_factory=dict)
    lists: dict[tuple[str | None, str], dict[Cohort, None]] = field(default_factory=dict)
    cohorts: dict[Cohort, None] = field(default_factory=dict)

    def add(self, cohort: Cohort) -> None:
        self.cohorts[cohort] = None
        for kept, key in self._places(cohort):
            kept.setdefault(key, {})[cohort] = None

    def remove(self, cohort: Cohort) -> None:
        self.cohorts.pop(cohort, None)
        for kept, key in self._places(cohort):
            group = kept.get(key, {})
            group.pop(cohort, None)
            if not group:
                kept.pop(key, None)

    def _places(self, cohort: Cohort) -> Iterator[tuple[dict[Any, dict[Cohort, None]], Any]]:
        interest = cohort.interest
        if interest.key is not None:
            yield self.items, interest.key
        for partition in interest.partitions:
            yield self.lists, (interest.index, partition)

    def deliver(self, note: ChangeNote) -> None:
        concerned = dict(self.items.get(ItemKey(note.pk, note.sk), ()))
        concerned |= self.lists.get((None, note.pk), {})
        for moved in (note.before, note.after):
            for index, (partition, _) in moved.items():
                concerned |= self.lists.get((index, partition), {})
        for cohort in concerned:
            cohort.notify(note)

    def missed(self) -> None:
        for cohort in self.cohorts:
            cohort.missed()


@dataclass(eq=False, slots=True)
class Subscriptions:
    """`streamed` tells whether the change stream of a tenancy's table is read."""

    _model: Model
    _bus: Bus
    _reader: EventReader
    _positions: Positions
    limits: WatchLimits
    _draining: Callable[[], bool]
    _streamed: Callable[[Tenancy], bool]
    counts: WatchCounts = field(default_factory=WatchCounts)
    active: int = 0
    _cohorts: dict[tuple[Any, ...], Cohort] = field(default_factory=dict)
    _tenants: dict[TenantId, _TenantWatches] = field(default_factory=dict)
    _connections: dict[OpenConnection, None] = field(default_factory=dict)
    _by_tenant: Counter[TenantId] = field(default_factory=Counter)
    _open_of: Counter[TenantId] = field(default_factory=Counter)  # subscriptions by tenant
    _guard: "asyncio.Task[None] | None" = None

    @property
    def cohorts(self) -> int:
        return len(self._cohorts)

    @property
    def connections(self) -> int:
        return len(self._connections)

    @property
    def settled(self) -> bool:
        """Whether every subscriber has received every change that has arrived."""
        return all(cohort.settled for cohort in self._cohorts.values())

    # connections

    @contextmanager
    def connected(self, lasting: LastingCaller, end: Callable[[GatewayError], None]) -> Iterator[None]:
        """Registers a connection for as long as it is open; calls `end` when it must close.

        Raises `LimitExceeded` or `Draining`.
        """
        tenant = lasting.principal.tenant
        if self._draining():
            raise Draining("the gateway is about to stop; connect again")
        if self._by_tenant[tenant] >= self.limits.connections:
            raise LimitExceeded(f"the tenant has {self.limits.connections} open connections, which is the limit")
        connection = OpenConnection(lasting, end)
        self._connections[connection] = None
        self._by_tenant[tenant] += 1
        if self._guard is None:
            self._guard = asyncio.get_running_loop().create_task(self._watch_callers())
        try:
            yield
        finally:
            self._connections.pop(connection, None)
            if connection.checking is not None:
                connection.checking.cancel()
            self._by_tenant[tenant] -= 1
            if not self._by_tenant[tenant]:
                del self._by_tenant[tenant]

    async def _watch_callers(self) -> None:
        """INVARIANT: a connection ends within a second of whatever ends it, even if no data changes.

        Connections are checked concurrently: a slow issuer or role of one connection delays no other.
        """
        while self._connections:
            await asyncio.sleep(CHECK_SECONDS)
            if self._draining():
                self.drain()
            for connection in [*self._connections]:
                busy = connection.checking is not None and not connection.checking.done()
                if not busy and not connection.lasting.unchanged:
                    connection.checking = asyncio.get_running_loop().create_task(self._check(connection))
        self._guard = None

    async def _check(self, connection: OpenConnection) -> None:
        try:
            await connection.lasting.caller()
        except PASSING:
            return  # the caller is not known to be invalid, and every read checks it again
        except GatewayError as error:
            self._end(connection, error)

    def drain(self) -> None:
        for connection in [*self._connections]:
            self._end(connection, Draining("the gateway is about to stop; connect again"))

    def _end(self, connection: OpenConnection, error: GatewayError) -> None:
        if self._connections.pop(connection, connection) is None:
            connection.end(error)

    async def close(self) -> None:
        self.drain()
        if self._guard is not None:
            self._guard.cancel()
        for cohort in [*self._cohorts.values()]:
            cohort.close()

    # subscriptions

    async def open(
        self, operation: WatchOperation, lasting: LastingCaller, caller: Caller, after: object = None
    ) -> Subscription:
        """Raises `BadUserInput` if the arguments or the position are invalid, or if the table has no change stream.

        Raises `LimitExceeded` if the tenant has too many subscriptions.
        """
        self.check_streamed(caller)
        try:
            subject, variables = caller.principal.subject, operation.admitted.variables
            interest = interest_of(self._model, operation.root, variables, caller.session, subject)
        except InvalidArguments as error:
            raise BadUserInput("an argument of the subscription is missing or null") from error
        # INVARIANT: a position is of one role. Another may not be allowed the list that the position stands for, and
        # nothing of the list itself is read when a subscription resumes.
        watch, scope = operation.watch, f"{caller.session.scope} {caller.session.role}"
        vector = None if after is None else self._positions.open(scope, watch, interest.arguments, after)
        if vector is not None:
            self.counts.resumes += 1
            # briefly: a process that has just started, or that is behind, usually catches up at once
            await self._bus.reached(vector)
        if self._open_of[interest.tenant] >= self.limits.of_tenant:
            raise LimitExceeded(f"the tenant has {self.limits.of_tenant} open subscriptions, which is the limit")
        cohort = self._cohort(operation, interest, caller)
        if not cohort.admits(caller):
            raise Forbidden("the subscription belongs to another session")
        # INVARIANT: it joins its cohort before the next `await`, so that it receives every event from here on.
        subscription = Subscription(cohort, lasting, scope, self._positions, self._left, vector)
        self._joined(subscription)
        try:
            kept = await subscription.resume()
        except BaseException:
            subscription.close()
            raise
        fields = {"event": "subscribed", **_who(subscription), "resumed": vector is not None and kept}
        _log.info("a subscription began", extra={"fields": fields, "request_id": operation.request_id})
        return subscription

    def check_streamed(self, caller: Caller) -> None:
        """INVARIANT: no one waits for changes that never come: raises `BadUserInput` if changes are not streamed."""
        if isinstance(self._bus, NoBus):
            raise BadUserInput("this gateway has no subscriptions: its setting `stream` is `off`")
        if not self._streamed(caller.session.tenancy):
            raise BadUserInput("the tenant has a table of its own, whose changes this gateway does not read")

    def _joined(self, subscription: Subscription) -> None:
        self.active += 1
        self._open_of[subscription.cohort.interest.tenant] += 1
        subscription.cohort.join(subscription)

    def _cohort(self, operation: WatchOperation, interest: Interest, caller: Caller) -> Cohort:
        key = _cohort_key(operation, caller)
        cohort = self._cohorts.get(key)
        if cohort is None:
            cohort = Cohort(key, audience_of(caller), operation, interest, self._reader, self._bus, self.counts)
            self._cohorts[key] = cohort
            self._watches(interest.tenant).add(cohort)
        return cohort

    def _watches(self, tenant: TenantId) -> _TenantWatches:
        watches = self._tenants.get(tenant)
        if watches is None:
            watches = self._tenants[tenant] = _TenantWatches()
            watches.unsubscribe = self._bus.subscribe(tenant, watches.deliver, watches.missed)
        return watches

    def _left(self, subscription: Subscription) -> None:
        self.active -= 1
        tenant = subscription.cohort.interest.tenant
        self._open_of[tenant] -= 1
        if not self._open_of[tenant]:
            del self._open_of[tenant]
        subscription.cohort.members.pop(subscription, None)
        self._forget(subscription.cohort)
        fields = {"event": "unsubscribed", **_who(subscription), "events": subscription.events}
        request_id = subscription.cohort.operation.request_id
        _log.info("a subscription ended", extra={"fields": fields, "request_id": request_id})

    def _forget(self, cohort: Cohort) -> None:
        """Removes a cohort that has no members left."""
        if cohort.members or self._cohorts.get(cohort.key) is not cohort:
            return
        cohort.close()
        del self._cohorts[cohort.key]
        tenant = cohort.interest.tenant
        watches = self._tenants[tenant]
        watches.remove(cohort)
        if not watches.cohorts:
            watches.unsubscribe()
            del self._tenants[tenant]


def _who(subscription: Subscription) -> dict[str, Any]:
    cohort, principal = subscription.cohort, subscription.lasting.principal
    return {"tenant": principal.tenant, "watch": cohort.operation.watch}


def _cohort_key(operation: WatchOperation, caller: Caller) -> tuple[Any, ...]:
    """INVARIANT: two callers share a read only if AWS and the gateway would give both the same response."""
    session, admitted = caller.session, operation.admitted
    # domain code may depend on who the caller is, and an omitted argument may default to the caller
    personal = bool(operation.root.arguments.subjects) or any(item.code for item, _ in admitted.variant.tree.items)
    return (
        session.tenant,
        session.role,
        session.scope,
        session.source_identity,
        session.permissions.shared,
        caller.principal.subject if personal else None,
        admitted.operation.document.hash,
        admitted.operation.name,
        orjson.dumps(operation.request.variables, option=orjson.OPT_SORT_KEYS),
    )


def watched_root(operation: Any) -> LookupField | WatchListField:
    """Returns the only root field of a subscription; validation has checked that there is one.

    Raises `BadUserInput` for introspection, which cannot be watched.
    """
    roots = operation.variant.tree.roots
    root = roots[0] if len(roots) == 1 else None
    if not isinstance(root, LookupField | WatchListField):
        raise BadUserInput("a subscription watches one item or one list; ask for its type by a query")
    return root
