"""The stream reader: takes shards under leases, reads each in order and publishes its notes."""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.aws.wire.errors import IteratorExpired, RecordsTrimmed, TableMissing
from gateway.backoff import full_jitter
from gateway.errors import GatewayError
from gateway.model.table import TableSpec
from gateway.stream.bus import NotePublisher
from gateway.stream.cancellation import cancel_and_wait
from gateway.stream.leases import END, START, Lease, Leases
from gateway.stream.note import ChangeNote
from gateway.stream.records import is_system, note_of
from gateway.stream.shards import Batch, StreamShards

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReaderRules:
    # how often an owner renews its leases and looks for free ones
    renew_seconds: float = 3.0
    # a lease that has not changed for this long by our clock has no owner
    failover_seconds: float = 10.0
    # how often the shards of the stream are listed
    discover_seconds: float = 20.0
    # the pause after a read that found nothing
    poll_seconds: float = 0.25
    # the longest pause after a failure
    longest_pause: float = 5.0
    # a shard whose task has neither read nor failed for this long is restarted
    stuck_seconds: float = 45.0


@dataclass(slots=True)
class ReaderCounts:
    """The counts behind the metrics; `dropped` are rows of neither a tenant nor the gateway, and must stay at zero."""

    notes: int = 0
    dropped: int = 0
    system: int = 0
    trimmed: int = 0  # how often records were deleted before they were read
    failures: int = 0
    leases_taken: int = 0
    leases_lost: int = 0

    def copy(self) -> "ReaderCounts":
        return replace(self)


@dataclass(slots=True)
class OwnShard:
    """A shard that this reader holds under a lease."""

    lease: Lease
    position: str
    renewed: float
    stepped: float  # when its task began the last attempt
    read: float = field(default_factory=time.time)  # when it was last read
    created: float = 0.0  # when the last record was written
    behind: bool = True  # until a read returns nothing
    task: "asyncio.Task[None] | None" = None
    ended: bool = False


@dataclass(slots=True)
class StreamReader:
    """Several readers share the shards; each shard has one reader at a time, and the others are standbys."""

    shards: StreamShards
    leases: Leases
    table: TableSpec
    bus: NotePublisher
    rules: ReaderRules = field(default_factory=ReaderRules)
    clock: Callable[[], float] = time.monotonic
    counts: ReaderCounts = field(default_factory=ReaderCounts)
    own: dict[str, OwnShard] = field(default_factory=dict)
    ticked: float = 0.0  # when a tick last succeeded, by the clock
    alive: float = 0.0  # when a tick last ended, successfully or not
    _seen: dict[str, tuple[int, int, float]] = field(default_factory=dict)  # shard -> term, beat, when first seen
    _parents: dict[str, str | None] = field(default_factory=dict)
    _discovered: float = float("-inf")
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def lag_seconds(self) -> float:
        """The age of the oldest unpublished record, as far as is known; zero if everything is published.

        A shard that cannot be read may have records since its last read.
        """
        waiting = [shard.created or shard.read for shard in self.own.values() if shard.behind]
        return max(0.0, time.time() - min(waiting)) if waiting else 0.0

    async def run(self) -> None:
        """Runs until it is cancelled, and then releases the leases, so that another reader need not wait."""
        attempt = 0
        try:
            while True:
                pause = self.rules.renew_seconds
                try:
                    await self.tick()
                    self.ticked, attempt = self.clock(), 0
                except GatewayError as error:
                    attempt += 1
                    pause = self._pause(attempt)
                    self._failed("the shards of the stream could not be listed", error)
                self.alive = self.clock()
                self._wake.clear()
                try:
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                except TimeoutError:
                    continue
        finally:
            await self._stop()

    async def tick(self) -> None:
        """Renews our leases, then takes free ones."""
        await self._renew_all()
        now = self.clock()
        leases = await self.leases.all()
        if now >= self._discovered + self.rules.discover_seconds or self._finished(leases):
            self._parents = await self.shards.parents()
            self._discovered = now
            for shard, parent in self._parents.items():
                if shard not in leases and (new_lease := await self.leases.create(shard, parent)) is not None:
                    leases[shard] = new_lease
        free = [lease for lease in leases.values() if self._is_free(lease, leases, now)]
        # half of them, so that readers which start together share the shards
        for lease in free[: (len(free) + 1) // 2]:
            await self._take(lease)

    def _finished(self, leases: dict[str, Lease]) -> bool:
        """Whether an open shard was read to its end, so that its children should be taken immediately."""
        with_children = {lease.parent for lease in leases.values()}
        return any(leases[shard].finished and shard not in with_children for shard in self._parents if shard in leases)

    def _is_free(self, lease: Lease, leases: dict[str, Lease], now: float) -> bool:
        # a shard that DynamoDB no longer lists has nothing to read
        if lease.finished or lease.shard in self.own or lease.shard not in self._parents:
            return False
        # INVARIANT: a child is read after its parent, or the changes of an item could arrive in another order.
        parent = leases.get(lease.parent or "")
        if parent is not None and not parent.finished and parent.shard in self._parents:
            return False
        term, beat, since = self._seen.get(lease.shard, (-1, -1, now))
        if (term, beat) != (lease.term, lease.beat):
            since = now
        self._seen[lease.shard] = (lease.term, lease.beat, since)
        return lease.owner == "" or now - since >= self.rules.failover_seconds

    async def _take(self, lease: Lease) -> None:
        begun = self.clock()
        taken = await self.leases.take(lease)
        if taken is None:
            return
        self.counts.leases_taken += 1
        shard = self.own[lease.shard] = OwnShard(taken, taken.checkpoint, begun, begun)
        if taken.checkpoint != START:
            self.bus.begin(lease.shard, taken.checkpoint)
        shard.task = asyncio.create_task(self._read(shard))

    async def _renew_all(self) -> None:
        for shard in [*self.own.values()]:
            await self._renew(shard)

    async def _renew(self, shard: OwnShard) -> None:
        begun = self.clock()
        checkpoint = END if shard.ended else shard.position
        await self._restart(shard)
        try:
            renewed = await self.leases.renew(shard.lease, checkpoint)
        except GatewayError as error:
            self._failed("a lease could not be renewed", error)
            if begun - shard.renewed >= self.rules.failover_seconds:
                await self._give_up(shard)
            return
        if renewed is None:
            await self._give_up(shard)
        elif renewed.finished:
            self.own.pop(shard.lease.shard, None)
            self.bus.ended(shard.lease.shard)
        else:
            shard.lease, shard.renewed = renewed, begun

    async def _restart(self, shard: OwnShard) -> None:
        """A defect must not leave a shard leased and unread."""
        task = shard.task
        if task is None or shard.ended:
            return
        if task.done():
            _log.error(
                "the task of a shard ended; it starts again", exc_info=None if task.cancelled() else task.exception()
            )
        elif self.clock() - shard.stepped >= self.rules.stuck_seconds:
            _log.error("the task of a shard is stuck; it starts again")
            task.cancel()
            await asyncio.wait((task,), timeout=self.rules.renew_seconds)
        else:
            return
        self.counts.failures += 1
        shard.stepped = self.clock()
        shard.task = asyncio.create_task(self._read(shard))

    async def _give_up(self, shard: OwnShard) -> None:
        """Another reader has the lease, or may have it."""
        self.counts.leases_lost += 1
        self.own.pop(shard.lease.shard, None)
        if shard.task is not None:
            await cancel_and_wait(shard.task)

    async def _stop(self) -> None:
        for shard in [*self.own.values()]:
            if shard.task is not None:
                await cancel_and_wait(shard.task)
            try:
                await self.leases.release(shard.lease, END if shard.ended else shard.position)
            except GatewayError as error:
                self._failed("a lease could not be released", error)
        self.own.clear()

    async def _read(self, shard: OwnShard) -> None:
        """Reads until the shard ends or the task is cancelled; after a failure it continues from the last position."""
        iterator, attempt = None, 0
        while True:
            shard.stepped = self.clock()
            try:
                iterator = iterator or await self.shards.iterator(shard.lease.shard, shard.position)
                batch = await self.shards.read(iterator)
                await self._publish(shard, batch)
            except IteratorExpired:
                iterator = None
                continue
            except GatewayError as error:
                iterator, attempt = None, attempt + 1
                if not shard.behind:
                    shard.behind, shard.created = True, shard.read
                self._failed("a shard of the stream could not be read", error)
                if isinstance(error, (RecordsTrimmed, TableMissing)) and await self._is_gone(shard):
                    break
                await asyncio.sleep(self._pause(attempt))
                continue
            iterator, attempt = batch.following, 0
            if iterator is None:
                break
            if not batch.records:
                await asyncio.sleep(self.rules.poll_seconds)
        shard.ended = True
        self._wake.set()

    async def _publish(self, shard: OwnShard, batch: Batch) -> None:
        shard.read, notes = time.time(), list[ChangeNote]()
        for record in batch.records:
            note = note_of(self.table, shard.lease.shard, record)
            if note is not None:
                notes.append(note)
            elif is_system(self.table, record):
                self.counts.system += 1
            else:
                self.counts.dropped += 1
        if notes:
            # while the bus accepts no notes, they grow old
            shard.behind, shard.created = True, _created(batch.records[0])
            await self.bus.publish(notes)
            self.counts.notes += len(notes)
        shard.behind = bool(batch.records)
        if batch.records:
            # INVARIANT: the bus has every note up to the position before a checkpoint names it.
            shard.position = batch.records[-1]["dynamodb"]["SequenceNumber"]
            shard.created = _created(batch.records[-1])

    async def _is_gone(self, shard: OwnShard) -> bool:
        """Records were deleted before they were read, so subscribers must read again. True if the whole shard is
        gone."""
        try:
            parents = await self.shards.parents()
            await self.bus.gap()
        except GatewayError as error:
            self._failed("the shards of the stream could not be listed", error)
            return False
        self.counts.trimmed += 1
        shard.position = START
        return shard.lease.shard not in parents

    def _pause(self, attempt: int) -> float:
        return full_jitter(attempt, 0.1, self.rules.longest_pause)

    def _failed(self, what: str, error: GatewayError) -> None:
        self.counts.failures += 1
        _log.warning("%s: %s: %s", what, type(error).__name__, error.message)


def _created(record: Mapping[str, Any]) -> float:
    return float(record["dynamodb"].get("ApproximateCreationDateTime") or 0.0)
