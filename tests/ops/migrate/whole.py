"""The table in memory as an operator reaches it: scanned in segments, written item by item, stopped on demand."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import ConditionFailed, TransactionCancelled
from gateway.model.model import Model
from gateway.ops.migrate.backfill import Backfill
from gateway.ops.migrate.checkpoint import Checkpoint, ScanSegment
from gateway.ops.migrate.row_checker import RowChecker
from gateway.ops.migrate.scan import Pace, Walk
from gateway.ops.migrate.source import Keys, MigrationSource
from gateway.store.write.items import items_for
from gateway.testing.memory import Answer, Memory, Row
from gateway.testing.transactions import transact
from tests.store.fixtures import ACME, TABLE
from tests.store.growing import AFTER, NEW, split, ticket


class Stopped(Exception):
    """The process ends here."""


class Static(Keys):
    async def credentials(self) -> Credentials:
        return Credentials("AKIDOPERATOR", "secret")


@dataclass
class Whole(Memory):
    stop_after: int | None = None
    # what somebody else does just before a write
    before_write: Callable[["Whole"], None] = lambda whole: None

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Answer:
        if self.stop_after is not None and len(self.sent) >= self.stop_after:
            raise Stopped
        if operation in ("UpdateItem", "TransactWriteItems"):
            self.before_write(self)
        return await super().call(operation, body, credentials=credentials, target=target, deadline=deadline)

    def _operations(self) -> dict[str, Callable[[Row], Answer]]:
        own = {"Scan": self._scan, "UpdateItem": self._update, "DescribeTable": self._describe}
        return {**super()._operations(), **own, "GetItem": self._whole_item}

    def _whole_item(self, body: Row) -> Answer:
        if "ProjectionExpression" in body:
            return self._get(body)
        row = self.rows.get(self._key(body["Key"]))
        return {"Item": dict(row)} if row is not None else {}

    def _scan(self, body: Row) -> Answer:
        self._check_table(body["TableName"])
        names, values = body["ExpressionAttributeNames"], body["ExpressionAttributeValues"]
        found = re.fullmatch(
            r"#type IN \((?P<types>[:\d, ]+)\)(?P<own> AND begins_with\(#pk, :tenant\))?", body["FilterExpression"]
        )
        assert found is not None
        types = [values[name]["S"] for name in found["types"].split(", ")]
        assert set(names) == ({"#type", "#pk"} if found["own"] else {"#type"})
        keys = sorted(key for key in self.rows if crc32(key[0].encode()) % body["TotalSegments"] == body["Segment"])
        if start := body.get("ExclusiveStartKey"):
            keys = [key for key in keys if key > (start["PK"]["S"], start["SK"]["S"])]
        passed = keys[: body["Limit"]]
        rows = [self.rows[key] for key in passed if self.rows[key]["EntityType"]["S"] in types]
        if found["own"]:
            rows = [row for row in rows if row["PK"]["S"].startswith(values[":tenant"]["S"])]
        answer: Answer = {"Items": [dict(row) for row in rows], "ScannedCount": len(passed)}
        if len(passed) < len(keys):
            answer["LastEvaluatedKey"] = {"PK": {"S": passed[-1][0]}, "SK": {"S": passed[-1][1]}}
        return {**answer, "ConsumedCapacity": {"CapacityUnits": 0.5}}

    def _update(self, body: Row) -> Answer:
        part = {name: value for name, value in body.items() if name != "ReturnConsumedCapacity"}
        try:
            transact(self.rows, {"TransactItems": [{"Update": part}]}, self.spec.pk, self.spec.sk)
        except TransactionCancelled as error:
            raise ConditionFailed("a condition of the write did not hold") from error
        return {"ConsumedCapacity": {"CapacityUnits": 1.0}}

    def _describe(self, body: Row) -> Answer:
        self._check_table(body["TableName"])
        return {"Table": {"ItemCount": len(self.rows)}}


def backfill(
    memory: Memory, model: Model = NEW, *, dry: bool = False, page: int = 3, entity: str = "Ticket", **walk: Any
) -> Backfill:
    source = MigrationSource(memory, AwsTarget("http://127.0.0.1:1", "eu-west-1"), TABLE, Static(), pause=0.001)
    return Backfill(Walk(source, model, Pace(1e9), (entity,), page=page, **walk), RowChecker(model), dry=dry)


def beginning(segments: int = 2) -> Checkpoint:
    return Checkpoint(TABLE, "", None, [ScanSegment() for _ in range(segments)])


def ignored(state: Checkpoint) -> None:
    """Where a test needs no checkpoint."""


def new_row(number: int, version: int = 1, **changes: Any) -> list[Row]:
    values = ticket(number, **changes)
    values |= split(values)
    del values["fullName"]
    return items_for(NEW, AFTER, ACME, values, version)
