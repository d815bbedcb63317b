"""Bulk mutations: many items in one transaction or in several, with a result for each item."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import orjson

from gateway.errors import BadUserInput, Conflict, Forbidden, LimitExceeded, Throttled, Unavailable
from gateway.model.error_code import UserErrorCode
from gateway.model.keys import ItemKey, item_key
from gateway.model.mutation import Bulk
from gateway.store.rows import Item
from gateway.store.write.change import MAX_MEMBERS, Change
from gateway.store.write.faults import Fault, Rejected, faults_of, invalid
from gateway.store.write.member import Member
from gateway.store.write.references import joined_members
from gateway.store.write.rules import checked_input
from gateway.store.write.writer import ItemResult, MutationResult, Writer

ITEMS = "items"
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
_TOGETHER = 25  # items per transaction, if there are several
_EARLIER = 0.25  # seconds before the deadline, so that the results are returned instead of a timeout

_log = logging.getLogger("gateway.bulk")


async def bulk_write(writer: Writer, bulk: Bulk, rows: Sequence[Mapping[str, Any]]) -> MutationResult:
    """`rows` are inputs of the single-item mutation, by their index in the result."""
    if not 1 <= len(rows) <= bulk.max_items:
        raise invalid(f"send 1 to {bulk.max_items} items, not {len(rows)}", ITEMS)
    results = await _BulkWrite(writer, bulk, rows).run()
    return MutationResult(Item(bulk.of.returns, {}, ""), results=results)


@dataclass(slots=True)
class _Batch:
    """Items that are written in one transaction; `owners` are the items that need each of its writes."""

    change: Change
    items: dict[int, Item] = field(default_factory=dict)
    owners: dict[ItemKey, list[int]] = field(default_factory=dict)
    size: int = 0

    def add(self, index: int, item: Item, part: Change) -> None:
        for member in part.members:
            self.change.append(member)
            self.owners.setdefault(member.key, []).append(index)
        self.items[index] = item
        self.size += _size(part)

    def same(self, part: Change, *, atomic: bool) -> int | None:
        """Returns an item of this batch with a write to the same row as the part; one transaction cannot do both."""
        members_by_key = {member.key: member for member in self.change.members}
        for member in part.members:
            if member.key in members_by_key and not _may_join(members_by_key[member.key], member, atomic=atomic):
                return self.owners[member.key][0]
        return None

    def has_room(self, part: Change) -> bool:
        new = sum(member.key not in self.owners for member in part.members)
        # leave room for the record of the idempotency key
        return len(self.change.members) + new < MAX_MEMBERS and self.size + _size(part) <= MAX_TRANSACTION_BYTES


def _may_join(known: Member, new: Member, *, atomic: bool) -> bool:
    """Whether two writes can be shared: items that fail independently share only counters and checks."""
    if atomic:
        return joined_members(known, new) is not None
    return (known.counts is not None and new.counts is not None) or (known.refers and new.refers)


def _size(part: Change) -> int:
    return sum(len(orjson.dumps(member.body)) for member in part.members)


class _BulkWrite:
    def __init__(self, writer: Writer, bulk: Bulk, rows: Sequence[Mapping[str, Any]]) -> None:
        self._writer = writer
        self._bulk = bulk
        self._entity = writer.model.entities[bulk.of.returns]
        self._rows = {index: dict(row) for index, row in enumerate(rows)}
        self._results: dict[int, ItemResult] = {}
        self._part = 0  # the number of the next transaction

    async def run(self) -> tuple[ItemResult, ...]:
        self._check()
        await self._recall()
        await (self._write_all() if self._bulk.atomic else self._write_each())
        if any(result.faults for result in self._results.values()):
            # a duplicate of the request may have been faster, so that its own changes cause the conflict
            await self._recall()
        return tuple(self._results.get(index) or ItemResult(index) for index in self._rows)

    def _check(self) -> None:
        fields = {field.name: field for field in self._bulk.of.input}
        for index, row in self._rows.items():
            try:
                self._rows[index] = checked_input(fields, row)
            except BadUserInput as error:
                self._fail(index, *faults_of(error))

    def _fail(self, index: int, *faults: Fault) -> None:
        path = f"{ITEMS}.{index}"
        named = [
            msgspec.structs.replace(fault, field=path if fault.field is None else f"{path}.{fault.field}")
            for fault in faults
        ]
        self._results[index] = ItemResult(index, faults=tuple(named))

    # One transaction.

    async def _write_all(self) -> None:
        pending = self._pending()
        if len(pending) < len(self._rows):
            return  # an item has faults, or all items were written before
        stored = await self._stored(pending)
        batch = _Batch(self._writer.change())
        for index in pending:
            part = await self._staged(index, stored)
            if part is None:
                continue
            item, change = part
            other = batch.same(change, atomic=True)
            if other is not None:
                message = f"this writes the same as `{ITEMS}.{other}`, which one transaction cannot do twice"
                self._fail(index, Fault(UserErrorCode.INVALID, message))
            elif not batch.has_room(change):
                message = f"the items do not fit into one transaction of {MAX_MEMBERS} writes and 4 MB; send fewer"
                raise LimitExceeded(message, ITEMS)
            else:
                batch.add(index, item, change)
        if len(batch.items) == len(self._rows):
            await self._commit(batch)

    # Several transactions.

    async def _write_each(self) -> None:
        together = _TOGETHER
        while pending := self._pending():
            batch = pending[:together]
            try:
                async with asyncio.timeout_at(self._give_up):
                    await self._write_some(batch)
            except Forbidden as error:
                if together == 1:
                    self._fail(batch[0], Fault(UserErrorCode.FORBIDDEN, error.message))
                together = 1  # to find out which items are refused
            except Conflict as error:
                self._unfinished(batch, error.message)
            except (TimeoutError, Throttled, Unavailable):
                self._unfinished(batch, "it may have been written")
                self._unfinished(self._pending(), "it was not written")
            except Exception:
                if not any(result.written for result in self._results.values()):
                    raise
                # INVARIANT: what has been written is reported, whatever happens afterwards.
                _log.exception("a bulk mutation failed after some of its items were written")
                self._unfinished(self._pending(), "it may have been written")

    @property
    def _give_up(self) -> float | None:
        deadline = self._writer.access.deadline
        return None if deadline is None else deadline - _EARLIER

    async def _write_some(self, indexes: list[int]) -> None:
        """Writes as many of the first items as fit into one transaction; those that fail then have a result."""
        stored = await self._stored(indexes)
        batch = _Batch(self._writer.change())
        for index in indexes:
            part = await self._staged(index, stored)
            if part is None:
                continue
            item, change = part
            if batch.items and (batch.same(change, atomic=False) is not None or not batch.has_room(change)):
                break
            batch.add(index, item, change)
        if batch.items:
            await self._commit(batch)

    def _unfinished(self, indexes: list[int], state: str) -> None:
        message = f"the request could not be completed: {state}; repeat it with the same `idempotencyKey`"
        for index in indexes:
            if index not in self._results:
                self._fail(index, Fault(UserErrorCode.UNFINISHED, message))

    # Used by both.

    def _pending(self) -> list[int]:
        return [index for index in self._rows if index not in self._results]

    async def _stored(self, indexes: list[int]) -> dict[int, Item]:
        """Reads the items to change in one batch; missing items then have a result."""
        if self._bulk.of.step is None or not self._bulk.of.step.reads:
            return {}
        keys = {index: {name: self._rows[index][name] for name in self._entity.key_names} for index in indexes}
        items_by_index: dict[int, Item] = {}
        items = await self._writer.many(self._entity.name, list(keys.values()))
        for (index, key), item in zip(keys.items(), items, strict=True):
            try:
                items_by_index[index] = self._writer.expected(
                    self._entity.name, key, item, self._rows[index].get("version")
                )
            except Rejected as error:
                self._fail(index, *error.faults)
        return items_by_index

    async def _staged(self, index: int, stored: Mapping[int, Item]) -> tuple[Item, Change] | None:
        """Returns what is written for one item; None if it already has a result."""
        step, part = self._bulk.of.step, self._writer.change()
        if step is None or index in self._results:
            return None
        try:
            return await step.add(self._writer, part, stored.get(index), dict(self._rows[index])), part
        except Rejected as error:
            self._fail(index, *error.faults)
        except BadUserInput as error:
            self._fail(index, *faults_of(error))
        return None

    async def _commit(self, batch: _Batch) -> None:
        writer, record = self._writer, None
        if writer.once is not None:
            once = replace(writer.once, part=self._part)
            record = writer.records.write(batch.change, once, self._remembered(batch))
        try:
            await writer.commit_part(batch.change)
        except Rejected as error:
            if record in error.keys:
                await self._recall_another()
                return
            faults: dict[int, list[Fault]] = {}
            for fault, key in zip(error.faults, error.keys, strict=True):
                for index in batch.owners[key]:
                    faults.setdefault(index, []).append(fault)
            for index, own in faults.items():
                self._fail(index, *own)
            return
        self._part += 1
        self._results |= {index: ItemResult(index, item, written=True) for index, item in batch.items.items()}

    # Idempotency records: one per transaction, which says what it wrote.

    def _remembered(self, batch: _Batch) -> dict[str, Any]:
        keys = {str(index): self._key(item) for index, item in batch.items.items()}
        members = (member for member in batch.change.members if member.kind != "ConditionCheck")
        return {ITEMS: keys, "written": [[member.key.pk, member.key.sk] for member in members]}

    def _key(self, item: Item) -> list[str]:
        return [*item_key(self._writer.tenant, self._entity, item.values)]

    async def _recall_another(self) -> None:
        before = self._part
        await self._recall()
        if self._part == before:
            raise Conflict("the same change is being made by another request")

    async def _recall(self) -> None:
        """Adopts the results of transactions that a request with the same key has made."""
        writer = self._writer
        while writer.once is not None:
            record = await writer.records.find(writer.access, replace(writer.once, part=self._part))
            if record is None:
                return
            # INVARIANT: this process drops what those changes invalidate before it returns their results.
            writer.table.forget_written(writer.access, [ItemKey(*key) for key in record["written"]])
            keys = {int(index): ItemKey(*key) for index, key in record[ITEMS].items()}
            items = await writer.at(self._entity, tuple(keys.values()))
            self._results |= {
                index: ItemResult(index, item, written=True)
                for (index, _), item in zip(keys.items(), items, strict=True)
            }
            self._part += 1
