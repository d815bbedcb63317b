"""Leases: which reader reads which shard, and its checkpoint. specs/Lease.tla models the protocol.

A lease is a row of the table in a partition of no tenant, which no tenant's policy reaches. Clocks are never
compared: a reader takes a lease over if it has not seen it change for a while by its own clock, and every write has
the term of the lease as its condition.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateway.aws.sts.own_credentials import OwnCredentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import ConditionFailed
from gateway.model.table import TableSpec
from gateway.model.tenant import LEASE_PARTITION

START, END = "", "END"  # checkpoints before the first record and after the last one

_KEPT_SECONDS = 48 * 3600  # a finished lease is needed as long as DynamoDB lists its shard, which is a day


@dataclass(frozen=True, slots=True)
class Lease:
    shard: str
    parent: str | None = None
    owner: str = ""
    term: int = 0  # increases with every owner
    beat: int = 0  # increases with every write of an owner
    checkpoint: str = START

    @property
    def finished(self) -> bool:
        return self.checkpoint == END


@dataclass(eq=False)
class Leases:
    """The rows of the leases; `owner` identifies this reader and is new at each start."""

    dynamodb: DynamoDB
    credentials: OwnCredentials
    target: AwsTarget
    spec: TableSpec
    table: str
    owner: str
    clock: Callable[[], float] = time.time

    async def all(self) -> dict[str, Lease]:
        """All leases by shard; a strongly consistent read."""
        body: dict[str, Any] = {
            "KeyConditionExpression": "#pk = :pk",
            "ExpressionAttributeNames": {"#pk": self.spec.pk},
            "ExpressionAttributeValues": {":pk": {"S": LEASE_PARTITION}},
            "ConsistentRead": True,
        }
        leases: dict[str, Lease] = {}
        while True:
            answer = await self._call("Query", body)
            for row in answer.get("Items", ()):
                lease = self._lease(row)
                leases[lease.shard] = lease
            if "LastEvaluatedKey" not in answer:
                return leases
            body["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    async def create(self, shard: str, parent: str | None) -> Lease | None:
        """None if another reader was faster."""
        lease = Lease(shard, parent)
        row = {**self._key(shard), "term": {"N": "0"}, "beat": {"N": "0"}, "owner": {"S": ""}, "position": {"S": START}}
        if parent is not None:
            row["parent"] = {"S": parent}
        names = {"#pk": self.spec.pk}
        condition = {"ConditionExpression": "attribute_not_exists(#pk)", "ExpressionAttributeNames": names}
        try:
            await self._call("PutItem", {"Item": row, **condition})
        except ConditionFailed:
            return None
        return lease

    async def take(self, lease: Lease) -> Lease | None:
        """The lease with this reader as owner; None if it has changed since it was read."""
        taken = replace(lease, owner=self.owner, term=lease.term + 1, beat=lease.beat + 1)
        return await self._write(taken, lease.term, lease.beat)

    async def renew(self, lease: Lease, checkpoint: str) -> Lease | None:
        """The lease with this checkpoint; None if it has another owner now."""
        return await self._write(replace(lease, beat=lease.beat + 1, checkpoint=checkpoint), lease.term, None)

    async def release(self, lease: Lease, checkpoint: str) -> None:
        """Releases the lease, so that the next reader need not wait."""
        await self._write(replace(lease, owner="", beat=lease.beat + 1, checkpoint=checkpoint), lease.term, None)

    async def _write(self, lease: Lease, term: int, beat: int | None) -> Lease | None:
        # INVARIANT: only the owner of the current term moves a checkpoint, and only an unchanged lease is taken over.
        values = {
            ":owner": {"S": lease.owner},
            ":term": {"N": str(lease.term)},
            ":beat": {"N": str(lease.beat)},
            ":position": {"S": lease.checkpoint},
            ":seen": {"N": str(term)},
            **({} if beat is None else {":seenBeat": {"N": str(beat)}}),
            **({":ttl": {"N": str(int(self.clock()) + _KEPT_SECONDS)}} if lease.finished else {}),
        }
        condition = "#term = :seen" + ("" if beat is None else " AND #beat = :seenBeat")
        names = {"#owner": "owner", "#term": "term", "#beat": "beat", "#position": "position"}
        body = {
            "Key": self._key(lease.shard),
            "UpdateExpression": "SET #owner = :owner, #term = :term, #beat = :beat, #position = :position"
            + (", #ttl = :ttl" if lease.finished else ""),
            "ConditionExpression": condition,
            "ExpressionAttributeNames": names | ({"#ttl": self.spec.ttl} if lease.finished else {}),
            "ExpressionAttributeValues": values,
        }
        try:
            await self._call("UpdateItem", body)
        except ConditionFailed as error:
            # an attempt whose response was lost may have written it; then the row already has these values
            return await self._as_written(lease) if error.uncertain else None
        return lease

    async def _as_written(self, lease: Lease) -> Lease | None:
        row = (await self._call("GetItem", {"Key": self._key(lease.shard), "ConsistentRead": True})).get("Item")
        stored = None if row is None else self._lease(row)
        return lease if stored is not None and replace(stored, parent=lease.parent) == lease else None

    def _key(self, shard: str) -> dict[str, Any]:
        return {self.spec.pk: {"S": LEASE_PARTITION}, self.spec.sk: {"S": shard}}

    def _lease(self, row: Mapping[str, Any]) -> Lease:
        return Lease(
            shard=row[self.spec.sk]["S"],
            parent=row.get("parent", {}).get("S"),
            owner=row["owner"]["S"],
            term=int(row["term"]["N"]),
            beat=int(row["beat"]["N"]),
            checkpoint=row["position"]["S"],
        )

    async def _call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self.dynamodb.call(
            operation,
            {"TableName": self.table, **body},
            credentials=await self.credentials.get(),
            target=self.target,
        )
