"""The bus in one process: order, duplicates, tenants, replay."""

import asyncio
from collections.abc import Mapping

import pytest

from gateway.errors import PositionExpired
from gateway.stream.bus import InProcessBus, Ring
from gateway.stream.note import ChangeNote

pytestmark = pytest.mark.anyio


def note(sequence: int, tenant: str = "acme", shard: str = "s1") -> ChangeNote:
    key = f"TENANT#{tenant}#USER#1"
    return ChangeNote(tenant, "User", "primary", key, "PROFILE", "changed", frozenset(), {}, {}, shard, str(sequence))


def sequences(notes: object) -> list[str]:
    assert isinstance(notes, list)
    return [each.sequence for each in notes]


async def test_a_subscriber_receives_the_notes_of_its_own_tenant_only() -> None:
    bus, acme, globex, every = InProcessBus(), list[ChangeNote](), list[ChangeNote](), list[ChangeNote]()
    bus.subscribe("acme", acme.append)
    bus.subscribe("globex", globex.append)
    bus.subscribe(None, every.append)

    await bus.publish([note(1), note(2, "globex"), note(3)])

    assert sequences(acme) == ["1", "3"]
    assert sequences(globex) == ["2"]
    assert sequences(every) == ["1", "2", "3"]


async def test_a_note_that_is_published_twice_arrives_once() -> None:
    bus, received = InProcessBus(), list[ChangeNote]()
    bus.subscribe("acme", received.append)

    await bus.publish([note(9), note(10)])
    await bus.publish([note(9), note(10), note(11), note(9, shard="s2")])

    assert [(each.shard, each.sequence) for each in received] == [("s1", "9"), ("s1", "10"), ("s1", "11"), ("s2", "9")]


async def test_sequences_are_compared_as_numbers() -> None:
    bus = InProcessBus()
    await bus.publish([note(9), note(10), note(100)])
    assert sequences(await bus.replay("acme", {"s1": "9"})) == ["10", "100"]


async def test_after_unsubscribing_nothing_arrives() -> None:
    bus, received = InProcessBus(), list[ChangeNote]()
    unsubscribe = bus.subscribe("acme", received.append)
    unsubscribe()
    unsubscribe()
    await bus.publish([note(1)])
    assert received == []


async def test_a_failing_subscriber_does_not_keep_notes_from_the_others(caplog: pytest.LogCaptureFixture) -> None:
    bus, received = InProcessBus(), list[ChangeNote]()

    def fail(_: ChangeNote) -> None:
        raise ValueError("a defect")

    bus.subscribe("acme", fail)
    bus.subscribe("acme", received.append)
    await bus.publish([note(1)])
    assert sequences(received) == ["1"]
    assert "a subscriber of change notes failed" in caplog.text


async def test_a_replay_holds_the_tenants_notes_after_the_position() -> None:
    bus = InProcessBus()
    await bus.publish([note(1), note(2, "globex"), note(3)])
    position = bus.position()
    await bus.publish([note(4), note(5, "globex"), note(1, shard="child")])

    assert [(each.shard, each.sequence) for each in await bus.replay("acme", position)] == [("s1", "4"), ("child", "1")]


@pytest.mark.parametrize("position", [{"s1": "1"}, {"s1": "4", "unknown": "7"}, {}])
async def test_a_position_that_the_ring_does_not_cover_is_expired(position: Mapping[str, str]) -> None:
    bus = InProcessBus(ring=2)
    await bus.publish([note(sequence) for sequence in (1, 2, 3, 4)])
    with pytest.raises(PositionExpired, match="too old"):
        await bus.replay("acme", position)
    assert sequences(await bus.replay("acme", {"s1": "2"})) == ["3", "4"]


async def test_a_position_before_the_reader_began_is_expired() -> None:
    bus = InProcessBus()
    bus.begin("s1", after="50")
    assert await bus.replay("acme", {"s1": "50"}) == []
    with pytest.raises(PositionExpired):
        await bus.replay("acme", {"s1": "49"})


async def test_a_subscriber_may_unsubscribe_while_a_note_is_delivered() -> None:
    bus, received = InProcessBus(), list[ChangeNote]()

    def once(each: ChangeNote) -> None:
        received.append(each)
        unsubscribe()

    unsubscribe = bus.subscribe("acme", once)
    await asyncio.wait_for(bus.publish([note(1), note(2)]), 5)
    assert sequences(received) == ["1"]


async def test_a_position_does_not_name_shards_that_dynamodb_has_forgotten() -> None:
    now = [0.0]
    ring = Ring(10, lambda: now[0])
    for name in ("old", "newer"):
        ring.add(note(1, shard=name))
        ring.end(name)
        now[0] += 13 * 3600
    ring.add(note(1, shard="open"))
    ring.end("newest")
    assert ring.position() == {"newer": "1", "open": "1"}
    assert [each.shard for each in ring.after("acme", {"newer": "1"})] == ["open"]
    with pytest.raises(PositionExpired):
        ring.after("acme", {"old": "1", "newer": "1"})


async def test_a_replay_does_not_read_what_came_before_the_position(monkeypatch: pytest.MonkeyPatch) -> None:
    bus = InProcessBus()
    await bus.publish([note(sequence, shard=shard) for sequence in range(500) for shard in ("s1", "s2")])
    await bus.publish([note(500), note(501, "globex"), note(502)])
    read = list[str]()

    def order(note: ChangeNote) -> int:
        read.append(note.sequence)
        return int(note.sequence)

    monkeypatch.setattr(ChangeNote, "order", property(order))
    assert sequences(await bus.replay("acme", {"s1": "499", "s2": "498"})) == ["499", "500", "502"]
    assert len(read) < 20


async def test_the_recent_notes_are_those_that_have_arrived_within_the_time() -> None:
    now = [0.0]
    bus = InProcessBus(clock=lambda: now[0])
    for sequence in (1, 2, 3):
        now[0] += 1
        await bus.publish([note(sequence), note(sequence, "globex", "s2")])
    assert [each.sequence for each in bus.recent("acme", 1.5) or ()] == ["2", "3"]
    assert [each.shard for each in bus.recent("globex", 0.5) or ()] == ["s2"]
    now[0] += 10
    assert bus.recent("acme", 2.0) == []


async def test_it_says_when_it_does_not_know_all_recent_notes() -> None:
    now = [0.0]
    bus = InProcessBus(ring=2, clock=lambda: now[0])

    def is_known() -> bool:
        return bus.recent("acme", 2.0) is not None

    assert is_known()
    now[0] += 10
    bus.begin("s1", after="50")  # another process has read the shard so far
    assert not is_known()
    now[0] += 3
    assert is_known()
    await bus.gap()
    assert not is_known()
    now[0] += 3
    await bus.publish([note(sequence) for sequence in (60, 61, 62)])  # more than it keeps
    assert not is_known()
    now[0] += 3
    assert is_known()
