"""Encodes change notes as messages between processes; a message holds notes of one tenant from one shard."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import orjson

from gateway.model.tenant import TenantId, owns
from gateway.stream.note import ChangeNote

_VERSION: Final = 1
_FIELDS: Final = ("entity", "place", "pk", "sk", "kind", "attributes", "before", "after", "expired")
MESSAGE_NOTES: Final = 500
_MESSAGE_BYTES: Final = 400_000  # a NATS server accepts a megabyte by default


class MalformedMessage(ValueError):
    """The content is not a message of the gateway, or one of a later version."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What the bus has of a shard once it has a message.

    Every note up to `until`, no note after `newest`, and of the message's tenant every note up to `last`. If `newest`
    is after `until`, a publisher may have stopped between the messages of several tenants.
    """

    until: int = -1
    newest: int = -1
    last: int = -1


@dataclass(frozen=True, slots=True)
class NoteMessage:
    tenant: str
    sent: Sent
    content: bytes


def messages_of(notes: Sequence[ChangeNote], before: Sent) -> Iterator[NoteMessage]:
    """The notes of a shard by tenant, in order; `before` is what the bus has of the shard.

    Only the last message moves `until`: a publisher that stops in between must send the messages of other tenants.
    """
    until, newest = before.until, before.newest
    for start in range(0, len(notes), MESSAGE_NOTES):
        part = notes[start : start + MESSAGE_NOTES]
        parts = [(tenant, rows, last) for tenant, group in _by_tenant(part).items() for rows, last in _limited(group)]
        for number, (tenant, rows, last) in enumerate(parts):
            until = part[-1].order if number == len(parts) - 1 else until
            newest = max(newest, last)
            # INVARIANT: sequences are text. DynamoDB's have more than 64 bits. A JSON number would be rounded, and the
            # notes up to the rounded value would count as sent.
            sent = b'"until":"%d","newest":"%d","last":"%d"' % (until, newest, last)
            content = b'{"v":%d,%b,"notes":[%b]}' % (_VERSION, sent, b",".join(rows))
            yield NoteMessage(tenant, Sent(until, newest, last), content)


def _by_tenant(notes: Sequence[ChangeNote]) -> dict[str, list[ChangeNote]]:
    groups: dict[str, list[ChangeNote]] = {}
    for note in notes:
        groups.setdefault(note.tenant, []).append(note)
    return groups


def _limited(notes: Sequence[ChangeNote]) -> Iterator[tuple[list[bytes], int]]:
    """The encoded notes of each message, and the sequence of its last note."""
    part, size, last = list[bytes](), 0, -1
    for note in notes:
        row = _encode(note)
        if part and size + len(row) > _MESSAGE_BYTES:
            yield part, last
            part, size = [], 0
        part.append(row)
        size += len(row) + 1
        last = note.order
    yield part, last


def _encode(note: ChangeNote) -> bytes:
    # INVARIANT: names and keys leave the process, values do not: a note has none.
    content = {name: getattr(note, name) for name in _FIELDS}
    return orjson.dumps({**content, "attributes": sorted(note.attributes)})


def sent_of(content: bytes) -> Sent:
    """What the bus has of a shard once it has this message; raises `MalformedMessage`."""
    message = _read(content)
    until = message.get("until")
    # messages of earlier releases have only `until`
    newest, last = message.get("newest", until), message.get("last", "-1")
    if not (isinstance(until, str) and isinstance(newest, str) and isinstance(last, str)):
        raise MalformedMessage("the message does not say up to which sequence the bus has its shard")
    return Sent(int(until), int(newest), int(last))


def notes_of(tenant: str, content: bytes, shard: str, first: int) -> list[ChangeNote]:
    """The notes of a message, numbered from `first` in the order of the bus; raises `MalformedMessage`."""
    message = _read(content)
    try:
        return [_decode(tenant, row, shard, str(first + number)) for number, row in enumerate(message["notes"])]
    except (KeyError, TypeError, ValueError) as error:
        raise MalformedMessage("a note of the message is malformed") from error


def _decode(tenant: str, row: Mapping[str, Any], shard: str, sequence: str) -> ChangeNote:
    note = msgspec.convert({**row, "tenant": tenant, "shard": shard, "sequence": sequence}, ChangeNote)
    # INVARIANT: a note under a tenant's subject belongs to that tenant, by every key in it.
    partitions = [note.pk, *(pk for keys in (note.before, note.after) for pk, _ in keys.values())]
    if not all(owns(TenantId(tenant), pk) for pk in partitions):
        raise MalformedMessage("a note names a key of another tenant")
    return note


def _read(content: bytes) -> dict[str, Any]:
    try:
        message = orjson.loads(content)
    except ValueError as error:
        raise MalformedMessage("the message is not JSON") from error
    if not isinstance(message, dict) or message.get("v") != _VERSION:
        raise MalformedMessage("the message is of another version")
    return message
