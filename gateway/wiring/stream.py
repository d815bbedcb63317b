"""Builds the reader of the table's stream: its role, its endpoints, and the process it runs in."""

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import boto3

from gateway.aws.sts.own_credentials import OwnCredentials
from gateway.aws.sts.reader_role import in_role
from gateway.aws.wire.dynamodb import DynamoDBClient, DynamoDBStreamsClient
from gateway.aws.wire.endpoint import AwsTarget
from gateway.model.table import TableSpec
from gateway.settings import Settings
from gateway.stream.bus import NotePublisher
from gateway.stream.leases import Leases
from gateway.stream.reader import ReaderCounts, StreamReader
from gateway.stream.shards import StreamShards

SESSION_NAME = "gateway-stream"


class ReaderProcess:
    """A reader that runs while its context is entered; otherwise its counts are those of the last run."""

    def __init__(self, settings: Settings, spec: TableSpec, aws: boto3.Session, bus: NotePublisher) -> None:
        self._settings = settings
        self._spec = spec
        self._aws = aws
        self._bus = bus
        self._reader: StreamReader | None = None

    @property
    def counts(self) -> ReaderCounts:
        return self._reader.counts if self._reader is not None else ReaderCounts()

    @property
    def ticked(self) -> float:
        """When the leases were last maintained, by the monotonic clock; 0 if never."""
        return self._reader.ticked if self._reader is not None else 0.0

    @property
    def alive(self) -> float:
        """When an attempt to maintain the leases last ended, successfully or not."""
        return self._reader.alive if self._reader is not None else 0.0

    @property
    def shards(self) -> int:
        return len(self._reader.own) if self._reader is not None else 0

    @property
    def lag_seconds(self) -> float:
        return self._reader.lag_seconds if self._reader is not None else 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[StreamReader]:
        tls = ssl.create_default_context()
        dynamodb, streams = DynamoDBClient(tls=tls), DynamoDBStreamsClient(tls=tls)
        own = OwnCredentials(_credentials(self._settings, self._aws))
        target, stream_target = targets(self._settings)
        table = self._settings.table_name
        reader = StreamReader(
            StreamShards(dynamodb, streams, own, (target, stream_target), table),
            Leases(dynamodb, own, target, self._spec, table, secrets.token_hex(8)),
            self._spec,
            self._bus,
        )
        self._reader = reader
        task = asyncio.create_task(reader.run())
        try:
            yield reader
        finally:
            task.cancel()
            await asyncio.wait((task,))
            for client in (dynamodb, streams, own):
                await client.close()


def targets(settings: Settings) -> tuple[AwsTarget, AwsTarget]:
    """The endpoints of the table and of its stream, which differ."""
    region = settings.region
    table, stream = settings.dynamodb_endpoint, settings.dynamodb_streams_endpoint
    return (
        AwsTarget(table, region) if table else AwsTarget.regional("dynamodb", region),
        AwsTarget(stream, region) if stream else AwsTarget.regional("streams.dynamodb", region),
    )


def _credentials(settings: Settings, aws: boto3.Session) -> boto3.Session:
    if settings.stream_role_arn is None:
        return aws
    return in_role(aws, settings.stream_role_arn, settings.region, settings.sts_endpoint, SESSION_NAME)
