"""The stream of an embedded table: moto calls it at every write, and it writes the log that readers see."""

from collections.abc import Iterator
from typing import Any

import moto.dynamodb.models.table as moto_table
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.table import StreamRecord, StreamShard, Table

from gateway.sandbox.aws.stream_log import StreamLog

_EXPIRED = {"type": "Service", "principalId": "dynamodb.amazonaws.com"}


class EmbeddedStream(StreamShard):
    """Replaces moto's only shard, which never closes and never drops records."""

    def __init__(self, account_id: str, table: Table) -> None:
        super().__init__(account_id, table)
        self.log = StreamLog()
        self.expiring = False

    @property
    def name(self) -> str:
        return str(self.table.name)

    @property
    def stream_arn(self) -> str:
        return f"{self.table.table_arn}/stream/{self.table.latest_stream_label}"

    def stream(self) -> dict[str, Any]:
        """The members of a stream's description that come from the table."""
        return {
            "StreamArn": self.stream_arn,
            "StreamLabel": self.table.latest_stream_label,
            "StreamStatus": "ENABLED",
            "StreamViewType": (self.table.stream_specification or {})["StreamViewType"],
            "CreationRequestDateTime": self.created_on.timestamp(),
            "TableName": self.name,
            "KeySchema": self.table.schema,
        }

    def add(self, old: Any, new: Any) -> None:
        before, after = ({} if item is None else item.to_json()["Attributes"] for item in (old, new))
        # a write that changes nothing produces no record
        if before == after:
            return
        kind = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
        view = (self.table.stream_specification or {})["StreamViewType"]
        record = StreamRecord(self.table, view, kind, old, new, 0).to_json()
        record["awsRegion"] = self.table.region_name
        if self.expiring:
            record["userIdentity"] = _EXPIRED
        key = str((old or new).hash_key.value)
        if kind == "INSERT":
            # moto creates an item in two steps if an update names it; DynamoDB writes one record
            self.log.withdraw(key, record["dynamodb"]["Keys"])
        self.log.append(key, record)


def streams_with_shards() -> None:
    """Gives these streams to tables that are created from now on."""
    setattr(moto_table, StreamShard.__name__, EmbeddedStream)


def streamed_tables(account: str, region: str) -> Iterator[EmbeddedStream]:
    for table in [*dynamodb_backends[account][region].tables.values()]:
        if isinstance(table.stream_shard, EmbeddedStream) and table.latest_stream_label:
            yield table.stream_shard
