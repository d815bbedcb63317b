"""Readers that stop between any two messages, and others that read the same records in other batches."""

import asyncio
from dataclasses import dataclass, field
from random import Random
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from nats.errors import TimeoutError as NatsTimeout
from nats.js.errors import APIError, NotFoundError

from gateway.errors import Unavailable
from gateway.stream import note_codec
from gateway.stream.jetstream import BusAddress
from gateway.stream.jetstream_publisher import JetStreamPublisher
from gateway.stream.note import ChangeNote

SHARD = "s1"
TENANTS = ("acme", "globex", "initech")


@dataclass
class KeptMessages:
    """The calls of JetStream that a publisher makes; a call may fail before or after the message is kept."""

    random: Random
    kept: list[tuple[str, bytes]] = field(default_factory=list)

    async def publish(self, subject: str, content: bytes, seconds: float, headers: dict[str, str]) -> Any:
        if self.random.random() < 0.2:
            raise NatsTimeout
        expected = int(headers["Nats-Expected-Last-Subject-Sequence"])
        if expected != len(self.kept):
            raise APIError(code=400, description="wrong last sequence")
        self.kept.append((subject, content))
        if self.random.random() < 0.2:
            raise NatsTimeout
        return SimpleNamespace(seq=len(self.kept))

    async def get_last_msg(self, stream: str, subject: str) -> Any:
        tenant = subject.rpartition(".")[2]
        for number in range(len(self.kept), 0, -1):
            kept_subject, content = self.kept[number - 1]
            if tenant in ("*", kept_subject.rpartition(".")[2]):
                return SimpleNamespace(seq=number, data=content)
        raise NotFoundError

    def notes(self, tenant: str) -> list[int]:
        contents = [orjson.loads(content) for subject, content in self.kept if subject.endswith(f".{tenant}")]
        return [int(row["sk"]) for content in contents for row in content["notes"]]


class Publisher(JetStreamPublisher):
    def __init__(self, address: BusAddress, jetstream: KeptMessages) -> None:
        super().__init__(address)
        self._link = SimpleNamespace(jetstream=self._get, close=self._nothing)  # type: ignore[assignment]
        self._jetstream = jetstream

    async def _get(self) -> KeptMessages:
        return self._jetstream

    async def _nothing(self) -> None:
        pass


def _note(sequence: int, tenant: str) -> ChangeNote:
    key = f"TENANT#{tenant}#USER#1"
    return ChangeNote(
        tenant, "User", "primary", key, str(sequence), "changed", frozenset(), {}, {}, SHARD, str(sequence)
    )


@dataclass
class Reader:
    publisher: Publisher
    read: int = 0  # up to where it has published


async def _published(seed: int) -> None:
    random = Random(seed)
    records = [_note(number, random.choice(TENANTS)) for number in range(1, 41)]
    kept, checkpoint = KeptMessages(random), 0
    address = BusAddress(("nats://127.0.0.1:1",), "changes")
    readers = [Reader(Publisher(address, kept)) for _ in range(2)]
    while min(reader.read for reader in readers) < len(records):
        number = random.randrange(2)
        if random.random() < 0.1:
            # the reader is killed, and its successor starts at the checkpoint
            readers[number] = Reader(Publisher(address, kept), checkpoint)
        reader = readers[number]
        batch = records[reader.read : reader.read + random.randint(1, 8)]
        if not batch:
            continue
        try:
            await reader.publisher.publish(batch)
        except Unavailable:
            continue
        reader.read += len(batch)
        if random.random() < 0.5:
            checkpoint = max(checkpoint, reader.read)
    for tenant in TENANTS:
        assert kept.notes(tenant) == [note.order for note in records if note.tenant == tenant]


@pytest.mark.parametrize("seed", range(60))
def test_every_note_is_on_the_bus_once_and_in_order(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(note_codec, "MESSAGE_NOTES", 1 + seed % 6)
    asyncio.run(_published(seed))
