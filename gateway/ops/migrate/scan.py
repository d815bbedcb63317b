"""Scans the whole table by segments and pages, at a limited rate."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition
from gateway.model.types import Wire
from gateway.ops.migrate.source import MigrationSource

# The rate limit, in capacity units per second, so that requests of tenants are not affected.


class Pace:
    """Limits the capacity units per second; the units of one second may be spent at once."""

    def __init__(self, units_per_second: float) -> None:
        self._seconds_each = 1 / units_per_second
        self._paid_until = 0.0
        self.spent = 0.0

    async def spend(self, units: float) -> None:
        now = asyncio.get_running_loop().time()
        self.spent += units
        self._paid_until = max(self._paid_until, now - 1) + units * self._seconds_each
        if self._paid_until > now:
            await asyncio.sleep(self._paid_until - now)


@dataclass(frozen=True, slots=True)
class ScanPage:
    """Rows of the wanted entities, and where the segment continues; `scanned` counts all rows."""

    rows: tuple[Wire, ...]
    scanned: int
    next: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Walk:
    source: MigrationSource
    model: Model
    pace: Pace
    entities: tuple[str, ...]
    tenant: TenantId | None = None
    strong: bool = False
    page: int = 200

    async def pages(self, number: int, of: int, start: dict[str, Any] | None) -> AsyncIterator[ScanPage]:
        """The pages of one segment, from `start` on."""
        body = {**self._body(), "Segment": number, "TotalSegments": of}
        while True:
            # INVARIANT: the only Scan, with the operator's credentials; no request of a tenant reads the whole table.
            answer = await self.source.call("Scan", {**body, **({"ExclusiveStartKey": start} if start else {})})
            await self.pace.spend(float(answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)))
            start = answer.get("LastEvaluatedKey")
            yield ScanPage(tuple(answer.get("Items", ())), int(answer.get("ScannedCount", 0)), start)
            if start is None:
                return

    def _body(self) -> dict[str, Any]:
        names = {"#type": self.model.table.entity_type}
        values = {f":{position}": {"S": name} for position, name in enumerate(self.entities)}
        conditions = [f"#type IN ({', '.join(values)})"]
        if self.tenant is not None:
            names["#pk"] = self.model.table.pk
            values[":tenant"] = {"S": partition(self.tenant, "")}
            conditions.append("begins_with(#pk, :tenant)")
        return {
            "TableName": self.source.table,
            "Limit": self.page,
            "ConsistentRead": self.strong,
            "FilterExpression": " AND ".join(conditions),
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
            "ReturnConsumedCapacity": "TOTAL",
        }
