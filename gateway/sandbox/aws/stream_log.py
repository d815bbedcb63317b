"""A table's stream as DynamoDB keeps it: shards that split, close and are trimmed, with their records."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import time
from typing import Any
from zlib import crc32

from gateway.sandbox.aws.responses import AwsFault

RETENTION_SECONDS = 24 * 3600.0

# DynamoDB's numbers are long and have gaps, so that no client relies on the next one
_FIRST = 100_000_000_000_000_000_000
_STEP = 7
_HASHES = 1 << 32

Record = dict[str, Any]


@dataclass(slots=True)
class LogShard:
    """A range of partition-key hashes, in order of writing."""

    id: str
    parent: str | None
    low: int
    high: int
    start: int
    created: float
    records: list[Record] = field(default_factory=list)
    end: int | None = None  # the last sequence of a closed shard
    closed: float | None = None
    trimmed: int = 0  # the highest sequence that was trimmed

    def __deepcopy__(self, memo: dict[int, Any]) -> "LogShard":
        """Records never change, so copies of a table share them."""
        return replace(self, records=[*self.records])

    def description(self) -> dict[str, Any]:
        numbers = {"StartingSequenceNumber": str(self.start)}
        if self.end is not None:
            numbers["EndingSequenceNumber"] = str(self.end)
        parent = {} if self.parent is None else {"ParentShardId": self.parent}
        return {"ShardId": self.id, "SequenceNumberRange": numbers, **parent}


class StreamLog:
    """Belongs to a table; a transaction that fails restores it together with the table."""

    def __init__(self, clock: Callable[[], float] = time) -> None:
        self._clock = clock
        self._next = _FIRST
        self._count = itertools.count(1)
        self.shards: dict[str, LogShard] = {}
        self._open(None, 0, _HASHES)

    def append(self, partition_key: str, record: Record) -> None:
        """Numbers the record and stores it in the open shard of its partition."""
        number, shard = self._number(), self._shard_of(partition_key)
        inside = {"SequenceNumber": str(number), "ApproximateCreationDateTime": int(self._clock())}
        shard.records.append({**record, "dynamodb": {**record["dynamodb"], **inside}})

    def withdraw(self, partition_key: str, keys: Mapping[str, Any]) -> None:
        """Takes back the last record of the shard if it says that this item was created."""
        match self._shard_of(partition_key).records:
            case [*_, {"eventName": "INSERT", "dynamodb": {"Keys": last}}] as records if last == keys:
                del records[-1]

    def split(self, shard_id: str) -> list[str]:
        """Closes the shard; two children continue with half of its partitions each."""
        shard = self._close(shard_id)
        middle = (shard.low + shard.high) // 2
        return [self._open(shard.id, *bounds) for bounds in ((shard.low, middle), (middle, shard.high))]

    def roll(self, shard_id: str) -> str:
        """Closes the shard, as DynamoDB does about every four hours; one child continues."""
        shard = self._close(shard_id)
        return self._open(shard.id, shard.low, shard.high)

    def trim(self, seconds: float = RETENTION_SECONDS) -> None:
        """Drops older records; a closed shard is dropped once it is empty and was closed that long ago."""
        horizon = self._clock() - seconds
        for shard in [*self.shards.values()]:
            kept = [record for record in shard.records if record["dynamodb"]["ApproximateCreationDateTime"] > horizon]
            if gone := shard.records[: len(shard.records) - len(kept)]:
                shard.trimmed = sequence_of(gone[-1])
                shard.records = kept
            if shard.closed is not None and shard.closed <= horizon and not kept:
                del self.shards[shard.id]

    def read(self, shard_id: str, after: int, limit: int) -> tuple[list[Record], int | None]:
        """Records after a sequence, and where to continue: None at the end of a closed shard."""
        shard = self.shards.get(shard_id)
        if shard is None or after < shard.trimmed:
            raise AwsFault("TrimmedDataAccessException", "The requested data has been trimmed.")
        records = list(itertools.islice((record for record in shard.records if sequence_of(record) > after), limit))
        last = sequence_of(records[-1]) if records else after
        finished = shard.end is not None and (not shard.records or last >= sequence_of(shard.records[-1]))
        return records, None if finished else last

    def _shard_of(self, partition_key: str) -> LogShard:
        hashed = crc32(partition_key.encode())
        return next(shard for shard in self.shards.values() if shard.end is None and shard.low <= hashed < shard.high)

    def _number(self) -> int:
        self._next += _STEP
        return self._next

    def _open(self, parent: str | None, low: int, high: int) -> str:
        now = self._clock()
        name = f"shardId-{int(now * 1000):020}-{next(self._count):08x}"
        shard = LogShard(name, parent, low, high, self._number(), now)
        self.shards[shard.id] = shard
        return shard.id

    def _close(self, shard_id: str) -> LogShard:
        shard = self.shards[shard_id]
        shard.end, shard.closed = self._number(), self._clock()
        return shard


def sequence_of(record: Mapping[str, Any]) -> int:
    return int(record["dynamodb"]["SequenceNumber"])
