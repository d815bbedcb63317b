"""The shards of a table's stream: lists, opens and reads them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.aws.sts.own_credentials import OwnCredentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.errors import ConfigurationError
from gateway.stream.leases import START

VIEW = "NEW_AND_OLD_IMAGES"


@dataclass(frozen=True, slots=True)
class Batch:
    """Records of a shard, and the iterator for the next ones: None at the end of a closed shard."""

    records: list[dict[str, Any]]
    following: str | None


@dataclass(slots=True)
class StreamShards:
    """`dynamodb` and `streams` are two APIs at two endpoints, whose `targets` are in this order."""

    dynamodb: DynamoDB
    streams: DynamoDB
    credentials: OwnCredentials
    targets: tuple[AwsTarget, AwsTarget]
    table: str
    _arn: str = ""

    async def parents(self) -> dict[str, str | None]:
        """Every shard that DynamoDB lists, with its parent. A stream that was switched off and on again is a new
        one."""
        body = {"TableName": self.table}
        credentials = await self.credentials.get()
        answer = await self.dynamodb.call("DescribeTable", body, credentials=credentials, target=self.targets[0])
        table = answer["Table"]
        if table.get("StreamSpecification", {}).get("StreamViewType") != VIEW:
            fault = f"the table `{self.table}` needs a stream with {VIEW}: set its stream_view_type"
            raise ConfigurationError([fault])
        self._arn = table["LatestStreamArn"]
        shards: dict[str, str | None] = {}
        start: dict[str, str] = {}
        while True:
            description = (await self._call("DescribeStream", {"StreamArn": self._arn, **start}))["StreamDescription"]
            shards |= {shard["ShardId"]: shard.get("ParentShardId") for shard in description["Shards"]}
            if not description.get("LastEvaluatedShardId"):
                return shards
            start = {"ExclusiveStartShardId": description["LastEvaluatedShardId"]}

    async def iterator(self, shard: str, after: str) -> str:
        at = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": after}
        if after == START:
            at = {"ShardIteratorType": "TRIM_HORIZON"}
        answer = await self._call("GetShardIterator", {"StreamArn": self._arn, "ShardId": shard, **at})
        return str(answer["ShardIterator"])

    async def read(self, iterator: str) -> Batch:
        answer = await self._call("GetRecords", {"ShardIterator": iterator})
        return Batch(answer["Records"], answer.get("NextShardIterator"))

    async def _call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        credentials = await self.credentials.get()
        return await self.streams.call(operation, body, credentials=credentials, target=self.targets[1])
