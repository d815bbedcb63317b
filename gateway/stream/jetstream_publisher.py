"""The publisher of the bus on JetStream: stores each note, in order, before a checkpoint includes it.

A shard may have two readers for a while, one of them slow. Each message names the shard's message that must precede it,
and the server refuses the message if another one has been added since. This keeps the notes of a shard in the order of
its records, whichever reader sends them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NoReturn

from nats.js import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from gateway.errors import Unavailable
from gateway.stream.jetstream import CALL_SECONDS, NATS_ERRORS, BusAddress, JetStreamLink
from gateway.stream.note import ChangeNote
from gateway.stream.note_codec import MalformedMessage, Sent, messages_of, sent_of

_EXPECTED: Final = "Nats-Expected-Last-Subject-Sequence"
_EXPECTED_OF: Final = "Nats-Expected-Last-Subject-Sequence-Subject"
_EVERY_TENANT: Final = "*"


@dataclass(frozen=True, slots=True)
class _Tail:
    """The last message of a shard, and what the bus has of the shard."""

    message: int = 0
    sent: Sent = field(default_factory=Sent)


class JetStreamPublisher:
    def __init__(self, address: BusAddress) -> None:
        self._address = address
        self._link = JetStreamLink(address, creates=True)
        self._tails: dict[str, _Tail] = {}

    @property
    def connected(self) -> bool:
        return self._link.connected

    async def connect(self) -> None:
        """Raises `Unavailable`."""
        try:
            await self._link.jetstream()
        except NATS_ERRORS as error:
            await self._failed(error)

    def begin(self, shard: str, after: str) -> None:
        """Does nothing: the bus itself knows which notes of the shard it has."""
        self._tails.pop(shard, None)

    def ended(self, shard: str) -> None:
        self._tails.pop(shard, None)

    async def gap(self) -> None:
        try:
            js = await self._link.jetstream()
            await js.publish(self._address.gap_subject, timeout=CALL_SECONDS)
        except NATS_ERRORS as error:
            await self._failed(error)

    async def publish(self, notes: Sequence[ChangeNote]) -> None:
        shard = notes[0].shard
        # removed until the send succeeds, so that a failure makes the next call ask the bus again
        known_tail = self._tails.pop(shard, None)
        try:
            js = await self._link.jetstream()
            tail = known_tail or await self._tail(js, shard)
            for message in messages_of(await self._unsent(js, notes, tail.sent), tail.sent):
                subject = self._address.notes_subject(shard, message.tenant)
                stored = await js.publish(subject, message.content, CALL_SECONDS, headers=self._after(shard, tail))
                tail = _Tail(stored.seq, message.sent)
        except NATS_ERRORS as error:
            await self._failed(error)
        else:
            self._tails[shard] = tail

    def _after(self, shard: str, tail: _Tail) -> dict[str, str]:
        # INVARIANT: a slow reader's message is refused once another reader has sent a later one.
        every = self._address.notes_subject(shard, _EVERY_TENANT)
        return {_EXPECTED: str(tail.message), _EXPECTED_OF: every}

    async def _unsent(self, js: JetStreamContext, notes: Sequence[ChangeNote], sent: Sent) -> list[ChangeNote]:
        """INVARIANT: notes that the bus already has are not sent again: no change is reported twice, and no old change
        follows a newer one."""
        unsent = [note for note in notes if note.order > sent.until]
        if sent.newest <= sent.until:
            return unsent
        # a publisher stopped between two messages, so some tenants' notes are there
        tails = {tenant: await self._tail(js, notes[0].shard, tenant) for tenant in {note.tenant for note in unsent}}
        return [note for note in unsent if note.order > tails[note.tenant].sent.last]

    async def _tail(self, js: JetStreamContext, shard: str, tenant: str = _EVERY_TENANT) -> _Tail:
        try:
            last = await js.get_last_msg(self._address.stream, self._address.notes_subject(shard, tenant))
        except NotFoundError:
            return _Tail()
        try:
            return _Tail(last.seq or 0, sent_of(last.data or b""))
        except MalformedMessage as error:
            raise Unavailable("the last message of a shard on the bus is not a message of this version") from error

    async def close(self) -> None:
        await self._link.close()

    async def _failed(self, error: Exception) -> NoReturn:
        # the server has responded, so the connection works
        if not isinstance(error, APIError):
            await self._link.close()
        raise Unavailable(f"the bus takes no notes: {type(error).__name__}: {error}") from error
