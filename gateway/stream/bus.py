"""The bus: carries change notes from the reader of the stream to whoever wants to know of changes."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from gateway.errors import PositionExpired
from gateway.stream.note import ChangeNote

RETENTION_SECONDS = 24 * 3600.0  # of the table's stream
RING_NOTES = 50_000  # that are kept for subscribers who come back

_START = -1  # before the first sequence of a shard

Deliver = Callable[[ChangeNote], None]
Unsubscribe = Callable[[], None]

_log = logging.getLogger(__name__)


class NotePublisher(Protocol):
    """The side of the bus that the reader of the stream has."""

    def begin(self, shard: str, after: str) -> None:
        """A reader of this process starts the shard after this sequence; it publishes nothing from before."""
        ...

    def ended(self, shard: str) -> None:
        """The shard is closed and read to its end; once its notes are old, positions need not name it."""
        ...

    async def gap(self) -> None:
        """Tells every subscriber that notes are lost: the stream no longer has what was not read in time."""
        ...

    async def publish(self, notes: Sequence[ChangeNote]) -> None:
        """Returns once the bus holds the notes, all of one shard; raises `Unavailable` where it does not take them."""
        ...


class Bus(Protocol):
    """The side of the bus that learns of changes.

    Notes of a shard arrive in its order and at most once in this process; shards are independent of each other. What
    `shard` and `sequence` of a note are here is up to the bus: whatever orders its notes.
    """

    @property
    def connected(self) -> bool:
        """Whether notes arrive at present; while they do not, what was read may be as old as its declared staleness."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Notes arrive while it is entered."""
        ...

    def subscribe(self, tenant: str | None, deliver: Deliver, missed: Callable[[], None] | None = None) -> Unsubscribe:
        """Calls `deliver` on the event loop for every note of the tenant (None: of all tenants); it must not block.

        `missed` is called where notes may have been lost, such as after the bus was away: read again what you show.
        """
        ...

    def position(self) -> Mapping[str, str]:
        """shard -> the sequence of its last note that was delivered here: what a subscriber has seen up to now."""
        ...

    async def reached(self, position: Mapping[str, str]) -> None:
        """Waits a moment for what the position names: another process may have had it earlier than this one."""
        ...

    async def replay(self, tenant: str, after: Mapping[str, str]) -> Sequence[ChangeNote]:
        """The tenant's notes after a position, in the order of their shards; raises `PositionExpired`.

        To miss nothing, subscribe first and replay then; a note that comes twice has the same shard and sequence.
        """
        ...


@dataclass(eq=False, slots=True)
class Subscriber:
    tenant: str | None
    deliver: Deliver
    missed: Callable[[], None] | None


class Subscribers:
    """Who listens in this process, by tenant."""

    def __init__(self) -> None:
        # INVARIANT: a note reaches the subscribers of its own tenant, and those who serve all tenants by design.
        self._by_tenant: dict[str | None, dict[Subscriber, None]] = {}

    def __len__(self) -> int:
        return sum(len(group) for group in self._by_tenant.values())

    def add(self, subscriber: Subscriber) -> Unsubscribe:
        self._by_tenant.setdefault(subscriber.tenant, {})[subscriber] = None

        def unsubscribe() -> None:
            group = self._by_tenant.get(subscriber.tenant, {})
            group.pop(subscriber, None)
            if not group:
                self._by_tenant.pop(subscriber.tenant, None)

        return unsubscribe

    def deliver(self, note: ChangeNote) -> None:
        for tenant in (None, note.tenant):
            for subscriber in [*self._by_tenant.get(tenant, ())]:
                try:
                    subscriber.deliver(note)
                except Exception:
                    # one subscriber's defect must not keep notes from the others
                    _log.exception("a subscriber of change notes failed")

    def missed(self) -> None:
        for subscriber in [each for group in self._by_tenant.values() for each in group]:
            try:
                if subscriber.missed is not None:
                    subscriber.missed()
            except Exception:
                _log.exception("a subscriber of change notes failed")


class Ring:
    """The recent notes of all tenants, oldest first, and how far back each shard is known without a gap."""

    def __init__(self, size: int = RING_NOTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._notes: deque[ChangeNote] = deque()
        self._size = size
        self._last: dict[str, int] = {}  # shard -> the last sequence that was taken
        self._from: dict[str, int] = {}  # shard -> every note of it after this sequence is here
        self._ended: dict[str, float] = {}  # closed shard -> when it was read to its end, oldest first
        self._clock = clock

    def begin(self, shard: str, after: str) -> bool:
        """Notes of the shard after this sequence will come; true where some before it were never here."""
        last = self._last.get(shard)
        if last is not None and int(after) <= last:
            return False
        self._last[shard] = self._from[shard] = int(after)
        return last is not None

    def end(self, shard: str) -> None:
        self._ended[shard] = self._clock()
        # INVARIANT: positions stay short: a shard that DynamoDB has forgotten by now is forgotten here, with its notes.
        over = {name for name, at in self._ended.items() if at < self._clock() - RETENTION_SECONDS}
        if over:
            self._notes = deque(note for note in self._notes if note.shard not in over)
        for old in over:
            for known in (self._ended, self._last, self._from):
                known.pop(old, None)

    def add(self, note: ChangeNote) -> bool:
        """False where the note was here before."""
        if note.order <= self._last.get(note.shard, _START):
            return False
        self._from.setdefault(note.shard, _START)
        self._last[note.shard] = note.order
        self._notes.append(note)
        if len(self._notes) > self._size:
            oldest = self._notes.popleft()
            self._from[oldest.shard] = oldest.order
        return True

    def forget(self) -> None:
        """Positions from before now are expired."""
        self._notes.clear()
        # what is lost came after the last note, so that note's own position is expired too
        self._from |= {shard: last + 1 for shard, last in self._last.items()}

    def position(self) -> dict[str, str]:
        return {shard: str(sequence) for shard, sequence in self._last.items()}

    def after(self, tenant: str, position: Mapping[str, str]) -> list[ChangeNote]:
        # a shard that the position does not name began after it: all of it is new
        seen = {shard: int(sequence) for shard, sequence in position.items()}
        unknown = seen.keys() - self._from.keys()
        if unknown or any(seen.get(shard, _START) < first for shard, first in self._from.items()):
            raise PositionExpired("the position is too old; read the present state and go on from there")
        return [note for note in self._notes if note.tenant == tenant and note.order > seen.get(note.shard, _START)]


class InProcessBus:
    """For one process that both reads the stream and serves: nothing leaves it."""

    connected = True

    def __init__(self, ring: int = RING_NOTES) -> None:
        self._subscribers = Subscribers()
        self._ring = Ring(ring)

    def running(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def begin(self, shard: str, after: str) -> None:
        if self._ring.begin(shard, after):
            # another process has read the shard in between
            self._subscribers.missed()

    def ended(self, shard: str) -> None:
        self._ring.end(shard)

    async def gap(self) -> None:
        self._ring.forget()
        self._subscribers.missed()

    async def publish(self, notes: Sequence[ChangeNote]) -> None:
        for note in notes:
            if self._ring.add(note):
                self._subscribers.deliver(note)
        # a long batch gives way to requests
        await asyncio.sleep(0)

    def subscribe(self, tenant: str | None, deliver: Deliver, missed: Callable[[], None] | None = None) -> Unsubscribe:
        return self._subscribers.add(Subscriber(tenant, deliver, missed))

    def position(self) -> Mapping[str, str]:
        return self._ring.position()

    async def reached(self, position: Mapping[str, str]) -> None:
        """Nobody is ahead of the only process."""

    async def replay(self, tenant: str, after: Mapping[str, str]) -> Sequence[ChangeNote]:
        return self._ring.after(tenant, after)


class NoBus(InProcessBus):
    """For a process that learns of no changes: nobody publishes here."""
