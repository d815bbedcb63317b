"""A DynamoDB in memory that keeps every partition sorted, so that its own work does not grow with the table.

What it charges follows DynamoDB's published rules, with an item's size as DynamoDB counts it.
"""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.model.table import TableSpec
from gateway.store.write.items import item_bytes
from gateway.testing.transactions import transact

Row = dict[str, Any]
Key = tuple[str, str]
_END = "\U0010ffff"


class Partitions:
    """The sorted keys of the table or of one index: by partition, sort key, and the item's own key."""

    def __init__(self, pk: str, sk: str) -> None:
        self.pk, self.sk = pk, sk
        self._keys: defaultdict[str, list[tuple[str, Key]]] = defaultdict(list)

    def fill(self, rows: Mapping[Key, Row]) -> None:
        for key, row in rows.items():
            if self.pk in row:
                self._keys[row[self.pk]["S"]].append((row[self.sk]["S"], key))
        for keys in self._keys.values():
            keys.sort()

    def move(self, key: Key, before: Row | None, after: Row | None) -> bool:
        """Whether the item's place here was written."""
        old, new = self._place(key, before), self._place(key, after)
        if old is not None and old != new:
            keys = self._keys[old[0]]
            del keys[bisect_left(keys, old[1])]
        if new is not None and old != new:
            insort(self._keys[new[0]], new[1])
        return (old or new) is not None and before != after

    def _place(self, key: Key, row: Row | None) -> tuple[str, tuple[str, Key]] | None:
        if row is None or self.pk not in row:
            return None
        return row[self.pk]["S"], (row[self.sk]["S"], key)

    def between(self, partition: str, low: str, high: str, *, forward: bool, limit: int) -> list[Key]:
        keys = self._keys.get(partition, [])
        first, last = bisect_left(keys, (low, ("", ""))), bisect_right(keys, (high, (_END, _END)))
        found = keys[first : min(last, first + limit)] if forward else keys[max(first, last - limit) : last][::-1]
        return [key for _, key in found]


class Ordered(DynamoDB):
    def __init__(self, spec: TableSpec, name: str, rows: Iterable[Row]) -> None:
        self._spec = spec
        self._name = name
        self.rows: dict[Key, Row] = {(row[spec.pk]["S"], row[spec.sk]["S"]): row for row in rows}
        places = {
            None: Partitions(spec.pk, spec.sk),
            **{each.name: Partitions(each.pk, each.sk) for each in spec.indexes},
        }
        self._places = places
        for each in places.values():
            each.fill(self.rows)

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Row:
        work = {
            "GetItem": self._get,
            "BatchGetItem": self._batch,
            "Query": self._query,
            "TransactWriteItems": self._write,
        }
        answer, units = work[operation](body)
        consumed = {"TableName": self._name, "CapacityUnits": units}
        many = operation in ("BatchGetItem", "TransactWriteItems")
        return {**answer, "ConsumedCapacity": [consumed] if many else consumed}

    def _get(self, body: Mapping[str, Any]) -> tuple[Row, float]:
        row = self.rows.get(self._key(body["Key"]))
        return ({"Item": row} if row else {}), _read_units(row or {}, strong=body["ConsistentRead"])

    def _batch(self, body: Mapping[str, Any]) -> tuple[Row, float]:
        request = body["RequestItems"][self._name]
        rows = [self.rows.get(self._key(key)) for key in request["Keys"]]
        units = sum(_read_units(row or {}, strong=request["ConsistentRead"]) for row in rows)
        return {"Responses": {self._name: [row for row in rows if row]}, "UnprocessedKeys": {}}, units

    def _query(self, body: Mapping[str, Any]) -> tuple[Row, float]:
        values = {name: value["S"] for name, value in body["ExpressionAttributeValues"].items()}
        low = values.get(":low", "")
        high = low + _END if "begins_with" in body["KeyConditionExpression"] else values.get(":high", _END)
        keys = self._places[body.get("IndexName")].between(
            values[":pk"], low, high, forward=body["ScanIndexForward"], limit=body["Limit"]
        )
        rows = [self.rows[key] for key in keys]
        size = sum(item_bytes(row) for row in rows)
        return {"Items": rows, "Count": len(rows)}, _units(size, 4_096, 1 if body.get("ConsistentRead") else 0.5)

    def _write(self, body: Mapping[str, Any]) -> tuple[Row, float]:
        members = [next(iter(each.items())) for each in body["TransactItems"]]
        keys = [self._key(part["Item"] if kind == "Put" else part["Key"]) for kind, part in members]
        before = [self.rows.get(key) for key in keys]
        transact(self.rows, dict(body), self._spec.pk, self._spec.sk)
        units = 0.0
        for key, old in zip(keys, before, strict=True):
            new = self.rows.get(key)
            size = max(item_bytes(old or {}), item_bytes(new or {}))
            units += _units(size, 1_024, 2)
            moved = {name: place.move(key, old, new) for name, place in self._places.items()}
            # an index is written with the item, and charged for itself
            units += sum(moved[name] for name in moved if name is not None) * _units(size, 1_024, 1)
        return {}, units

    def _key(self, key: Row) -> Key:
        return key[self._spec.pk]["S"], key[self._spec.sk]["S"]


def _read_units(row: Row, *, strong: bool) -> float:
    return _units(item_bytes(row), 4_096, 1 if strong else 0.5)


def _units(size: int, block: int, each: float) -> float:
    return max(1, ceil(size / block)) * each
