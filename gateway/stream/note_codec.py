"""Encodes change notes as messages between processes; a message holds notes of one tenant from one shard."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from gateway.model.tenant import TenantId, owns
from gateway.stream.note import ChangeNote

_VERSION: Final = 1
MESSAGE_NOTES: Final = 500
_MESSAGE_BYTES: Final = 400_000  # a NATS server accepts a megabyte by default


class MalformedMessage(ValueError):
    """The content is not a message of the gateway, or one of a later version."""


@dataclass(frozen=True, slots=True)
class NoteMessage:
    """`until`: once the bus has this message, it has every note of the shard up to this sequence."""

    tenant: str
    until: int
    content: bytes


def messages_of(notes: Sequence[ChangeNote], before: int) -> Iterator[NoteMessage]:
    """The notes of a shard by tenant, in order. The bus already has every note up to the sequence `before`.

    Only the last message moves `until`: a publisher that stops in between must send all of them again. A tenant's
    notes then arrive twice, the second time up to the same end, so an old note never comes after a newer one alone.
    """
    for start in range(0, len(notes), MESSAGE_NOTES):
        part = notes[start : start + MESSAGE_NOTES]
        parts = [(tenant, rows) for tenant, group in _by_tenant(part).items() for rows in _limited(group)]
        for number, (tenant, rows) in enumerate(parts):
            until = part[-1].order if number == len(parts) - 1 else before
            # INVARIANT: `until` is text. DynamoDB's sequences have more than 64 bits. A JSON number would be rounded,
            # and the notes up to the rounded value would count as sent.
            content = b'{"v":%d,"until":"%d","notes":[%s]}' % (_VERSION, until, b",".join(rows))
            yield NoteMessage(tenant, until, content)
        before = part[-1].order


def _by_tenant(notes: Sequence[ChangeNote]) -> dict[str, list[bytes]]:
    groups: dict[str, list[bytes]] = {}
    for note in notes:
        groups.setdefault(note.tenant, []).append(_encode(note))
    return groups


def _limited(rows: Sequence[bytes]) -> Iterator[list[bytes]]:
    part, size = list[bytes](), 0
    for row in rows:
        if part and size + len(row) > _MESSAGE_BYTES:
            yield part
            part, size = [], 0
        part.append(row)
        size += len(row) + 1
    yield part


def _encode(note: ChangeNote) -> bytes:
    # INVARIANT: names and keys leave the process, values do not: a note has none.
    content = {
        "entity": note.entity,
        "place": note.place,
        "pk": note.pk,
        "sk": note.sk,
        "kind": note.kind,
        "attributes": sorted(note.attributes),
        "before": note.before,
        "after": note.after,
        "expired": note.expired,
    }
    return orjson.dumps(content)


def until_of(content: bytes) -> int:
    """The sequence of its shard up to which the bus has every note; raises `MalformedMessage`."""
    until = _read(content).get("until")
    if not isinstance(until, str):
        raise MalformedMessage("the message does not say up to which sequence the bus has its shard")
    return int(until)


def notes_of(tenant: str, content: bytes, shard: str, first: int) -> list[ChangeNote]:
    """The notes of a message, numbered from `first` in the order of the bus; raises `MalformedMessage`."""
    rows = _read(content)["notes"]
    try:
        return [_decode(tenant, row, shard, str(first + number)) for number, row in enumerate(rows)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MalformedMessage("a note of the message is malformed") from error


def _decode(tenant: str, row: Mapping[str, Any], shard: str, sequence: str) -> ChangeNote:
    note = ChangeNote(
        tenant=tenant,
        entity=str(row["entity"]),
        place=str(row["place"]),
        pk=str(row["pk"]),
        sk=str(row["sk"]),
        kind=row["kind"],
        attributes=frozenset(row["attributes"]),
        before={name: (pk, sk) for name, (pk, sk) in row["before"].items()},
        after={name: (pk, sk) for name, (pk, sk) in row["after"].items()},
        shard=shard,
        sequence=sequence,
        expired=bool(row["expired"]),
    )
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
