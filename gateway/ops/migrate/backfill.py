"""The backfill: rewrites every item that differs from the model, without losing concurrent writes."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from gateway.aws.wire.errors import ConditionFailed, TransactionCancelled, WriteConflict
from gateway.errors import Conflict
from gateway.model.keys import ItemKey
from gateway.model.tenant import tenant_of
from gateway.model.types import Wire
from gateway.ops.migrate.checkpoint import Checkpoint, ScanSegment
from gateway.ops.migrate.progress import MigrationTally
from gateway.ops.migrate.row_checker import Repair, RowChecker, written
from gateway.ops.migrate.scan import ScanPage, Walk
from gateway.store.access import gather_or_cancel
from gateway.store.wire import key_of

_TRIES = 6
_FIRST_PAUSE = 0.05
_AT_ONCE = 8


@dataclass(slots=True)
class Backfill:
    """With `dry`, only counts. `on_page` is called after each page is done."""

    walk: Walk
    checker: RowChecker
    dry: bool = False
    tally: MigrationTally = field(default_factory=MigrationTally)
    on_page: Callable[[], None] = lambda: None
    _counting: dict[str | None, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def run(self, state: Checkpoint, save: Callable[[Checkpoint], None]) -> None:
        """Processes the rest of every segment; calls `save` whenever a segment has made progress."""
        count = len(state.segments)
        jobs = [
            self._segment(number, count, segment, lambda: save(state)) for number, segment in enumerate(state.segments)
        ]
        await gather_or_cancel(jobs)

    async def _segment(self, number: int, count: int, segment: ScanSegment, save: Callable[[], None]) -> None:
        if segment.done:
            return

        def passed(key: ItemKey) -> None:
            segment.start = key_of(self.walk.model.table, key)
            save()

        async for page in self.walk.pages(number, count, segment.start):
            await self._page(page, passed)
            # INVARIANT: the checkpoint passes an item only after the item was written.
            segment.start, segment.done = page.next, page.next is None
            save()
            self.on_page()

    async def _page(self, page: ScanPage, passed: Callable[[ItemKey], None]) -> None:
        """`passed` gets the last item up to which all are done, because a page takes minutes at a slow rate."""
        self.tally.scanned += page.scanned
        repairs = []
        for row in page.rows:
            verdict = self.checker.verdict(row)
            self.tally.note(self.checker.kind(row), verdict)
            if verdict.repair is not None:
                repairs.append(verdict.repair)
        if not self.dry:
            await self._repair_all(repairs, passed)

    async def _repair_all(self, repairs: Sequence[Repair], passed: Callable[[ItemKey], None]) -> None:
        left = dict.fromkeys(range(len(repairs)))  # in the order of the table

        async def repair_at(number: int) -> None:
            await self._repair(repairs[number])
            was_first = next(iter(left)) == number
            del left[number]
            if was_first:
                passed(repairs[next(iter(left), len(repairs)) - 1].key)

        for start in range(0, len(repairs), _AT_ONCE):
            await gather_or_cancel([repair_at(number) for number in range(start, min(start + _AT_ONCE, len(repairs)))])

    async def _repair(self, repair: Repair) -> None:
        for attempt in range(_TRIES):
            try:
                await self._write(repair)
            except (ConditionFailed, TransactionCancelled, WriteConflict):
                # another writer was first: check the item again
                self.tally.met += 1
                await asyncio.sleep(_FIRST_PAUSE * attempt)
                left = await self._again(repair.key)
                if left is None:
                    return
                repair = left
            else:
                self.tally.repaired += 1
                return
        raise Conflict("an item changes too often; run the command again")

    async def _write(self, repair: Repair) -> None:
        operation, body = written(self.walk.model, self.walk.source.table, repair)
        # items of one tenant share the rows of its counters, so their writes can collide
        async with self._counting[tenant_of(repair.key.pk)] if repair.counts else nullcontext():
            answer = await self.walk.source.call(operation, body)
        await self.walk.pace.spend(_units(answer))

    async def _again(self, key: ItemKey) -> Repair | None:
        """The repair that the item needs now; None if it is right or gone."""
        body = {"TableName": self.walk.source.table, "Key": key_of(self.walk.model.table, key), "ConsistentRead": True}
        answer = await self.walk.source.call("GetItem", {**body, "ReturnConsumedCapacity": "TOTAL"})
        await self.walk.pace.spend(_units(answer))
        row: Wire | None = answer.get("Item")
        if row is None:
            self.tally.gone += 1
            return None
        return self.checker.verdict(row).repair


def _units(answer: dict[str, Any]) -> float:
    consumed = answer.get("ConsumedCapacity") or ()
    parts = consumed if isinstance(consumed, list) else [consumed]
    return sum(float(part.get("CapacityUnits", 0)) for part in parts if part)
