"""Whatever happens to shards, readers, AWS and the bus: no change is missed, and those of an item keep their order."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.errors import Unavailable
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from gateway.stream.reader import StreamReader
from tests.drawn import drawn
from tests.stream.streaming import Streamed, streamed, until

EVENTS = ("write", "write", "write", "split", "kill", "join", "aws fails", "bus fails", "wait")


class FlakyBus(InProcessBus):
    """Fails before or after it has taken the notes."""

    fails = 0

    async def publish(self, notes: Sequence[ChangeNote]) -> None:
        if self.fails:
            self.fails -= 1
            if self.fails % 2:
                await super().publish(notes[: len(notes) // 2])
            raise Unavailable("the bus is away")
        await super().publish(notes)


class History:
    """One run: what was written and acknowledged, and what arrived."""

    def __init__(self, place: Streamed) -> None:
        self.place = place
        self.bus = FlakyBus()
        self.arrived: dict[str, list[ChangeNote]] = defaultdict(list)
        self.bus.subscribe(None, lambda note: self.arrived[note.pk].append(note))
        self.written: dict[str, int] = defaultdict(int)
        self.running: list[tuple[StreamReader, asyncio.Task[None]]] = []
        self.failures = 0
        for client in (place.dynamodb, place.streams):
            client.fail = self._fail

    def _fail(self, operation: str, body: Mapping[str, Any]) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("aws is away")

    async def act(self, event: str, number: int) -> None:
        match event:
            case "write":
                tenant, user = ("acme", "globex")[number % 2], str(number % 5)
                await self.place.put(tenant, user, number={"N": str(number)})
                self.written[f"TENANT#{tenant}#USER#{user}"] += 1
            case "split":
                await self.place.split()
            case "kill":
                await self.kill()
            case "join":
                reader = self.place.reader(self.bus)
                self.running.append((reader, asyncio.create_task(reader.run())))
            case "aws fails":
                self.failures = 3
            case "bus fails":
                self.bus.fails = 2
            case "wait":
                await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """A process that is gone releases nothing, and its requests stop."""
        for reader, task in self.running[:1]:
            reader.own.clear()
            task.cancel()
            await asyncio.wait([task])
        del self.running[:1]

    async def finish(self) -> None:
        self.failures = self.bus.fails = 0
        await self.act("join", 0)
        await until(lambda: all(len(self.arrived[key]) >= count for key, count in self.written.items()), 30)
        for _, task in self.running:
            task.cancel()
        if self.running:
            await asyncio.wait([task for _, task in self.running])


def checked(history: History) -> None:
    assert set(history.arrived) == set(history.written)
    for key, notes in history.arrived.items():
        # every change once and in its order: it is created, then changed
        assert [note.kind for note in notes] == ["created", *["changed"] * (history.written[key] - 1)]
        assert {note.tenant for note in notes} == {key.split("#")[1]}


@pytest.mark.no_cover
@settings(max_examples=drawn(12, 3), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(EVENTS), min_size=5, max_size=30))
def test_no_acknowledged_change_is_missed(events: list[str]) -> None:
    async def run() -> None:
        async with streamed() as place:
            history = History(place)
            for number, event in enumerate(events):
                await history.act(event, number)
            await history.finish()
            checked(history)

    asyncio.run(run())
