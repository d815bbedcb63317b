"""The reader: every change becomes one note, whatever shards, leases, readers and the bus do."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import ConfigurationError, PositionExpired, Unavailable
from gateway.model.tenant import LEASE_PARTITION
from gateway.sandbox.aws.engine import call_engine
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote
from gateway.stream.reader import StreamReader
from tests.stream.streaming import TABLE, Streamed, streamed, until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def place() -> AsyncIterator[Streamed]:
    async with streamed() as made:
        yield made


@asynccontextmanager
async def running(*readers: StreamReader) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(reader.run()) for reader in readers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def collected(bus: InProcessBus) -> list[ChangeNote]:
    notes: list[ChangeNote] = []
    bus.subscribe(None, notes.append)
    return notes


def versions(notes: Sequence[ChangeNote], key: str) -> list[str]:
    return [note.kind for note in notes if note.pk.endswith(f"#{key}")]


async def test_every_write_becomes_a_note_of_its_tenant(place: Streamed) -> None:
    bus = InProcessBus()
    notes = collected(bus)
    async with running(place.reader(bus)):
        await place.put("acme", "1", name={"S": "Ada"}, GSI1PK={"S": "TENANT#acme#EMAIL#a"}, GSI1SK={"S": "x"})
        await place.put("acme", "1", name={"S": "Bob"}, GSI1PK={"S": "TENANT#acme#EMAIL#b"}, GSI1SK={"S": "x"})
        await place.put("globex", "1", name={"S": "Cy"})
        await until(lambda: len(notes) == 3)
    created, changed, other = notes
    assert (created.tenant, created.entity, created.place, created.kind) == ("acme", "User", "primary", "created")
    assert (changed.kind, sorted(changed.attributes)) == ("changed", ["GSI1PK", "name"])
    assert changed.before == {"GSI1": ("TENANT#acme#EMAIL#a", "x")}
    assert changed.after == {"GSI1": ("TENANT#acme#EMAIL#b", "x")}
    assert (other.tenant, other.before, other.after) == ("globex", {}, {})
    assert not any(word in repr(notes) for word in ("Ada", "Bob", "Cy"))


async def test_rows_of_the_gateway_are_no_notes_and_rows_of_nobody_are_counted(place: Streamed) -> None:
    bus = InProcessBus()
    notes, reader = collected(bus), place.reader(bus)
    async with running(reader):
        row = {"PK": {"S": "STRAY#1"}, "SK": {"S": "-"}}
        await call_engine(place.engine, "PutItem", {"TableName": TABLE, "Item": row})
        await place.put("acme", "1")
        await until(lambda: len(notes) == 1 and reader.counts.system > 0)
    assert reader.counts.dropped == 1


async def test_the_children_of_a_shard_come_after_it(place: Streamed) -> None:
    bus = InProcessBus()
    notes = collected(bus)
    for version in range(3):
        for name in range(6):
            await place.put("acme", str(name), version={"N": str(version)})
        await place.split()
    await place.put("acme", "0", version={"N": "9"})
    parent, slow = await place.control(lambda control: next(iter(control.log.shards))), [5]

    def fail(operation: str, body: Mapping[str, Any]) -> None:
        # there is time enough to read the children first
        if operation == "GetShardIterator" and body["ShardId"] == parent and slow[0]:
            slow[0] -= 1
            raise Unavailable("aws is away")

    place.streams.fail = fail
    async with running(place.reader(bus)):
        await until(lambda: len(notes) == 19)
    # of each item in the order of its writes, although they are in several shards
    assert all(versions(notes, str(name)) == ["created", "changed", "changed"] for name in range(1, 6))
    assert versions(notes, "0") == ["created", *["changed"] * 3]
    assert len({note.shard for note in notes}) > 2


async def test_shards_that_split_while_they_are_read_are_found(place: Streamed) -> None:
    bus = InProcessBus()
    notes = collected(bus)
    async with running(place.reader(bus)):
        for number in range(4):
            await place.put("acme", str(number))
            await place.split()
        await place.put("acme", "last")
        await until(lambda: len(notes) == 5)


async def test_a_second_reader_takes_over_when_the_first_is_killed(place: Streamed) -> None:
    first_bus, second_bus = InProcessBus(), InProcessBus()
    first, second = place.reader(first_bus), place.reader(second_bus)
    seen, notes = collected(first_bus), collected(second_bus)
    task = asyncio.create_task(first.run())
    await place.put("acme", "1")
    await until(lambda: len(seen) == 1)
    async with running(second):
        await asyncio.sleep(0.4)
        assert not second.own
        first.leases.release = _never  # type: ignore[assignment, method-assign]  # killed: it releases nothing
        task.cancel()
        await asyncio.wait([task])
        await place.put("acme", "2")
        await until(lambda: any(note.pk.endswith("#2") for note in notes))
    assert second.counts.leases_taken == 1


async def _never(*_: object) -> None:
    """Stands for a process that is gone."""


async def test_a_reader_that_stops_leaves_its_place_and_its_successor_repeats_nothing(place: Streamed) -> None:
    bus = InProcessBus()
    notes = collected(bus)
    for number in range(3):
        async with running(place.reader(bus)):
            await place.put("acme", str(number))
            await until(lambda expected=number: len(notes) == expected + 1)  # type: ignore[misc]
    other = InProcessBus()
    repeated = collected(other)
    async with running(place.reader(other)):
        await place.put("acme", "last")
        await until(lambda: len(repeated) == 1)
    assert repeated[0].pk.endswith("#last")


async def test_a_slow_owner_that_has_lost_its_lease_stops(place: Streamed) -> None:
    bus = InProcessBus()
    first, second = place.reader(bus), place.reader(bus)
    async with running(first):
        await until(lambda: len(first.own) == 1)
        [shard] = first.own.values()
        lease = (await second.leases.all())[shard.lease.shard]
        while await second.leases.take(lease) is None:
            lease = (await second.leases.all())[shard.lease.shard]
        await until(lambda: first.counts.leases_lost == 1)


async def test_while_the_bus_is_away_nothing_is_passed(place: Streamed) -> None:
    class Away(InProcessBus):
        away = True

        async def publish(self, notes: Sequence[ChangeNote]) -> None:
            if self.away:
                raise Unavailable("the bus is away")
            await super().publish(notes)

    bus = Away()
    notes, reader = collected(bus), place.reader(bus)
    async with running(reader):
        for number in range(3):
            await place.put("acme", str(number))
        await until(lambda: reader.counts.failures > 2)
        leases = await reader.leases.all()
        assert [lease.checkpoint for lease in leases.values()] == [""]
        bus.away = False
        await until(lambda: len(notes) == 3)


async def test_trimmed_records_are_reported_and_reading_goes_on(place: Streamed) -> None:
    bus = InProcessBus()
    notes, missed = list[ChangeNote](), list[bool]()
    bus.subscribe("acme", notes.append, lambda: missed.append(True))
    async with running(place.reader(bus)):
        await place.put("acme", "1")
        await until(lambda: len(notes) == 1)
    position = bus.position()
    await place.put("acme", "lost")
    await place.control(lambda control: control.log.trim(-60))
    reader = place.reader(bus)
    async with running(reader):
        await place.put("acme", "2")
        await until(lambda: len(notes) == 2)
    assert missed
    assert reader.counts.trimmed == 1
    assert notes[-1].pk.endswith("#2")
    with pytest.raises(PositionExpired):
        await bus.replay("acme", position)


async def test_a_shard_that_is_gone_is_left_and_its_child_is_read(place: Streamed) -> None:
    bus = InProcessBus()
    notes = collected(bus)
    async with running(place.reader(bus)):
        await place.put("acme", "1")
        await until(lambda: len(notes) == 1)

    await place.split()
    await place.control(lambda control: control.log.trim(-60))
    await place.put("acme", "2")
    async with running(place.reader(bus)):
        await until(lambda: len(notes) == 2)


async def test_throttles_and_failures_of_aws_are_waited_for(place: Streamed) -> None:
    bus = InProcessBus()
    notes, reader, left = collected(bus), place.reader(bus), [5]

    def fail(operation: str, body: Mapping[str, Any]) -> None:
        if operation in ("GetRecords", "GetShardIterator", "DescribeStream") and left[0]:
            left[0] -= 1
            raise Unavailable("aws is away")

    place.streams.fail = fail
    async with running(reader):
        await place.put("acme", "1")
        await until(lambda: len(notes) == 1)
    assert reader.counts.failures == 5


async def test_a_shard_that_cannot_be_read_lags(place: Streamed) -> None:
    """Nobody knows whether it has records; an alarm must say so all the same."""
    bus = InProcessBus()
    notes, reader = collected(bus), place.reader(bus)

    failing = [False]

    def fail(operation: str, body: Mapping[str, Any]) -> None:
        if operation == "GetRecords" and failing[0]:
            raise Unavailable("aws is away")

    place.streams.fail = fail
    async with running(reader):
        await place.put("acme", "1")
        await until(lambda: len(notes) == 1 and reader.lag_seconds == 0)
        failing[0] = True
        await until(lambda: reader.lag_seconds > 0.5)
        failing[0] = False
        await until(lambda: reader.lag_seconds == 0)


async def test_a_defect_does_not_leave_a_shard_unread(place: Streamed, caplog: pytest.LogCaptureFixture) -> None:
    bus = InProcessBus()
    notes, left = collected(bus), [1]

    def fail(operation: str, body: Mapping[str, Any]) -> None:
        if operation == "GetRecords" and left[0]:
            left[0] -= 1
            raise ZeroDivisionError

    place.streams.fail = fail
    async with running(place.reader(bus)):
        await place.put("acme", "1")
        await until(lambda: len(notes) == 1)
    assert "the task of a shard ended" in caplog.text


async def test_a_stuck_task_does_not_leave_a_shard_unread(place: Streamed, caplog: pytest.LogCaptureFixture) -> None:
    class SilentOnce(InProcessBus):
        silent = True

        async def publish(self, notes: Sequence[ChangeNote]) -> None:
            if self.silent:
                self.silent = False
                await asyncio.Event().wait()
            await super().publish(notes)

    bus = SilentOnce()
    notes, reader = collected(bus), place.reader(bus)
    reader.rules = replace(reader.rules, stuck_seconds=0.2)
    async with running(reader):
        await place.put("acme", "1")
        await until(lambda: len(notes) == 1)
    assert "the task of a shard is stuck" in caplog.text


async def test_a_table_without_images_in_its_stream_is_named(place: Streamed) -> None:
    await call_engine(
        place.engine, "UpdateTable", {"TableName": TABLE, "StreamSpecification": {"StreamEnabled": False}}
    )
    with pytest.raises(ConfigurationError, match="needs a stream with NEW_AND_OLD_IMAGES"):
        await place.reader(InProcessBus()).tick()


async def test_an_idle_reader_writes_its_leases_and_nothing_else(place: Streamed) -> None:
    reader = place.reader(InProcessBus())
    async with running(reader):
        await until(lambda: reader.counts.system > 5)
    rows = (await call_engine(place.engine, "Scan", {"TableName": TABLE}))["Items"]
    assert {row["PK"]["S"] for row in rows} == {LEASE_PARTITION}
    assert reader.lag_seconds < 60
