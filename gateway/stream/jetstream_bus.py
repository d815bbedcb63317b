"""The bus on JetStream: every process follows the same stream of notes, so that a position is valid in all of them."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StreamInfo

from gateway.backoff import full_jitter
from gateway.errors import PositionExpired, Unavailable
from gateway.stream.bus import RING_NOTES, Bus, Ring
from gateway.stream.cancellation import cancel_and_wait
from gateway.stream.jetstream import NATS_ERRORS, BusAddress, JetStreamLink
from gateway.stream.note import ChangeNote
from gateway.stream.note_codec import MESSAGE_NOTES, MalformedMessage, notes_of

# the order of a note on the bus is the sequence of its message times this, plus its place in the message
_PLACES: Final = 1_000
_LAST_PLACE: Final = _PLACES - 1
_BATCH: Final = 200
_IDLE_SECONDS: Final = 2.0  # without a message, before we check whether the consumer was lost
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
_REACH_SECONDS: Final = 5.0
_MOST_REPLAYED: Final = 20_000  # notes of one tenant; a subscriber that has missed more reads the current state
_REPLAYS: Final = 4  # concurrent replays

assert MESSAGE_NOTES < _PLACES  # noqa: S101  otherwise two notes could have the same order

_log = logging.getLogger("gateway.bus")


@dataclass(slots=True)
class BusCounts:
    """`missed` counts how often notes may have been lost, so that everything was read again."""

    notes: int = 0
    missed: int = 0
    rejected: int = 0  # messages that the gateway did not write; must stay at zero
    interruptions: int = 0


class JetStreamBus(Bus):
    def __init__(self, address: BusAddress, ring: int = RING_NOTES) -> None:
        super().__init__(ring)
        self._address = address
        self._size = ring
        self._link = JetStreamLink(address, creates=False)
        self._identity = ""  # of the stream; changes when the stream is created again
        self._next = 1  # the sequence of the next message
        self._moved = asyncio.Event()
        self._replays = asyncio.Semaphore(_REPLAYS)
        self.counts = BusCounts()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self._run())
        try:
            yield
        finally:
            await cancel_and_wait(task)
            await self._link.close()

    async def reached(self, position: Mapping[str, str]) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_REACH_SECONDS):
                while self._behind(position):
                    self._moved.clear()
                    await self._moved.wait()

    def _behind(self, position: Mapping[str, str]) -> bool:
        """Whether to wait for the position: always before the first connection, never while disconnected."""
        if not self._identity:
            return True
        return self.connected and int(position.get(self._identity, "-1")) > int(
            self._ring.position().get(self._identity, "-1")
        )

    # following the stream

    async def _run(self) -> None:
        attempt = 0
        while True:
            try:
                await self._follow()
                attempt = 0
            except Exception as error:
                attempt += 1
                self._interrupted(error)
                await self._link.close()
                if not isinstance(error, NATS_ERRORS):
                    # INVARIANT: no error ends this task, since the process would then silently receive no changes.
                    _log.exception("the bus could not be followed")
                    self._missed("a defect kept messages from being read")
            self.connected = False
            await asyncio.sleep(full_jitter(attempt, _FIRST_PAUSE, _LONGEST_PAUSE) if attempt else 0)

    def _interrupted(self, error: Exception) -> None:
        if self.connected:
            self.counts.interruptions += 1
            text = "no notes arrive from the bus; caches are as old as declared until it is back: %s"
            _log.warning(text, type(error).__name__)

    async def _follow(self) -> None:
        """Reads messages until the consumer is lost; the next call creates a new one that continues from there."""
        js = await self._link.jetstream()
        self._begin(await js.stream_info(self._address.stream))
        async with self._consumer(js, [f"{self._address.stream}.>"], self._next) as consumer:
            self.connected = True
            self._moved.set()
            while True:
                try:
                    messages = await consumer.fetch(_BATCH, timeout=_IDLE_SECONDS)
                except TimeoutError:
                    if await self._lost_consumer(js):
                        return
                    continue
                for message in messages:
                    self._take(message)
                self._moved.set()

    async def _lost_consumer(self, js: JetStreamContext) -> bool:
        info = await js.stream_info(self._address.stream)
        return _identity(info) != self._identity or info.state.last_seq != self._next - 1

    @asynccontextmanager
    async def _consumer(
        self, js: JetStreamContext, subjects: list[str], first: int
    ) -> AsyncIterator[JetStreamContext.PullSubscription]:
        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=first,
            filter_subjects=subjects,
            ack_policy=AckPolicy.NONE,
            mem_storage=True,
            num_replicas=1,
            inactive_threshold=30,
        )
        consumer = await js.pull_subscribe("", stream=self._address.stream, config=config)
        try:
            yield consumer
        finally:
            # otherwise the connection keeps the subscription, even after an error
            with suppress(*NATS_ERRORS):
                await consumer.unsubscribe()

    def _begin(self, info: StreamInfo) -> None:
        """Continues from the last position; if that is no longer possible, everything is read again."""
        first, last, identity = info.state.first_seq, info.state.last_seq, _identity(info)
        if identity == self._identity and first <= self._next <= last + 1:
            return
        known = self._identity != ""
        self._identity, self._next = identity, last + 1
        if known:
            self._missed("the bus no longer has what was not read from it")
        else:
            self._start_over()

    def _take(self, message: Msg) -> None:
        sequence = message.metadata.sequence.stream
        if sequence < self._next:
            return
        gone, self._next = sequence > self._next, sequence + 1
        if gone:
            self._missed("messages of the bus are gone")
        if message.subject == self._address.gap_subject:
            self._missed("the table's stream no longer has what was not read from it")
            return
        try:
            notes = self._notes(message, sequence)
        except MalformedMessage as error:
            self.counts.rejected += 1
            _log.error("a message of the bus was rejected: %s", error)
            self._missed("a message of the bus was rejected")
            return
        for note in notes:
            self.counts.notes += 1
            if self._ring.add(note):
                self._subscribers.deliver(note)

    def _notes(self, message: Msg, sequence: int) -> list[ChangeNote]:
        tenant = self._address.tenant_in(message.subject)
        if tenant is None:
            raise MalformedMessage("its subject is not one of notes")
        return notes_of(tenant, message.data, self._identity, sequence * _PLACES)

    def _missed(self, why: str) -> None:
        # INVARIANT: if a note may be lost, earlier positions expire and everything is read again.
        self.counts.missed += 1
        _log.warning("change notes may be lost, and everything is read again: %s", why)
        self._start_over()

    def _start_over(self) -> None:
        self._ring = Ring(self._size)
        self._ring.begin(self._identity, str((self._next - 1) * _PLACES + _LAST_PLACE))
        self._subscribers.missed()

    # replay

    async def replay(self, tenant: str, after: Mapping[str, str]) -> Sequence[ChangeNote]:
        if not self._identity:
            # INVARIANT: a process that has not connected to the bus yet never reports a position as expired.
            raise Unavailable("changes since the position cannot be read yet; connect again")
        try:
            return self._ring.after(tenant, after)
        except PositionExpired:
            # only the stream itself keeps notes that are older than this process's ring
            if after.keys() != {self._identity}:
                raise
        try:
            async with self._replays:
                return await self._older(tenant, int(after[self._identity]))
        except NATS_ERRORS as error:
            raise Unavailable("changes since the position cannot be read now; connect again") from error

    async def _older(self, tenant: str, after: int) -> list[ChangeNote]:
        message, place = divmod(after, _PLACES)
        first = message + 1 if place == _LAST_PLACE else message
        js = await self._link.jetstream()
        await self._check_kept(js, first)
        subjects = [self._address.notes_subject("*", tenant), self._address.gap_subject]
        notes = list[ChangeNote]()
        async with self._consumer(js, subjects, first) as consumer:
            left = (await consumer.consumer_info()).num_pending or 0
            while left:
                for fetched_message in await consumer.fetch(min(left, _BATCH), timeout=_IDLE_SECONDS):
                    left -= 1
                    notes += self._replayed(tenant, fetched_message, after)
                if len(notes) > _MOST_REPLAYED:
                    raise PositionExpired("too much has changed since the position; read the present state")
        # check again that no message was discarded during the replay
        await self._check_kept(js, first)
        return notes

    def _replayed(self, tenant: str, message: Msg, after: int) -> list[ChangeNote]:
        # INVARIANT: a replay contains only notes of the tenant that requests it.
        if self._address.tenant_in(message.subject) != tenant:
            raise PositionExpired("changes since the position are lost; read the present state and go on from there")
        try:
            notes = self._notes(message, message.metadata.sequence.stream)
        except MalformedMessage as error:
            raise PositionExpired("a change since the position cannot be read") from error
        return [note for note in notes if note.order > after]

    async def _check_kept(self, js: JetStreamContext, first: int) -> None:
        info = await js.stream_info(self._address.stream)
        if _identity(info) != self._identity or not info.state.first_seq <= first <= info.state.last_seq + 1:
            raise PositionExpired("the position is too old; read the present state and go on from there")


def _identity(info: StreamInfo) -> str:
    return "" if info.created is None else info.created.isoformat()
