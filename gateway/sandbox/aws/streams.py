"""The API of DynamoDB Streams over the logs of the embedded tables, with the limits and errors of AWS."""

import base64
import binascii
import json
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Any

from gateway.sandbox.aws.responses import AwsFault
from gateway.sandbox.aws.stream_log import LogShard, StreamLog, sequence_of

if TYPE_CHECKING:
    from gateway.sandbox.aws.embedded_stream import EmbeddedStream

ITERATOR_SECONDS = 15 * 60
READERS_PER_SHARD = 2
DESCRIBES_PER_SECOND = 10

_MOST_RECORDS = 1_000
_MOST_SHARDS = 100

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ShardIterator:
    """The position of a reader; its text contains everything, so that nothing has to be stored for it."""

    arn: str
    shard: str
    after: int
    reader: str
    created: float

    def text(self) -> str:
        inside = json.dumps([self.shard, self.after, self.reader, self.created]).encode()
        return f"{self.arn}|1|{base64.b64encode(inside).decode()}"


def iterator_from(text: object) -> ShardIterator:
    try:
        arn, _, inside = str(text).split("|", 2)
        shard, after, reader, created = json.loads(base64.b64decode(inside, validate=True))
        return ShardIterator(arn, shard, int(after), reader, float(created))
    except (ValueError, TypeError, binascii.Error) as error:
        raise AwsFault("ValidationException", "Invalid ShardIterator") from error


class SandboxStreams:
    """Serves the four operations; the engine runs them one at a time."""

    def __init__(self, tables: Callable[[], Iterator["EmbeddedStream"]], clock: Callable[[], float] = time) -> None:
        self._tables = tables
        self._clock = clock
        self._described: deque[float] = deque()
        self._readers: dict[str, dict[str, float]] = {}  # shard -> reader -> when it read last

    def run(self, operation: str, body: Body) -> dict[str, Any]:
        match operation:
            case "ListStreams":
                return self._list(body)
            case "DescribeStream":
                return self._describe(body)
            case "GetShardIterator":
                return {"ShardIterator": self._iterator(body).text()}
            case "GetRecords":
                return self._records(body)
        raise AwsFault("UnknownOperationException", "")

    def _list(self, body: Body) -> dict[str, Any]:
        table_name = body.get("TableName")
        tables = [table for table in self._tables() if table_name is None or table.name == table_name]
        names = ("StreamArn", "TableName", "StreamLabel")
        return {"Streams": [{name: table.stream()[name] for name in names} for table in tables]}

    def _describe(self, body: Body) -> dict[str, Any]:
        now = self._clock()
        self._described = deque(called_at for called_at in self._described if called_at > now - 1)
        if len(self._described) >= DESCRIBES_PER_SECOND:
            raise AwsFault("LimitExceededException", "Rate exceeded: DescribeStream, 10 per second")
        self._described.append(now)
        table = self._table(body.get("StreamArn"))
        shards = list(_filtered(table.log, body.get("ShardFilter")))
        if (start := body.get("ExclusiveStartShardId")) is not None:
            names = [shard.id for shard in shards]
            shards = shards[names.index(start) + 1 :] if start in names else []
        page = shards[: min(body.get("Limit") or _MOST_SHARDS, _MOST_SHARDS)]
        more = {"LastEvaluatedShardId": page[-1].id} if len(page) < len(shards) else {}
        return {"StreamDescription": {**table.stream(), "Shards": [shard.description() for shard in page], **more}}

    def _iterator(self, body: Body) -> ShardIterator:
        table = self._table(body.get("StreamArn"))
        shard = table.log.shards.get(str(body.get("ShardId")))
        if shard is None:
            raise AwsFault("ResourceNotFoundException", "Requested resource not found: Shard does not exist")
        after = _start(shard, body.get("ShardIteratorType"), body.get("SequenceNumber"))
        return ShardIterator(table.stream_arn, shard.id, after, secrets.token_hex(8), self._clock())

    def _records(self, body: Body) -> dict[str, Any]:
        at = iterator_from(body.get("ShardIterator"))
        limit = body.get("Limit") or _MOST_RECORDS
        if not isinstance(limit, int) or not 1 <= limit <= _MOST_RECORDS:
            raise AwsFault("ValidationException", "Limit must be between 1 and 1000")
        table, now = self._table(at.arn), self._clock()
        if at.created < now - ITERATOR_SECONDS:
            raise AwsFault("ExpiredIteratorException", "Iterator expired")
        records, after = table.log.read(at.shard, at.after, limit)
        self._admit(at, now)
        if after is None:
            return {"Records": records}
        following = ShardIterator(at.arn, at.shard, after, at.reader, now)
        return {"Records": records, "NextShardIterator": following.text()}

    def _admit(self, at: ShardIterator, now: float) -> None:
        """AWS throttles a shard with more than two readers."""
        recent = {reader: when for reader, when in self._readers.get(at.shard, {}).items() if when > now - 1}
        if at.reader not in recent and len(recent) >= READERS_PER_SHARD:
            raise AwsFault("LimitExceededException", "There are too many readers of the shard")
        self._readers[at.shard] = {**recent, at.reader: now}

    def _table(self, arn: object) -> "EmbeddedStream":
        for table in self._tables():
            if table.stream_arn == arn:
                return table
        raise AwsFault("ResourceNotFoundException", "Requested resource not found: Stream does not exist")


def _filtered(log: StreamLog, shard_filter: Any) -> Iterator[LogShard]:
    if shard_filter is None:
        yield from log.shards.values()
        return
    match shard_filter:
        case {"Type": "CHILD_SHARDS", "ShardId": str(parent)}:
            yield from (shard for shard in log.shards.values() if shard.parent == parent)
        case _:
            raise AwsFault("ValidationException", "ShardFilter needs Type CHILD_SHARDS and a ShardId")


def _start(shard: LogShard, kind: object, sequence: object) -> int:
    """The sequence after which the iterator reads."""
    match kind:
        case "TRIM_HORIZON":
            return shard.trimmed
        case "LATEST":
            return sequence_of(shard.records[-1]) if shard.records else max(shard.start, shard.trimmed)
        case "AT_SEQUENCE_NUMBER" | "AFTER_SEQUENCE_NUMBER" if isinstance(sequence, str) and sequence.isdecimal():
            after = int(sequence) - (kind == "AT_SEQUENCE_NUMBER")
            if after < shard.trimmed:
                raise AwsFault("TrimmedDataAccessException", "The requested sequence number has been trimmed.")
            return after
    raise AwsFault("ValidationException", "ShardIteratorType and SequenceNumber do not fit")
