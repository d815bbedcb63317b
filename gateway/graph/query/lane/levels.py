"""Levels of a lane: the answers for all rows of one selection at once, with what is loaded for them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.graph.query.lane.keys import Keys, checked_key
from gateway.graph.query.lane.reads import ItemsRead
from gateway.graph.query.lane.request import LaneRequest, run_all
from gateway.graph.query.lane.rows import Shape
from gateway.graph.query.lane.step_back import Reason, StepBack
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey

Rows = Mapping[ItemKey, Any]


class Load(Protocol):
    """What is read for all parents of a field at once, and put into their answers."""

    async def fill(self, request: LaneRequest, rows: list[Any], outs: list[Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class Level:
    """One selection on items: `shape` writes what the rows hold, `loads` fill in the rest."""

    shape: Shape
    loads: tuple[Load, ...] = ()

    async def answers(self, request: LaneRequest, rows: list[Any]) -> list[Any]:
        outs = self.shape(rows, request.own, request.tenant)
        if rows and self.loads:
            if len(self.loads) == 1:
                await self.loads[0].fill(request, rows, outs)
            else:
                await run_all([load.fill(request, rows, outs) for load in self.loads])
        return outs


class Want(Protocol):
    """One field that needs items by their keys."""

    def keys(self, request: LaneRequest, rows: list[Any]) -> Any: ...

    def flat(self, keys: Any) -> Iterable[ItemKey]: ...

    async def fill(self, request: LaneRequest, keys: Any, found: Rows, outs: list[Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class ItemsLoad:
    """All fields of a level that need items of one entity: their keys go into the same batches."""

    read: ItemsRead
    wants: tuple[Want, ...]

    async def fill(self, request: LaneRequest, rows: list[Any], outs: list[Any]) -> None:
        if len(self.wants) == 1:
            want = self.wants[0]
            keys = want.keys(request, rows)
            found = await self.read.read(request, want.flat(keys))
            await want.fill(request, keys, found, outs)
            return
        asked = [want.keys(request, rows) for want in self.wants]
        every = {key for want, keys in zip(self.wants, asked, strict=True) for key in want.flat(keys)}
        found = await self.read.read(request, every)
        await run_all([want.fill(request, keys, found, outs) for want, keys in zip(self.wants, asked, strict=True)])


@dataclass(frozen=True, slots=True)
class ReferenceWant:
    """One item for each parent, or none."""

    slot: str
    keys_of: Keys
    level: Level

    def keys(self, request: LaneRequest, rows: list[Any]) -> list[ItemKey | None]:
        return self.keys_of(rows, request.own, request.tenant)

    def flat(self, keys: list[ItemKey | None]) -> Iterable[ItemKey]:
        return [key for key in keys if key is not None]

    async def fill(self, request: LaneRequest, keys: list[ItemKey | None], found: Rows, outs: list[Any]) -> None:
        answers = await answers_by_key(self.level, request, self.flat(keys), found)
        slot = self.slot
        for out, key in zip(outs, keys, strict=True):
            setattr(out, slot, answers.get(key))  # type: ignore[arg-type]  # None is nobody's key


@dataclass(frozen=True, slots=True)
class MemberKeys:
    """The keys that a row's list names: `fixed` are read from the row, `free` takes each member."""

    entity: Entity
    fixed: Mapping[str, tuple[str, Callable[[Any], Any]]]
    free: str
    members: tuple[str, Callable[[Any], Any]]

    def of(self, request: LaneRequest, row: Any) -> list[ItemKey]:
        field, read = self.members
        wire = getattr(row, field)
        if wire is None:
            return []
        values = {}
        for name, (own, value) in self.fixed.items():
            stored = getattr(row, own)
            values[name] = None if stored is None else value(stored)
        return [checked_key(request.tenant, self.entity, {**values, self.free: member}) for member in read(wire)]


@dataclass(frozen=True, slots=True)
class MembersWant:
    """Many items for each parent; those that do not exist are left out."""

    slot: str
    keys_of: MemberKeys
    level: Level

    def keys(self, request: LaneRequest, rows: list[Any]) -> list[list[ItemKey]]:
        return [self.keys_of.of(request, row) for row in rows]

    def flat(self, keys: list[list[ItemKey]]) -> Iterable[ItemKey]:
        return [key for each in keys for key in each]

    async def fill(self, request: LaneRequest, keys: list[list[ItemKey]], found: Rows, outs: list[Any]) -> None:
        answers = await answers_by_key(self.level, request, self.flat(keys), found)
        for out, each in zip(outs, keys, strict=True):
            setattr(out, self.slot, [answers[key] for key in each if key in answers])


@dataclass(frozen=True, slots=True)
class TotalWant:
    """A sum over a fixed number of items for each parent; what does not exist counts nothing."""

    slot: str
    entity: Entity
    fixed: Mapping[str, tuple[str, Callable[[Any], Any]]]
    given: tuple[Mapping[str, Any], ...]  # what the relation itself says of each item
    value: tuple[str, Callable[[Any], Any]]
    write: Callable[[Any], Any] | None

    def keys(self, request: LaneRequest, rows: list[Any]) -> list[list[ItemKey]]:
        found = []
        for row in rows:
            own = {}
            for name, (field, read) in self.fixed.items():
                wire = getattr(row, field)
                own[name] = None if wire is None else read(wire)
            found.append([checked_key(request.tenant, self.entity, {**own, **each}) for each in self.given])
        return found

    def flat(self, keys: list[list[ItemKey]]) -> Iterable[ItemKey]:
        return [key for each in keys for key in each]

    async def fill(self, request: LaneRequest, keys: list[list[ItemKey]], found: Rows, outs: list[Any]) -> None:
        field, read = self.value
        for out, each in zip(outs, keys, strict=True):
            rows = [found[key] for key in each if key in found]
            for row in rows:
                self._check(request, row)
            wires = [wire for row in rows if (wire := getattr(row, field)) is not None]
            total = sum(map(read, wires))
            setattr(out, self.slot, total if self.write is None else self.write(total))

    def _check(self, request: LaneRequest, row: Any) -> None:
        if not row.pk.S.startswith(request.own):
            raise StepBack(Reason.FOREIGN_ROW)
        if row.ttl is not None and self.entity.expiry is None:
            raise StepBack(Reason.EXPIRY)
        if self.entity.upgrades and (row.schema is None or str(self.entity.schema) != row.schema.N):
            raise StepBack(Reason.OLD_SCHEMA)


async def answers_by_key(
    level: Level, request: LaneRequest, keys: Iterable[ItemKey], found: Rows
) -> dict[ItemKey, Any]:
    """Each item is answered once, however many parents lead to it."""
    present = [key for key in dict.fromkeys(keys) if key in found]
    answers = await level.answers(request, [found[key] for key in present])
    return dict(zip(present, answers, strict=True))
