"""A small DynamoDB in memory: as strict about requests as AWS, with injectable failures."""

import asyncio
import math
import re
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import CredentialsExpired, InvalidRequest, TableMissing
from gateway.model.table import TableSpec
from gateway.testing.conditions import filtered_by, holds
from gateway.testing.transactions import transact

Row = dict[str, Any]
Answer = dict[str, Any]
Change = Callable[[Answer], Answer]

_WRITES = frozenset({"PutItem", "BatchWriteItem", "TransactWriteItems"})
_CONDITION = re.compile(
    r"#pk = :pk(?: AND (?P<rest>begins_with\(#sk, :low\)|#sk >= :low|#sk <= :high|#sk BETWEEN :low AND :high))?"
)


@dataclass
class Memory(DynamoDB):
    spec: TableSpec
    name: str
    page_bytes: int = 1_000_000
    rows: dict[tuple[str, str], Row] = field(default_factory=dict)
    sent: list[tuple[str, Row]] = field(default_factory=list)
    revoked: set[str] = field(default_factory=set)
    # replaces or modifies the next answers of an operation
    script: defaultdict[str, deque[Exception | Change]] = field(default_factory=lambda: defaultdict(deque))
    # permanent modifications
    always: dict[str, Change] = field(default_factory=dict)
    # how many items the next calls of BatchWriteItem leave unprocessed
    left_out: Iterator[int] = field(default_factory=lambda: iter(()))
    running: int = 0
    most_running: int = 0
    # called with the rows before and after each write, like the table's stream
    on_change: Callable[[Mapping[tuple[str, str], Row], Mapping[tuple[str, str], Row]], Awaitable[None]] | None = None

    def put(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows[(row[self.spec.pk]["S"], row[self.spec.sk]["S"])] = row

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Answer:
        self.sent.append((operation, dict(body)))
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(0)
        finally:
            self.running -= 1
        if credentials.access_key in self.revoked:
            raise CredentialsExpired("the session with aws is over or unknown")
        scripted = self.script[operation].popleft() if self.script[operation] else None
        if isinstance(scripted, Exception):
            raise scripted
        before = dict(self.rows) if self.on_change is not None and operation in _WRITES else None
        answer = self._operations()[operation](dict(body))
        if self.on_change is not None and before is not None:
            await self.on_change(before, self.rows)
        change = scripted or self.always.get(operation)
        return change(answer) if change is not None else answer

    def _operations(self) -> dict[str, Callable[[Row], Answer]]:
        return {
            "GetItem": self._get,
            "BatchGetItem": self._batch_get,
            "Query": self._query,
            "PutItem": self._put,
            "BatchWriteItem": self._batch_write,
            "TransactWriteItems": lambda body: transact(self.rows, body, self.spec.pk, self.spec.sk),
        }

    def _get(self, body: Row) -> Answer:
        self._check_table(body["TableName"])
        row = self.rows.get(self._key(body["Key"]))
        answer: Answer = {"ConsumedCapacity": self._consumed([row or {}], body["ConsistentRead"])}
        if row is not None:
            answer["Item"] = _projected(row, body, {})
        return answer

    def _batch_get(self, body: Row) -> Answer:
        [(name, request)] = body["RequestItems"].items()
        self._check_table(name)
        keys = [self._key(key) for key in request["Keys"]]
        _require(1 <= len(keys) <= 100, "too many or no keys")
        _require(len(set(keys)) == len(keys), "Provided list of item keys contains duplicates")
        items = [self.rows[key] for key in keys if key in self.rows]
        return {
            "Responses": {name: [_projected(row, request, {}) for row in reversed(items)]},
            "UnprocessedKeys": {},
            "ConsumedCapacity": [self._consumed(items, request["ConsistentRead"])],
        }

    def _put(self, body: Row) -> Answer:
        self._check_table(body["TableName"])
        _require("ConditionExpression" not in body, "a put with a condition is part of a transaction")
        self.put([body["Item"]])
        return {"ConsumedCapacity": self._consumed([body["Item"]], True)}

    def _batch_write(self, body: Row) -> Answer:
        [(name, writes)] = body["RequestItems"].items()
        self._check_table(name)
        rows = [write["PutRequest"]["Item"] for write in writes]
        keys = [(row[self.spec.pk]["S"], row[self.spec.sk]["S"]) for row in rows]
        _require(1 <= len(keys) <= 25, "too many or no items")
        _require(len(set(keys)) == len(keys), "Provided list of item keys contains duplicates")
        done = len(rows) - next(self.left_out, 0)
        self.put(rows[:done])
        left = {name: writes[done:]} if writes[done:] else {}
        return {"UnprocessedItems": left, "ConsumedCapacity": [self._consumed(rows[:done], True)]}

    def _query(self, body: Row) -> Answer:
        self._check_table(body["TableName"])
        pk, sk = self._index_keys(body)
        carried = self.spec.carried(self.spec.index(body.get("IndexName")))
        _require(carried is None or carried >= _named(body), "the index does not project these attributes")
        matches = _matcher(body, sk)
        near = self._partition(pk, body["ExpressionAttributeValues"][":pk"])
        # an item without the sort key of a local index is not in the index
        rows = sorted(filter(matches, (row for row in near if sk in row)), key=lambda row: self._order(row, sk))
        if not body["ScanIndexForward"]:
            rows.reverse()
        if start := body.get("ExclusiveStartKey"):
            _require(start[pk] == body["ExpressionAttributeValues"][":pk"], "the start key is of another partition")
            rows = self._rest(rows, self._order(start, sk), sk, body["ScanIndexForward"])
        _require(body["Limit"] >= 1, "Limit is at least 1")
        read: list[Row] = []
        size = 0
        for row in rows[: body["Limit"]]:
            size += _size(row if carried is None else _part(row, carried))
            if read and size > self.page_bytes:
                break
            read.append(row)
        kept = [row for row in read if holds(body, "FilterExpression", row)]
        answer: Answer = {
            "Items": [_projected(row, body, {"#pk": pk, "#sk": sk}) for row in kept],
            "Count": len(kept),
            "ScannedCount": len(read),
            "ConsumedCapacity": self._consumed(
                read if carried is None else [_part(row, carried) for row in read], body.get("ConsistentRead", False)
            ),
        }
        # as on AWS, a full page has a next one, even if no items are left
        if read and (len(read) < len(rows) or len(read) == body["Limit"]):
            keys = {self.spec.pk, self.spec.sk, pk, sk}
            answer["LastEvaluatedKey"] = {name: read[-1][name] for name in keys}
        return answer

    def _partition(self, pk: str, partition: Row) -> list[Row]:
        if pk == self.spec.pk:
            own = partition["S"]
            return [row for key, row in self.rows.items() if key[0] == own]
        return [row for row in self.rows.values() if row.get(pk) == partition]

    def _index_keys(self, body: Row) -> tuple[str, str]:
        if "IndexName" not in body:
            return self.spec.pk, self.spec.sk
        index = self.spec.index(body["IndexName"])
        assert index is not None  # noqa: S101  no request names another index
        _require(index.local or "ConsistentRead" not in body, "an index cannot be read consistently")
        return index.pk, index.sk

    def _order(self, row: Row, sk: str) -> tuple[bytes, ...]:
        return tuple(row[name]["S"].encode() for name in (sk, self.spec.pk, self.spec.sk))

    def _rest(self, rows: list[Row], start: tuple[bytes, ...], sk: str, forward: bool) -> list[Row]:
        return [row for row in rows if (self._order(row, sk) > start if forward else self._order(row, sk) < start)]

    def _key(self, key: Row) -> tuple[str, str]:
        _require(set(key) == {self.spec.pk, self.spec.sk}, "The provided key element does not match the schema")
        return key[self.spec.pk]["S"], key[self.spec.sk]["S"]

    def _check_table(self, name: str) -> None:
        if name != self.name:
            raise TableMissing("the table or index is not available")

    def _consumed(self, rows: list[Row], strong: bool) -> Row:
        units = max(1, math.ceil(sum(map(_size, rows)) / 4_096))
        return {"TableName": self.name, "CapacityUnits": units if strong else units / 2}


def _require(holds: bool, detail: str) -> None:
    if not holds:
        raise InvalidRequest(detail)


def _size(row: Row) -> int:
    return len(orjson.dumps(row))


def _part(row: Row, names: Iterable[str]) -> Row:
    return {name: row[name] for name in names if name in row}


def _named(body: Row) -> set[str]:
    """The attributes that a Query selects or filters by."""
    aliases: dict[str, str] = body["ExpressionAttributeNames"]
    return {aliases[alias] for alias in {*body["ProjectionExpression"].split(","), *filtered_by(body)[0]}}


def _projected(row: Row, body: Row, also: Mapping[str, str]) -> Row:
    aliases: dict[str, str] = body["ExpressionAttributeNames"]
    selected = body["ProjectionExpression"].split(",")
    filtered = filtered_by(body)[0]
    used = {*selected, *re.findall(r"#[a-z]+", body.get("KeyConditionExpression", "")), *filtered}
    _require(set(aliases) == used, "names that are not used, or used but not given")
    names = [aliases[alias] for alias in selected]
    _require(len(set(names)) == len(names), "two document paths overlap")
    _require(all(aliases[alias] == also[alias] for alias in used - set(selected) - filtered), "not the key")
    return _part(row, names)


def _matcher(body: Row, sk: str) -> Callable[[Row], bool]:
    """Whether a row of the partition is in the range."""
    condition = _CONDITION.fullmatch(body["KeyConditionExpression"])
    if condition is None:
        raise InvalidRequest(f"the engine in memory does not know `{body['KeyConditionExpression']}`")
    sent, filtered = body["ExpressionAttributeValues"], filtered_by(body)[1]
    _require(filtered <= set(sent), "values that are not given")
    values = {name: value["S"].encode() for name, value in sent.items() if name not in filtered}
    _require(set(values) == set(re.findall(r":[a-z]+", condition[0])), "values that are not used, or not given")
    _require(all(len(value) <= (2_048 if name == ":pk" else 1_024) for name, value in values.items()), "key too long")
    low, high = values.get(":low", b""), values.get(":high", b"\xff")
    _require(low <= high, "the BETWEEN operator must have a lower bound that is not above its upper bound")
    prefix = low if "begins_with" in condition[0] else b""

    def matches(row: Row) -> bool:
        text: bytes = row[sk]["S"].encode()
        return low <= text <= high and text.startswith(prefix)

    return matches
