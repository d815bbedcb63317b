"""Reads pages of an index that does not show the caller's own writes yet, as the listing declares."""

import asyncio
from collections.abc import Awaitable, Callable, Set
from dataclasses import dataclass, replace

from gateway.errors import Forbidden
from gateway.model.keys import ItemKey
from gateway.model.patterns import Lag
from gateway.model.types import Wire
from gateway.store.key_ranges import contains
from gateway.store.own_writes import OwnWrites
from gateway.store.plan import QueryPartition

INDEX_LAG_SECONDS = 2.0  # within which replicas and indexes are assumed to follow the table
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)  # seconds before an index is queried again


@dataclass(frozen=True, slots=True)
class LaggingIndex:
    """One partition of an index; `items` reads rows of the table by their keys, with the keys of the index."""

    page: Callable[[QueryPartition], Awaitable[list[Wire]]]
    items: Callable[[Set[ItemKey]], Awaitable[dict[ItemKey, Wire]]]
    key: Callable[[Wire], ItemKey]
    names: tuple[str, ...]  # the attributes of a row of a page

    async def read(self, plan: QueryPartition, writes: OwnWrites, lag: Lag) -> tuple[list[Wire], bool]:
        """Returns the page, and whether it shows all of the writes."""
        if writes.anything or lag == "say":
            return await self.page(plan), False
        # rows that have left the index must not shorten the page
        wider = replace(plan, limit=plan.limit + len(writes.items))
        for pause in (*_PAUSES, None) if lag == "wait" else (None,):
            rows = await self.page(wider)
            try:
                merged = await self._merged(wider, rows, writes)
            except Forbidden:
                return rows[: plan.limit], False  # the role may not read the keys of this index
            if lag == "through_table" or merged[: plan.limit] == rows[: plan.limit]:
                return merged[: plan.limit], True
            if pause is not None:
                await asyncio.sleep(pause)
        return rows[: plan.limit], False

    async def _merged(self, plan: QueryPartition, rows: list[Wire], writes: OwnWrites) -> list[Wire]:
        """Returns the page with the written items as they are in the table now."""
        index = plan.index
        assert index is not None  # noqa: S101  the caller has checked; this tells the type checker
        shown = {self.key(row): row for row in rows}
        concerned = writes.placed(index.name, plan.partition, plan.bounds) | (shown.keys() & writes.items.keys())
        if not concerned:
            return rows
        for key in concerned:
            shown.pop(key, None)
        for key, row in (await self.items(concerned)).items():
            partition, sort = row.get(index.pk, {}).get("S"), row.get(index.sk, {}).get("S")
            if partition == plan.partition and sort is not None and contains(plan.bounds, sort):
                shown[key] = {name: row[name] for name in self.names if name in row}
        return sorted(shown.values(), key=lambda row: row[index.sk]["S"], reverse=not plan.forward)[: plan.limit]
