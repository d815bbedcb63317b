"""Each check of a history fails where its rule is broken."""

import pytest

from tests.chaos.stream.history import Item, Received, Seen, Writes, latencies, violations

A, B = Item("acme", "o-1"), Item("globex", "o-1")
LATER = 1_000.0


def seen(*versions: int, item: Item = A, at: float = 10.0) -> Seen:
    return Seen("one", "acme", 1_000_000, (A,), received=[Received(item, version, at, LATER) for version in versions])


def written(*versions: int) -> Writes:
    writes = Writes()
    for version in versions:
        writes.acknowledged(A, version, 9.0)
    return writes


def test_what_was_seen_or_superseded_is_right() -> None:
    right = seen(1_000_001, 1_000_003, 1_000_003)
    right.listed = True
    writes = written(1_000_001, 1_000_002, 1_000_003)
    assert right.settled(writes)
    assert [*violations(right, writes)] == []
    assert latencies([right], writes) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("history", "fault"),
    [
        (seen(1_000_001), "is at 1000002, and was received at 1000001"),
        (seen(), "was received at None"),
        (seen(1_000_002, 1_000_001, 1_000_002), "went back from 1000002 to 1000001"),
        (seen(1_000_001, 1_000_002, 1_000_002), "was received at 1000002 twice"),
        (seen(2_000_001, 1_000_002), "of another tenant"),
        (seen(1_000_002, at=LATER + 60), "after its token had expired"),
    ],
)
def test_a_broken_rule_is_reported(history: Seen, fault: str) -> None:
    assert any(fault in each for each in violations(history, written(1_000_001, 1_000_002)))


def test_an_item_of_somebody_else_is_reported() -> None:
    history = seen(1_000_002)
    history.received.append(Received(B, 1_000_002, 10.0, LATER))
    assert any("does not watch" in each for each in violations(history, written(1_000_002)))


def test_an_expired_position_is_reported() -> None:
    history = seen(1_000_002)
    history.expired_positions = 1
    assert any("positions had expired" in each for each in violations(history, written(1_000_002)))


def test_a_surprise_is_reported() -> None:
    history = seen(1_000_002)
    history.surprises.append("closed with 4400")
    assert [*violations(history, written(1_000_002))] == ["one: closed with 4400"]
