"""The bus: carries change notes from the reader of the stream to caches and subscriptions."""

import asyncio
import logging
import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from itertools import takewhile
from typing import Protocol

from gateway.errors import PositionExpired
from gateway.stream.note import ChangeNote

RETENTION_SECONDS = 24 * 3600.0  # how long DynamoDB keeps records of the table's stream
RING_NOTES = 50_000  # notes that are kept for subscribers that resume

_START = -1  # before the first sequence of a shard

Deliver = Callable[[ChangeNote], None]
Unsubscribe = Callable[[], None]

_log = logging.getLogger(__name__)


class NotePublisher(Protocol):
    """The side of the bus that the stream reader uses."""

    def begin(self, shard: str, after: str) -> None:
        """A reader of this process starts the shard after this sequence and publishes nothing from before it."""
        ...

    def ended(self, shard: str) -> None:
        """The shard is closed and read to its end; once its notes are old, positions can leave it out."""
        ...

    async def gap(self) -> None:
        """Notifies every subscriber that notes are lost: the stream has deleted records before they were read."""
        ...

    async def publish(self, notes: Sequence[ChangeNote]) -> None:
        """Returns once the bus holds the notes, all of one shard; raises `Unavailable` if it does not accept them."""
        ...


@dataclass(eq=False, slots=True)
class Subscriber:
    tenant: str | None
    deliver: Deliver
    missed: Callable[[], None] | None


class Subscribers:
    """The subscribers of this process, by tenant."""

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
                    # a failing subscriber must not keep notes from the others
                    _log.exception("a subscriber of change notes failed")

    def missed(self) -> None:
        for subscriber in [member for group in self._by_tenant.values() for member in group]:
            try:
                if subscriber.missed is not None:
                    subscriber.missed()
            except Exception:
                _log.exception("a subscriber of change notes failed")


class Ring:
    """The recent notes of all tenants, oldest first, and from where on each shard is complete."""

    def __init__(self, size: int = RING_NOTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._notes: deque[tuple[float, ChangeNote]] = deque()  # with the times of their arrival
        self._known_since = -math.inf  # the ring holds every note that has arrived since then
        self._size = size
        self._last: dict[str, int] = {}  # shard -> the last sequence that was added
        self._from: dict[str, int] = {}  # shard -> the ring holds every note after this sequence
        self._ended: dict[str, float] = {}  # closed shard -> when it was read to its end, oldest first
        self._clock = clock

    def begin(self, shard: str, after: str) -> bool:
        """The shard continues after this sequence; True if notes before it are missing."""
        last = self._last.get(shard)
        if last is not None and int(after) <= last:
            return False
        self._last[shard] = self._from[shard] = int(after)
        self._known_since = self._clock()
        return last is not None

    def end(self, shard: str) -> None:
        self._ended[shard] = self._clock()
        # INVARIANT: positions stay short: a shard that DynamoDB has deleted by now is dropped here too, with its notes.
        over = {name for name, at in self._ended.items() if at < self._clock() - RETENTION_SECONDS}
        if over:
            self._notes = deque(entry for entry in self._notes if entry[1].shard not in over)
        for old in over:
            for by_shard in (self._ended, self._last, self._from):
                by_shard.pop(old, None)

    def add(self, note: ChangeNote) -> bool:
        """False if the ring already has the note."""
        if note.order <= self._last.get(note.shard, _START):
            return False
        self._from.setdefault(note.shard, _START)
        self._last[note.shard] = note.order
        self._notes.append((self._clock(), note))
        if len(self._notes) > self._size:
            self._known_since, oldest = self._notes.popleft()
            self._from[oldest.shard] = oldest.order
        return True

    def forget(self) -> None:
        """Expires all earlier positions."""
        self._notes.clear()
        self._known_since = self._clock()
        # the lost notes came after the last one, so the position of that note expires too
        self._from |= {shard: last + 1 for shard, last in self._last.items()}

    def position(self) -> dict[str, str]:
        return {shard: str(sequence) for shard, sequence in self._last.items()}

    def after(self, tenant: str, position: Mapping[str, str]) -> list[ChangeNote]:
        # a shard that the position does not name began after it, so all of it is new
        seen = {shard: int(sequence) for shard, sequence in position.items()}
        unknown = seen.keys() - self._from.keys()
        if unknown or any(seen.get(shard, _START) < first for shard, first in self._from.items()):
            raise PositionExpired("the position is too old; read the present state and go on from there")
        behind = {shard for shard, last in self._last.items() if last > seen.get(shard, _START)}
        notes = list[ChangeNote]()
        # backwards from the newest, so that a recent position costs little
        for _, note in reversed(self._notes):
            if not behind:
                break
            if note.order <= seen.get(note.shard, _START):
                behind.discard(note.shard)
            elif note.tenant == tenant:
                notes.append(note)
        return notes[::-1]

    def recent(self, tenant: str, seconds: float) -> list[ChangeNote] | None:
        since = self._clock() - seconds
        if self._known_since >= since:
            return None
        arrived = takewhile(lambda entry: entry[0] >= since, reversed(self._notes))
        return [note for _, note in arrived if note.tenant == tenant][::-1]


class Bus(ABC):
    """The side of the bus that is notified of changes.

    Notes of a shard arrive in order and at most once in this process; shards are independent of each other. `shard`
    and `sequence` of a note are chosen by the bus: any values that order its notes.
    """

    connected = False
    """Whether notes arrive at present; if not, cached reads may be as old as their declared staleness."""

    def __init__(self, ring: int = RING_NOTES, clock: Callable[[], float] = time.monotonic) -> None:
        self._subscribers = Subscribers()
        self._ring = Ring(ring, clock)

    @abstractmethod
    def running(self) -> AbstractAsyncContextManager[None]:
        """Notes arrive while this context is entered."""

    def subscribe(self, tenant: str | None, deliver: Deliver, missed: Callable[[], None] | None = None) -> Unsubscribe:
        """Calls `deliver` on the event loop for every note of the tenant (None: of all tenants); it must not block.

        `missed` is called if notes may have been lost, for example after an outage of the bus: read again what you
        show.
        """
        return self._subscribers.add(Subscriber(tenant, deliver, missed))

    def position(self) -> Mapping[str, str]:
        """shard -> the sequence of its last note that was delivered here: what a subscriber has seen so far."""
        return self._ring.position()

    @abstractmethod
    async def reached(self, position: Mapping[str, str]) -> None:
        """Waits briefly for the notes up to the position: another process may have received them earlier."""

    def recent(self, tenant: str, seconds: float) -> Sequence[ChangeNote] | None:
        """The tenant's notes that have arrived within this time; None if earlier ones of them are not known here."""
        return self._ring.recent(tenant, seconds)

    @abstractmethod
    async def replay(self, tenant: str, after: Mapping[str, str]) -> Sequence[ChangeNote]:
        """The tenant's notes after a position, in the order of their shards; raises `PositionExpired`.

        To miss nothing, subscribe first and then replay; a note that arrives twice has the same shard and sequence.
        """


class InProcessBus(Bus):
    """For a single process that both reads the stream and serves requests."""

    connected = True

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
        # a long batch yields to requests
        await asyncio.sleep(0)

    async def reached(self, position: Mapping[str, str]) -> None:
        """No other process can be ahead."""

    async def replay(self, tenant: str, after: Mapping[str, str]) -> Sequence[ChangeNote]:
        return self._ring.after(tenant, after)


class NoBus(InProcessBus):
    """For a process that is not notified of changes."""
