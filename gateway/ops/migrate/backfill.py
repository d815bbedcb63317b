"""The backfill: every item is made what the model says it should be, and what others write meanwhile is never lost."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.aws.wire.errors import ConditionFailed, TransactionCancelled, WriteConflict
from gateway.errors import Conflict
from gateway.model.keys import ItemKey
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
    """With `dry` it counts what it would do. `on_page` is told after each page, when its work is done."""

    walk: Walk
    judge: RowChecker
    dry: bool = False
    tally: MigrationTally = field(default_factory=MigrationTally)
    on_page: Callable[[], None] = lambda: None

    async def run(self, state: Checkpoint, save: Callable[[Checkpoint], None]) -> None:
        """Goes through what is left of every segment; `save` is called whenever a segment has moved on."""
        count = len(state.segments)
        jobs = [self._segment(number, count, each, lambda: save(state)) for number, each in enumerate(state.segments)]
        await gather_or_cancel(jobs)

    async def _segment(self, number: int, count: int, segment: ScanSegment, save: Callable[[], None]) -> None:
        if segment.done:
            return

        def passed(key: ItemKey) -> None:
            segment.start = key_of(self.walk.model.table, key)
            save()

        async for page in self.walk.pages(number, count, segment.start):
            await self._page(page, passed)
            # INVARIANT: a checkpoint never lies before what is written: an item is behind it only when it is done.
            segment.start, segment.done = page.next, page.next is None
            save()
            self.on_page()

    async def _page(self, page: ScanPage, passed: Callable[[ItemKey], None]) -> None:
        """`passed` gets the last item up to which all are done: at a slow pace a page takes minutes."""
        self.tally.scanned += page.scanned
        repairs = []
        for row in page.rows:
            verdict = self.judge.verdict(row)
            self.tally.note(self.judge.kind(row), verdict)
            if verdict.repair is not None:
                repairs.append(verdict.repair)
        if not self.dry:
            await self._mend_all(repairs, passed)

    async def _mend_all(self, repairs: Sequence[Repair], passed: Callable[[ItemKey], None]) -> None:
        left = dict.fromkeys(range(len(repairs)))  # in the order of the table

        async def mend(number: int) -> None:
            await self._mend(repairs[number])
            was_first = next(iter(left)) == number
            del left[number]
            if was_first:
                passed(repairs[next(iter(left), len(repairs)) - 1].key)

        for start in range(0, len(repairs), _AT_ONCE):
            await gather_or_cancel([mend(number) for number in range(start, min(start + _AT_ONCE, len(repairs)))])

    async def _mend(self, repair: Repair) -> None:
        for attempt in range(_TRIES):
            try:
                await self._write(repair)
            except (ConditionFailed, TransactionCancelled, WriteConflict):
                # somebody else was faster; what they wrote is looked at anew
                self.tally.met += 1
                await asyncio.sleep(_FIRST_PAUSE * attempt)
                left = await self._again(repair.key)
                if left is None:
                    return
                repair = left
            else:
                self.tally.mended += 1
                return
        raise Conflict("an item is being changed without end; run the command again")

    async def _write(self, repair: Repair) -> None:
        operation, body = written(self.walk.model, self.walk.source.table, repair)
        await self.walk.pace.spend(_units(await self.walk.source.call(operation, body)))

    async def _again(self, key: ItemKey) -> Repair | None:
        """The repair that the item needs as it is now; None where it is right, or gone."""
        body = {"TableName": self.walk.source.table, "Key": key_of(self.walk.model.table, key), "ConsistentRead": True}
        answer = await self.walk.source.call("GetItem", {**body, "ReturnConsumedCapacity": "TOTAL"})
        await self.walk.pace.spend(_units(answer))
        row: Wire | None = answer.get("Item")
        if row is None:
            self.tally.gone += 1
            return None
        return self.judge.verdict(row).repair


def _units(answer: dict[str, Any]) -> float:
    consumed = answer.get("ConsumedCapacity") or ()
    parts = consumed if isinstance(consumed, list) else [consumed]
    return sum(float(part.get("CapacityUnits", 0)) for part in parts if part)
