"""One remembered answer: as bytes, so that nobody can change it and its size is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.store.codec import Wire

# what an entry takes beside its content, measured by bench/cache.py: key, places in the indexes, bookkeeping
ENTRY_BYTES = 1_000
ROW_BYTES = 500
# Of its time: how long an answer is fresh, and how long it serves at all. One point in between for each answer, so that
# what was read at one moment is not read again at one moment.
_FRESH, _SERVES = (0.6, 0.8), (0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Entry:
    content: bytes
    holds: tuple[ItemKey, ...]
    staleness: Staleness
    fresh_until: float
    over_at: float
    units: float
    size: int

    def rows(self) -> list[Wire]:
        rows: list[Wire] = orjson.loads(self.content)
        return rows


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows as they were read at a moment, and what that cost."""

    rows: Sequence[Wire]
    holds: tuple[ItemKey, ...]
    read_at: float
    units: float = 0.0


def entry(answer: Answer, staleness: Staleness, share: float, expires_at: float | None) -> Entry | None:
    """None where it may not be kept; `share` is the jitter from 0 to 1, `expires_at` when its first row ends."""
    seconds = staleness.seconds if answer.rows else staleness.absence_seconds
    # INVARIANT: counted from when it was asked, an answer is never older than its declaration allows.
    over_at = answer.read_at + seconds * (_SERVES[0] + (_SERVES[1] - _SERVES[0]) * share)
    if expires_at is not None:
        over_at = min(over_at, expires_at)
    fresh_until = min(over_at, answer.read_at + seconds * (_FRESH[0] + (_FRESH[1] - _FRESH[0]) * share))
    if over_at <= answer.read_at:
        return None
    # a copy of the right length: orjson keeps the room of several kilobytes that it has written in
    content = bytes(memoryview(orjson.dumps(answer.rows)))
    size = len(content) + ENTRY_BYTES + ROW_BYTES * len(answer.holds)
    return Entry(content, answer.holds, staleness, fresh_until, over_at, answer.units, size)
