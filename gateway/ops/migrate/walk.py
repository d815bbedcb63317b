"""The way through the whole table, segment by segment and page by page, at the agreed pace."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition
from gateway.ops.migrate.pace import Pace
from gateway.ops.migrate.source import Source
from gateway.store.codec import Wire


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of the wanted entities, and where the segment goes on; `scanned` counts all that were passed."""

    rows: tuple[Wire, ...]
    scanned: int
    next: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Walk:
    source: Source
    model: Model
    pace: Pace
    entities: tuple[str, ...]
    tenant: TenantId | None = None
    strong: bool = False
    page: int = 200

    async def pages(self, number: int, of: int, start: dict[str, Any] | None) -> AsyncIterator[Page]:
        """Of one segment, from where it was left."""
        body = {**self._body(), "Segment": number, "TotalSegments": of}
        while True:
            # INVARIANT: only here, with an operator's credentials; nothing that serves a request reads the whole table.
            answer = await self.source.call("Scan", {**body, **({"ExclusiveStartKey": start} if start else {})})
            await self.pace.spend(float(answer.get("ConsumedCapacity", {}).get("CapacityUnits", 0)))
            start = answer.get("LastEvaluatedKey")
            yield Page(tuple(answer.get("Items", ())), int(answer.get("ScannedCount", 0)), start)
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
