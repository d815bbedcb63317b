"""Levels of a lane: the answers for all rows of one selection at once, with what is loaded for them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.graph.query.lane.keys import Keys, checked_key
from gateway.graph.query.lane.reads import ItemsRead
from gateway.graph.query.lane.request import LaneRequest, run_all
from gateway.graph.query.lane.rows import Shape
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey

Rows = Mapping[ItemKey, Any]
Parts = list[list[Any]]  # for each selection of a level, its rows or its answers


class Load(Protocol):
    """What is read for all parents of some fields at once, and put into their answers."""

    async def fill(self, request: LaneRequest, rows: Parts, outs: Parts) -> None: ...


@dataclass(frozen=True, slots=True)
class Level:
    """All selections on what one read brings: `shapes` write what the rows hold, `loads` fill in the rest.

    A read may serve several selections: the fields that lead to the same items, or the nodes and the edges of a page.
    """

    shapes: tuple[Shape, ...]
    loads: tuple[Load, ...] = ()

    async def answers(self, request: LaneRequest, rows: Parts) -> Parts:
        own, tenant = request.own, request.tenant
        outs = [shape(part, own, tenant) for shape, part in zip(self.shapes, rows, strict=True)]
        if self.loads and any(rows):
            if len(self.loads) == 1:
                await self.loads[0].fill(request, rows, outs)
            else:
                await run_all([load.fill(request, rows, outs) for load in self.loads])
        return outs


class Want(Protocol):
    """One field that needs items by their keys: `part` is its selection in the level, `slot` its place in an answer."""

    @property
    def part(self) -> int: ...

    def keys(self, request: LaneRequest, rows: list[Any]) -> Any: ...

    def flat(self, keys: Any) -> list[ItemKey]: ...

    def put(self, request: LaneRequest, keys: Any, outs: list[Any], answers: Rows) -> None: ...


@dataclass(frozen=True, slots=True)
class ItemsLoad:
    """All fields of a level that need items of one entity: their keys go into the same batches.

    `level` has a selection for each of the wants; a total has none, and takes the rows as they are.
    """

    read: ItemsRead
    wants: tuple[Want, ...]
    level: Level

    async def fill(self, request: LaneRequest, rows: Parts, outs: Parts) -> None:
        asked = [want.keys(request, rows[want.part]) for want in self.wants]
        flat = [want.flat(keys) for want, keys in zip(self.wants, asked, strict=True)]
        every = flat[0] if len(flat) == 1 else [key for keys in flat for key in keys]
        found = await self.read.read(request, every)
        answers = await answers_by_key(self.level, request, flat, found)
        for want, keys, known in zip(self.wants, asked, answers, strict=True):
            want.put(request, keys, outs[want.part], known)


async def answers_by_key(
    level: Level, request: LaneRequest, keys: list[list[ItemKey]], found: Rows
) -> list[dict[ItemKey, Any]]:
    """For each selection of the level: each item is answered once, however many parents lead to it."""
    present = [[key for key in dict.fromkeys(part) if key in found] for part in keys]
    answers = await level.answers(request, [[found[key] for key in part] for part in present])
    return [dict(zip(part, outs, strict=True)) for part, outs in zip(present, answers, strict=True)]


@dataclass(frozen=True, slots=True)
class ReferenceWant:
    """One item for each parent, or none."""

    part: int
    slot: str
    keys_of: Keys

    def keys(self, request: LaneRequest, rows: list[Any]) -> list[ItemKey | None]:
        return self.keys_of(rows, request.own, request.tenant)

    def flat(self, keys: list[ItemKey | None]) -> list[ItemKey]:
        return [key for key in keys if key is not None]

    def put(self, request: LaneRequest, keys: list[ItemKey | None], outs: list[Any], answers: Rows) -> None:
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

    part: int
    slot: str
    keys_of: MemberKeys

    def keys(self, request: LaneRequest, rows: list[Any]) -> list[list[ItemKey]]:
        return [self.keys_of.of(request, row) for row in rows]

    def flat(self, keys: list[list[ItemKey]]) -> list[ItemKey]:
        return [key for each in keys for key in each]

    def put(self, request: LaneRequest, keys: list[list[ItemKey]], outs: list[Any], answers: Rows) -> None:
        for out, each in zip(outs, keys, strict=True):
            setattr(out, self.slot, [answers[key] for key in each if key in answers])


@dataclass(frozen=True, slots=True)
class TotalWant:
    """A sum over a fixed number of items for each parent; what does not exist counts nothing."""

    part: int
    slot: str
    entity: Entity
    fixed: Mapping[str, tuple[str, Callable[[Any], Any]]]
    given: tuple[Mapping[str, Any], ...]  # what the relation itself says of each item
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

    def flat(self, keys: list[list[ItemKey]]) -> list[ItemKey]:
        return [key for each in keys for key in each]

    def put(self, request: LaneRequest, keys: list[list[ItemKey]], outs: list[Any], answers: Rows) -> None:
        for out, each in zip(outs, keys, strict=True):
            total = sum([answers[key] for key in each if key in answers])
            setattr(out, self.slot, total if self.write is None else self.write(total))
