"""Cohorts group subscribers that have the same permissions and the same query, so that one read serves all of them."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from gateway.aws.sts.callers import Caller
from gateway.backoff import exponential
from gateway.errors import GatewayError, Throttled, Unavailable
from gateway.graph.errors import failure
from gateway.graph.query.reference.resolvers import ListEvent
from gateway.graph.subscription.event_reader import EventPayload, EventReader, WatchFailed, WatchOperation
from gateway.graph.subscription.interest import Interest, Pending
from gateway.graph.subscription.position import Vector
from gateway.store.index_lag import INDEX_LAG_SECONDS
from gateway.stream.bus import Bus
from gateway.stream.note import ChangeNote

if TYPE_CHECKING:
    from gateway.graph.subscription.subscription import Subscription

COALESCED_SECONDS = 0.05  # changes within this time become one event
PASSING = (Throttled, Unavailable)  # these errors do not say whether a caller is still valid
_DIGEST = 32  # hexadecimal digits
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # between attempts to read an event


class SubscriptionEnded(Exception):
    """Ends a subscription from the server's side; `error` tells the client why, and whether to connect again."""

    def __init__(self, error: GatewayError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """An event that a cohort sends to its members.

    `vector` is the position that a subscriber has reached once it has received the event. `pending` holds the changes
    that the event reports. `number` orders the events of a cohort by the start of their reads; `overlapped` is the last
    read that had begun when this one ended. `digest` identifies the
    content of an event that shows all that is watched, so that the same state is not sent twice; otherwise it is empty.
    `lagging` says that the page may lack changes which the event does not report either; a later page has them.
    """

    payload: EventPayload
    vector: Vector
    pending: Pending
    number: int
    overlapped: int
    digest: str = ""
    lagging: bool = False


@dataclass(slots=True)
class WatchCounts:
    """Counters of all subscriptions in this process; `dropped` stays at zero and is exported as a metric."""

    events: int = 0
    reads: int = 0
    coalesced: int = 0
    resumes: int = 0
    expired_positions: int = 0
    dropped: int = 0


def audience_of(caller: Caller) -> tuple[object, ...]:
    """Identifies the sessions that get the same response to the same query."""
    session = caller.session
    return session.tenant, session.role, session.scope, session.permissions.shared


@dataclass(eq=False, slots=True)
class Cohort:
    """Subscribers that share their reads.

    INVARIANT: all members have the tenant, role, subject (where it matters) and policies of `key`.
    """

    key: tuple[Any, ...]
    audience: tuple[object, ...]  # the sessions that may share the reads, see `audience_of`
    operation: WatchOperation
    interest: Interest
    reader: EventReader
    bus: Bus
    counts: WatchCounts
    members: "dict[Subscription, None]" = field(default_factory=dict)
    begun: int = 0  # reads
    _pending: Pending = field(default_factory=Pending)
    _unreported: Vector | None = None  # the position before the first change that no event has reported yet
    _timer: asyncio.TimerHandle | None = None
    _reread_timer: asyncio.TimerHandle | None = None
    _task: "asyncio.Task[None] | None" = None
    _present: "asyncio.Task[WatchEvent] | None" = None
    _last_offered: int = 0  # the number of the last event that was offered to the members
    _offered_before_present: int = 0  # the value of `_last_offered` when the read of `_present` began

    def admits(self, caller: Caller) -> bool:
        """INVARIANT: compared even if the keys are equal: a member never receives what a different session has read."""
        return audience_of(caller) == self.audience

    def join(self, member: "Subscription") -> None:
        self.members[member] = None
        if self._pending:
            self._schedule(COALESCED_SECONDS)

    def notify(self, note: ChangeNote) -> None:
        """Adds a change. The bus calls this on the event loop, so it must not block."""
        before = (
            {**self.bus.position(), note.shard: str(note.order - 1)} if self._unreported is None else self._unreported
        )
        known = bool(self._pending)
        if self.interest.add(note, self._pending):
            self.counts.coalesced += known
            self._unreported = before
            self._schedule(COALESCED_SECONDS)

    def missed(self) -> None:
        """Reports the current state to all members, because notes may have been lost."""
        self._unreported = self._unreported or self.bus.position()
        self._pending.merge(Pending(everything=True))
        self._schedule(COALESCED_SECONDS)

    def position(self) -> Vector:
        """Returns the position up to which a member that has received all events knows every change."""
        return self.bus.position() if self._unreported is None else self._unreported

    @property
    def settled(self) -> bool:
        """Whether every change has been reported and all members wait for the next event."""
        busy = self._pending or self._timer or self._reread_timer or self._task or self._present
        return not busy and all(member.waiting for member in self.members)

    def close(self) -> None:
        for work in (self._timer, self._reread_timer, self._task, self._present):
            if work is not None:
                work.cancel()

    def _schedule(self, seconds: float) -> None:
        if self._timer is None and self._task is None and self.members:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._task = asyncio.get_running_loop().create_task(self._report())

    async def _report(self) -> None:
        """Reads the pending changes and offers them to the members, until no changes are pending."""
        tries = 0
        try:
            while self._pending and self.members:
                taken, vector = self._pending, self.bus.position()
                self._pending = Pending()
                try:
                    event = await self._read(taken, vector)
                except Exception as error:
                    failed = error if isinstance(error, WatchFailed) else self._defect(error)
                    taken.merge(self._pending)
                    self._pending = taken
                    if not failed.passing:
                        self._end(failed)
                        return
                    # INVARIANT: if the event of a change cannot be read now, the change is reported later, never
                    # dropped.
                    tries += 1
                    await asyncio.sleep(exponential(tries - 1, _FIRST_PAUSE, _LONGEST_PAUSE))
                    continue
                tries = 0
                self._unreported = vector if self._pending else None
                if event is not None:
                    self._last_offered = event.number
                    for member in [*self.members]:
                        member.offer(event)
        finally:
            self._task = None
            if self._pending:
                self._schedule(COALESCED_SECONDS)

    def _defect(self, error: Exception) -> WatchFailed:
        """INVARIANT: members are notified of any error, so that none waits for an event that never comes."""
        return WatchFailed([failure(error, self.operation.request_id)], passing=False)

    def _end(self, reason: Exception) -> None:
        self._pending, self._unreported = Pending(), None
        for member in [*self.members]:
            member.end(reason)

    async def present(self) -> WatchEvent:
        """Reads the current state.

        Callers that arrive during a read share it: changes that happen after it began are reported by later events.

        INVARIANT: a read is not shared once an event was reported after the read began, because a later caller has not
        received that event.
        """
        if self._present is None or self._offered_before_present != self._last_offered:
            self._offered_before_present = self._last_offered
            vector = self.position()
            self._present = asyncio.ensure_future(self._read_present(vector))
            self._present.add_done_callback(self._presented)
        return await asyncio.shield(self._present)

    def _presented(self, done: "asyncio.Task[WatchEvent]") -> None:
        if self._present is done:
            self._present = None
        if not done.cancelled():
            done.exception()  # marks the exception as retrieved; the waiting callers raise it

    async def _read_present(self, vector: Vector) -> WatchEvent:
        event = await self._read(Pending(everything=True), vector)
        assert event is not None  # noqa: S101  the current state always makes an event
        return event

    async def replayed(self, after: Vector, until: Vector) -> Pending:
        """Returns what has changed between two positions; raises `PositionExpired` or `Unavailable`."""
        return self._changes(await self.bus.replay(self.interest.tenant, after), until)

    def _changes(self, notes: Iterable[ChangeNote], until: Vector) -> Pending:
        pending = Pending()
        for note in notes:
            if note.order <= int(until.get(note.shard, "-1")):
                self.interest.add(note, pending)
        return pending

    def _not_in_index(self, until: Vector) -> Pending:
        """Returns recent changes that a page may not show yet; everything, if they cannot be reported one by one."""
        if self.interest.index is None:
            return Pending()
        notes = self.bus.recent(self.interest.tenant, INDEX_LAG_SECONDS)
        return Pending(everything=True) if notes is None else self._changes(notes, until)

    def reread_later(self) -> None:
        """Called by a member that has received a page which may lack changes: once the index must show them, it gets
        the page of then."""
        if self._reread_timer is None:
            self._reread_timer = asyncio.get_running_loop().call_later(INDEX_LAG_SECONDS, self._reread)

    def _reread(self) -> None:
        self._reread_timer = None
        for member in self.members:
            member.reread()

    async def catch_up(self, pending: Pending) -> WatchEvent | None:
        """Reads the changes that one slow or reconnected member has not received yet."""
        return await self._read(pending, self.position())

    async def _read(self, pending: Pending, vector: Vector) -> WatchEvent | None:
        # INVARIANT: no change is missed because an index shows it late: this event reports it, or a later page does.
        recent = self._not_in_index(vector) if pending.everything else Pending()
        changes = recent.changes() if pending.everything else pending.changes()
        if not changes and not pending.everything:
            return None
        self.counts.reads += 1
        caller = await self._caller()
        number = self.begun = self.begun + 1
        payload = await self.reader.read(self.operation, caller, ListEvent(changes, pending.everything))
        if payload is None:
            return None
        digest = sha256(payload.content).hexdigest()[:_DIGEST] if self.interest.is_state else ""
        return WatchEvent(payload, vector, pending, number, self.begun, digest, recent.everything)

    async def _caller(self) -> Caller:
        """INVARIANT: the read is made for a member that may still see it; a member that may not is ended."""
        # prefer a member that needs no check, so that a slow issuer or role of one member delays no other
        certain = next((member for member in self.members if member.lasting.unchanged), None)
        unknown: list[dict[str, Any]] = []
        for member in [*self.members] if certain is None else [certain]:
            try:
                return await member.lasting.caller()
            except PASSING as error:
                unknown = [failure(error, self.operation.request_id)]
            except GatewayError as error:
                if member in self.members:
                    member.end(SubscriptionEnded(error))
        # if no member is known to be invalid, the read is retried
        raise WatchFailed(unknown, passing=bool(unknown))
