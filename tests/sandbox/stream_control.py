"""Splits, closes or trims the stream of an embedded table, or expires items: what happens by itself on AWS."""

import asyncio
from collections.abc import Callable
from time import time
from typing import TypeVar

from moto.dynamodb.models import dynamodb_backends

from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.embedded_stream import EmbeddedStream
from gateway.sandbox.aws.stream_log import StreamLog

T = TypeVar("T")


async def control_stream(engine: Embedded, table: str, act: Callable[["StreamControl"], T]) -> T:
    """In the thread of the engine, which runs one request at a time."""
    control = StreamControl(engine._account, engine._region, table)
    return await asyncio.get_running_loop().run_in_executor(engine._thread, act, control)


class StreamControl:
    """The stream of a table, and the removal of expired items."""

    def __init__(self, account: str, region: str, table: str) -> None:
        self.table = dynamodb_backends[account][region].tables[table]
        stream = self.table.stream_shard
        if not isinstance(stream, EmbeddedStream):
            raise TypeError(f"the table `{table}` has no stream")
        self.stream = stream

    @property
    def log(self) -> StreamLog:
        return self.stream.log

    def open_shards(self) -> list[str]:
        return [shard.id for shard in self.log.shards.values() if shard.end is None]

    def expire(self) -> int:
        """Removes the items whose time to live has passed, as DynamoDB does eventually; returns their number."""
        name, now = str(self.table.ttl.get("AttributeName")), time()
        over = [
            (item.hash_key, item.range_key)
            for item in self.table.all_items()
            if name in item.attrs and float(item.attrs[name].value) < now
        ]
        self.stream.expiring = True
        try:
            for key in over:
                self.table.delete_item(*key)
        finally:
            self.stream.expiring = False
        return len(over)
