"""Items by key: how a lane reads them, and the levels that complete what is selected from all of them together."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple, Protocol

import msgspec
import orjson

from gateway.errors import GatewayError
from gateway.graph.query.lane.fallback import FallBack, NoLane, Reason
from gateway.graph.query.lane.generated import function
from gateway.graph.query.lane.keys import Keys, PartitionKeys
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.lane.rows import RowType, Shape, converted, is_expired
from gateway.graph.query.lane.source import LaneTable, batch_answer, compact, escaped, get_answer, is_plain, pieces
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey
from gateway.model.patterns import sorted_by
from gateway.model.staleness import Staleness
from gateway.model.table import TableSpec
from gateway.store import wire
from gateway.store.access import shared
from gateway.store.plan import Attributes
from gateway.store.table import CHUNK, Patience

Rows = Mapping[ItemKey, Any]
Parts = list[list[Any]]  # for each selection of a level, its rows or its results
Put = Callable[[list[Any], Iterable[Any]], None]


_PK, _SK = "~pk~", "~sk~"


class ItemTexts:
    """The request bodies of GetItem and BatchGetItem for some attributes."""

    def __init__(self, spec: TableSpec, table: str, names: tuple[str, ...], *, strong: bool) -> None:
        key = ItemKey(_PK, _SK)
        self.example_get = wire.get_item(spec, table, key, names, strong)
        self.example_batch = wire.batch_get_item(table, [wire.key_of(spec, key)], names, strong)
        self._get = pieces(self.example_get, _PK, _SK)
        text = orjson.dumps(wire.key_of(spec, key)).decode()
        self._key = pieces(wire.key_of(spec, key), _PK, _SK)
        head, _, tail = orjson.dumps(self.example_batch).decode().partition(text)
        self._batch = head, tail
        self.marker = f'"{spec.pk}":{{"S":"'

    def get(self, pk: str, sk: str) -> str:
        before, between, behind = self._get
        if is_plain(pk + sk) is None:
            pk, sk = escaped(pk), escaped(sk)
        return f"{before}{pk}{between}{sk}{behind}"

    def batch(self, keys: Sequence[ItemKey]) -> str:
        """Encodes and checks the whole body together, because a batch has up to a hundred keys."""
        every = "".join(chain.from_iterable(keys))
        if len(orjson.dumps(every)) != len(every) + 2:  # some characters must be escaped in JSON
            keys = [ItemKey(escaped(pk), escaped(sk)) for pk, sk in keys]
        before, between, behind = self._key
        texts = f"{behind},{before}".join(map(between.join, keys))
        return f"{self._batch[0]}{before}{texts}{behind}{self._batch[1]}"

    def batch_of(self, partitions: Sequence[str], sort_key: str) -> str:
        """Returns the body for items with the same sort key; none of their characters may need escaping in JSON."""
        before, between, behind = self._key
        behind = f"{between}{sort_key}{behind}"
        return f"{self._batch[0]}{before}{f'{behind},{before}'.join(partitions)}{behind}{self._batch[1]}"

    def batch_again(self, keys: Sequence[msgspec.Raw]) -> str:
        """Returns the body for the keys that DynamoDB returned as unprocessed, in our own encoding."""
        texts = ",".join([compact(key) for key in keys])
        return f"{self._batch[0]}{texts}{self._batch[1]}"


class IndexedItems(NamedTuple):
    """Items that are found through an index: their attributes, and how stale they may be."""

    on: str
    names: tuple[str, ...]
    cached: Staleness | None


class ItemsRead:
    """Reads items of one entity by key: GetItem for one, BatchGetItem for many, through the cache if it is enabled."""

    def __init__(
        self,
        source: LaneTable,
        entity: Entity,
        rows: RowType,
        requested: Attributes,
        *,
        strong: bool,
        indexed: IndexedItems | None = None,
        by_id: bool = False,
    ) -> None:
        """`by_id`: all keys come from global ids, which cannot be made up if the key contains personal data."""
        if indexed is None and not (by_id and entity.personal_key) and source.denied(sorted_by(entity.primary)):
            raise NoLane  # the reference executor refuses it
        self.rows = rows
        self.attributes = requested - rows.denied
        self.remembers = False  # whether another read of the operation may request the same items
        self._entity = entity
        # rows that are found through an index contain its keys, so they are not shared with other reads
        self._place = (entity.name if indexed is None else f"{entity.name} {indexed.on}", strong)
        names = source.table.stored_names(self.attributes, None, (entity.name,)).read
        self._names = names if indexed is None else indexed.names
        cached = entity.cached if indexed is None else indexed.cached
        texts = self._texts = ItemTexts(rows.model.table, source.session.tenancy.table, self._names, strong=strong)
        sizes = source.table.sizes
        one, many = (
            sizes.form(entity.name, None, operation, strong=strong) for operation in ("GetItem", "BatchGetItem")
        )
        tail = entity.primary.pk.prefix({})
        self._get = source.call(
            "GetItem", None, texts.marker, get_answer(rows), texts.example_get, requested, one, tail
        )
        self._batch = source.call(
            "BatchGetItem", None, texts.marker, batch_answer(rows), texts.example_batch, requested, many, tail
        )
        self._cached = source.cached(self._names, strong, cached, self._get, rows.type)
        self._cached_batch = source.cached(self._names, strong, cached, self._batch, rows.type)
        self._rows: Any = list[rows.type]  # type: ignore[name-defined]  # created at run time

    async def read(self, request: LaneRequest, keys: Iterable[ItemKey]) -> dict[ItemKey, Any]:
        """Returns the rows that exist and have not expired."""
        key_set = set(keys)
        if not self.remembers:
            return await self._read(request, key_set) if key_set else {}
        place, tasks, missing = self._place, dict[ItemKey, Any](), set[ItemKey]()
        for key in key_set:
            task = next((task for names, task in request.seen.get((*place, key), ()) if self.attributes <= names), None)
            if task is None:
                missing.add(key)
            else:
                tasks[key] = task
        if missing:
            task = asyncio.ensure_future(self._read(request, missing))
            for key in missing:
                request.seen.setdefault((*place, key), []).append((self.attributes, task))
                tasks[key] = task
        rows = {key: (await shared(task)).get(key) for key, task in tasks.items()}
        return {key: converted(row, self.rows.type) for key, row in rows.items() if row is not None}

    async def _read(self, request: LaneRequest, keys: set[ItemKey]) -> dict[ItemKey, Any]:
        writes = request.access.own_writes
        if writes is not None and writes.hold(keys):
            raise FallBack(Reason.OWN_WRITE)
        if self._cached is not None:
            rows = await self._through_cache(request, sorted(keys))
        elif len(keys) == 1:
            [(pk, sk)] = keys
            answer = await request.call(self._get, self._texts.get(pk, sk), 1)
            rows = [] if answer.Item is None else [answer.Item]
        elif len(keys) <= CHUNK:
            # sorted, so that equal reads have equal request bodies
            rows = await self._chunk(request, sorted(keys))
        else:
            ordered = sorted(keys)
            chunks = [ordered[start : start + CHUNK] for start in range(0, len(ordered), CHUNK)]
            rows = [
                row
                for chunk_rows in await request.run_all([self._chunk(request, chunk) for chunk in chunks])
                for row in chunk_rows
            ]
        rows_by_key: dict[Any, Any] = {(row.pk.S, row.sk.S): row for row in rows}
        if not rows_by_key.keys() <= keys:
            # a row that was not requested
            raise FallBack(Reason.FOREIGN_ROW)
        if self.rows.expires:
            rows_by_key = {key: row for key, row in rows_by_key.items() if not is_expired(row, request.now)}
        return rows_by_key

    async def one(self, request: LaneRequest, key: ItemKey) -> Any:
        """Returns the row of one item, or None."""
        if not self.reads_alone(request):
            return (await self.read(request, (key,))).get(key)
        row = (await request.call(self._get, self._texts.get(*key), 1)).Item
        if row is None or (self.rows.expires and is_expired(row, request.now)):
            return None
        if key != (row.pk.S, row.sk.S):
            # a row that was not requested
            raise FallBack(Reason.FOREIGN_ROW)
        return row

    def reads_alone(self, request: LaneRequest) -> bool:
        """Whether no other reader needs to know which items are read."""
        return not self.remembers and self._cached is None and request.access.own_writes is None

    async def partitions(self, request: LaneRequest, wanted: set[str], sort_key: str) -> list[Any]:
        """Does the same as `read` for items with the same sort key, which needs only their partition keys."""
        if len(wanted) == 1:
            [pk] = wanted
            answer = await request.call(self._get, self._texts.get(pk, sort_key), 1)
            rows = [] if answer.Item is None else [answer.Item]
        else:
            rows = await self._chunks_of(request, sorted(wanted), sort_key)  # sorted as in `_read`
        for row in rows:
            if row.pk.S not in wanted or sort_key != row.sk.S:
                # a row that was not requested
                raise FallBack(Reason.FOREIGN_ROW)
        return [row for row in rows if not is_expired(row, request.now)] if self.rows.expires else rows

    async def _chunks_of(self, request: LaneRequest, ordered: list[str], sort_key: str) -> list[Any]:
        if len(ordered) <= CHUNK:
            return await self._batches(request, self._texts.batch_of(ordered, sort_key), len(ordered))
        parts = [ordered[start : start + CHUNK] for start in range(0, len(ordered), CHUNK)]
        row_lists = await request.run_all([self._chunks_of(request, part, sort_key) for part in parts])
        return list(chain.from_iterable(row_lists))

    async def _chunk(self, request: LaneRequest, keys: Sequence[ItemKey]) -> list[Any]:
        return await self._batches(request, self._texts.batch(keys), len(keys))

    async def _batches(self, request: LaneRequest, text: str, count: int) -> list[Any]:
        """Returns the rows of one BatchGetItem and of those that follow for its unprocessed keys."""
        rows, patience = list[Any](), None
        while True:
            answer = await request.call(self._batch, text, count)
            for table_rows in answer.Responses.values():
                rows = rows + table_rows if rows else table_rows
            if not answer.UnprocessedKeys:
                return rows
            left = [key for unprocessed in answer.UnprocessedKeys.values() for key in unprocessed.Keys]
            if not left:
                return rows
            text, count = self._texts.batch_again(left), len(left)
            patience = patience or Patience(request.access.deadline)
            try:
                await patience.wait(count)
            except GatewayError as error:
                raise FallBack(Reason.FAILED_CALL) from error

    async def _through_cache(self, request: LaneRequest, keys: Sequence[ItemKey]) -> list[Any]:
        call, options = (self._get, self._cached) if len(keys) == 1 else (self._batch, self._cached_batch)
        assert options is not None  # noqa: S101  the caller has checked; this tells the type checker
        item_keys = tuple([ItemKey(*key) for key in keys])
        request.access.refusals += call.refusals
        try:
            rows_by_key = await request.table.cached_items(request.access, item_keys, options)
            rows: list[Any] = msgspec.convert(list(rows_by_key.values()), self._rows)
            return rows
        except GatewayError as error:
            raise FallBack(Reason.FAILED_CALL) from error
        except msgspec.MsgspecError as error:
            raise FallBack(Reason.ROW) from error


class Load(Protocol):
    """Reads what some fields need for all their parents and puts it into their results."""

    async def fill(self, request: LaneRequest, rows: Parts, outs: Parts) -> None: ...


@dataclass(frozen=True, slots=True)
class Level:
    """All selections on the rows of one read: `shapes` encode what the rows contain, `loads` fill in the rest.

    A read may serve several selections: fields that lead to the same items, or the nodes and the edges of a page.
    """

    shapes: tuple[Shape, ...]
    loads: tuple[Load, ...] = ()

    async def answers(self, request: LaneRequest, rows: Parts) -> Parts:
        own, scope = request.own, request.scope
        if len(self.shapes) == 1:
            outs = [self.shapes[0](rows[0], own, scope)]
        else:
            outs = [shape(part, own, scope) for shape, part in zip(self.shapes, rows, strict=True)]
        if self.loads and any(rows):
            if len(self.loads) == 1:
                await self.loads[0].fill(request, rows, outs)
            else:
                await request.run_all([load.fill(request, rows, outs) for load in self.loads])
        return outs

    async def answers_by_key(
        self, request: LaneRequest, keys: list[list[ItemKey]], found: Rows
    ) -> list[dict[ItemKey, Any]]:
        """Completes each item once for every selection of the level, however many parents lead to it."""
        if len(keys) == 1:  # all rows belong to this selection
            [outs] = await self.answers(request, [list(found.values())])
            return [dict(zip(found, outs, strict=True))]
        present = [[key for key in dict.fromkeys(part) if key in found] for part in keys]
        answers = await self.answers(request, [[found[key] for key in part] for part in present])
        return [dict(zip(part, outs, strict=True)) for part, outs in zip(present, answers, strict=True)]


class Want(Protocol):
    """A field that needs items by key: `part` is its selection in the level, `slot` its place in a result."""

    @property
    def part(self) -> int: ...

    @property
    def keys_of(self) -> Keys: ...

    def flat(self, keys: Any) -> list[ItemKey]: ...

    def put(self, keys: Any, outs: list[Any], answers: Rows) -> None: ...


@dataclass(frozen=True, slots=True)
class ItemsLoad:
    """Loads items of one entity for all fields of a level that need some; their keys share batches.

    `level` has a selection for each want; a total has none and uses the rows themselves.
    """

    read: ItemsRead
    wants: tuple[Want, ...]
    level: Level

    async def fill(self, request: LaneRequest, rows: Parts, outs: Parts) -> None:
        own, tenant = request.own, request.tenant
        requested = [want.keys_of(rows[want.part], own, tenant) for want in self.wants]
        flat = [want.flat(keys) for want, keys in zip(self.wants, requested, strict=True)]
        item_rows = await self.read.read(request, chain.from_iterable(flat))
        answers = await self.level.answers_by_key(request, flat, item_rows)
        for want, keys, want_answers in zip(self.wants, requested, answers, strict=True):
            want.put(keys, outs[want.part], want_answers)


@dataclass(frozen=True, slots=True)
class ReferenceLoad:
    """Loads one reference of all parents whose items differ only in their partition key, by far the most common case.

    `load` does the same if another reader needs to know which items are read.
    """

    load: ItemsLoad
    part: int
    keys: PartitionKeys
    put: Put

    async def fill(self, request: LaneRequest, rows: Parts, outs: Parts) -> None:
        read = self.load.read
        if not read.reads_alone(request):
            return await self.load.fill(request, rows, outs)
        keys = self.keys.of_rows(rows[self.part], request.own)
        partition_keys: set[Any] = set(keys)
        partition_keys.discard(None)
        if partition_keys:
            item_rows = await read.partitions(request, partition_keys, self.keys.sort_key)
            [answers] = await self.load.level.answers(request, [item_rows])
            by_key: dict[Any, Any] = {row.pk.S: answer for row, answer in zip(item_rows, answers, strict=True)}
            self.put(outs[self.part], map(by_key.get, keys))
        return None


@lru_cache(maxsize=256)
def putter(slot: str) -> Put:
    """Returns a function that sets one field of many results; it takes half the time of `setattr`."""
    lines = ["def put(outs, values):", f"  for out, value in zip(outs, values, strict=True): out.{slot} = value"]
    return function("put", lines, {})


@dataclass(frozen=True, slots=True)
class ReferenceWant:
    """At most one item for each parent."""

    part: int
    slot: str
    keys_of: Keys

    def flat(self, keys: list[ItemKey | None]) -> list[ItemKey]:
        return [key for key in keys if key is not None]

    def put(self, keys: list[ItemKey | None], outs: list[Any], answers: Rows) -> None:
        slot = self.slot
        for out, key in zip(outs, keys, strict=True):
            setattr(out, slot, answers.get(key))  # type: ignore[arg-type]  # None is no item's key


@dataclass(frozen=True, slots=True)
class MembersWant:
    """Many items for each parent; missing items are omitted."""

    part: int
    slot: str
    keys_of: Keys

    def flat(self, keys: list[list[ItemKey]]) -> list[ItemKey]:
        return list(chain.from_iterable(keys))

    def put(self, keys: list[list[ItemKey]], outs: list[Any], answers: Rows) -> None:
        slot = self.slot
        for out, row_keys in zip(outs, keys, strict=True):
            setattr(out, slot, [answers[key] for key in row_keys if key in answers])


@dataclass(frozen=True, slots=True)
class TotalWant:
    """A sum over a fixed number of items for each parent; missing items count as zero."""

    part: int
    slot: str
    keys_of: Keys
    write: Any  # encodes the sum; None if it is already JSON

    def flat(self, keys: list[list[ItemKey]]) -> list[ItemKey]:
        return list(chain.from_iterable(keys))

    def put(self, keys: list[list[ItemKey]], outs: list[Any], answers: Rows) -> None:
        for out, row_keys in zip(outs, keys, strict=True):
            total = sum([answers[key] for key in row_keys if key in answers])
            setattr(out, self.slot, total if self.write is None else self.write(total))
