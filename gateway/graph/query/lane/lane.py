"""Lanes: prepared queries, which are created once an operation recurs and cached with it."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import msgspec
import orjson
from graphql import FieldNode, get_location

from gateway.aws.sts.session import Session
from gateway.graph.background import in_background
from gateway.graph.query.arguments import InvalidArguments
from gateway.graph.query.binder import Tree
from gateway.graph.query.lane.code_fields import refused_attribute
from gateway.graph.query.lane.fallback import FallBack, NoLane, Reason
from gateway.graph.query.lane.prepare import Preparation
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.lane.roots import Answers, Root
from gateway.graph.query.lane.rows import OutType
from gateway.graph.query.lane.source import LaneTable
from gateway.graph.query.operation import Variant, bytes_of
from gateway.graph.query.tree import AttributeField, CodeField, ItemField
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.model.model import Model
from gateway.store.access import Access
from gateway.store.cursor import Cursors
from gateway.store.plan import Attributes, ReadLimits
from gateway.store.table import Table

Path = tuple[str | int, ...]
LaneKey = tuple[Variant, SharedPermissions]
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Denied:
    """A field of the response that the role may not read: its response keys, its attribute and its locations."""

    keys: tuple[str, ...]
    attribute: str
    nodes: tuple[FieldNode, ...]


@dataclass(frozen=True, slots=True)
class RefusedValue:
    """One refused value in a response."""

    path: Path
    attribute: str
    locations: list[dict[str, int]]


@dataclass(frozen=True, slots=True)
class Lane:
    """A query that was prepared for the policies of one role in one place."""

    roots: tuple[Root, ...]
    out: Any
    denied: tuple[Denied, ...]
    size: int  # approximate memory in bytes

    def answers(self, request: LaneRequest) -> Coroutine[Any, Any, Answers]:
        """Returns the results of all root fields."""
        return self.roots[0].answer(request) if len(self.roots) == 1 else self._all_answers(request)

    async def _all_answers(self, request: LaneRequest) -> Answers:
        return list(chain.from_iterable(await request.run_all([root.answer(request) for root in self.roots])))

    def written(self, answers: Answers) -> tuple[bytes, list[RefusedValue]]:
        """Returns the data of the response as JSON, and the refused values in it."""
        values: list[Any] = [None] * self.out.size
        for number, value in answers:
            values[number] = value
        content = _encode(self.out.type(*values))
        return content, _refused(self.denied, content) if self.denied else []


def _refused(denied: tuple[Denied, ...], content: bytes) -> list[RefusedValue]:
    """Finds every value of a refused field in the response."""
    data = orjson.loads(content)
    return [
        RefusedValue(path, denial.attribute, [_location(node) for node in denial.nodes])
        for denial in denied
        for path in _paths(data, denial.keys, ())
    ]


def _paths(value: Any, keys: tuple[str, ...], path: Path) -> Iterator[Path]:
    if isinstance(value, list):
        for number, member in enumerate(value):
            yield from _paths(member, keys, (*path, number))
    elif not keys:
        yield path
    elif value is not None and keys[0] in value:
        yield from _paths(value[keys[0]], keys[1:], (*path, keys[0]))


def _location(node: FieldNode) -> dict[str, int]:
    assert node.loc is not None  # noqa: S101  documents are parsed with their locations
    location = get_location(node.loc.source, node.loc.start)
    return {"line": location.line, "column": location.column}


class Outcomes:
    """Counts how operations were run: in a lane, or by the reference executor and why."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, outcome: str) -> None:
        self.counts[outcome] = self.counts.get(outcome, 0) + 1


@dataclass(frozen=True, slots=True)
class LaneRules:
    """When a lane is created: after a number of uses of its operation, and at most so many per second.

    A trusted document gets its lane at startup, or at the latest on its first use.
    """

    uses: int = 2
    per_second: float = 20
    # of all lanes and their documents; the least recently used lane is removed first
    kept_bytes: int = 64_000_000


_RULES = LaneRules()
_UNKNOWN: Any = object()


class Lanes:
    """Creates and runs lanes; operations that they cannot run are left to the reference executor."""

    def __init__(
        self,
        model: Model,
        table: Table,
        cursors: Cursors,
        limits: ReadLimits,
        rules: LaneRules = _RULES,
        clock: Callable[[], float] = time.monotonic,
        trusted: frozenset[str] = frozenset(),
    ) -> None:
        """`trusted` are the hashes of trusted documents, whose number is bounded by their manifest."""
        self._model = model
        self._table = table
        self._cursors = cursors
        self._limits = limits
        self._rules = rules
        self._clock = clock
        self._trusted = trusted
        self._made_at = -1.0
        self.kept_bytes = 0
        # by operation and policies, most recently used last; None if only the reference executor can run it
        self._made: dict[LaneKey, Lane | None] = {}
        self._making: dict[LaneKey, asyncio.Task[Lane | None]] = {}
        self._turn = asyncio.Lock()
        self.outcomes = Outcomes()

    async def run(
        self, variant: Variant, access: Access, variables: dict[str, Any]
    ) -> tuple[bytes, list[RefusedValue]] | None:
        """Returns the response; None if the reference executor must run the operation, with what the lane has read."""
        lane = self._lane(variant, access)
        if lane is _UNKNOWN:
            lane = await self._new((variant, access.session.permissions.shared), access)
        if lane is None:
            self.outcomes.add("reference")
            return None
        request = LaneRequest(access, variables, self._table, self._cursors, self._limits)
        try:
            answer = lane.written(await lane.answers(request))
        except FallBack as step:
            self.outcomes.add(step.reason)
            return None
        except InvalidArguments:
            self.outcomes.add(Reason.ARGUMENT)
            return None
        finally:
            request.stopped = None  # its traceback refers to the request
            if request.seen or request.pages or request.reader is not None:
                request.close()
        self.outcomes.add("lane")
        access.replay.clear()
        return answer

    def _lane(self, variant: Variant, access: Access) -> Lane | None:
        key = (variant, access.session.permissions.shared)
        lanes = self._made
        lane: Lane | None = lanes.pop(key, _UNKNOWN)
        if lane is not _UNKNOWN:
            lanes[key] = lane
        return lane

    async def _new(self, key: LaneKey, access: Access) -> Lane | None:
        variant = key[0]
        variant.uses += 1
        making = self._making.get(key)
        if making is None:
            trusted = variant.document.hash in self._trusted
            if not trusted and (variant.uses <= self._rules.uses or not self._may_make()):
                return None
            making = self._begin(key, access)
        return await asyncio.shield(making)

    async def prepare(self, variant: Variant, session: Session) -> None:
        """Creates the lane for the policies of this session before its first use; the caller limits the rate."""
        key = (variant, session.permissions.shared)
        if key not in self._made:
            await asyncio.shield(self._making.get(key) or self._begin(key, Access(session)))

    def _begin(self, key: LaneKey, access: Access) -> "asyncio.Task[Lane | None]":
        making = self._making[key] = asyncio.ensure_future(self._prepare(key, access))
        making.add_done_callback(lambda _: self._making.pop(key))
        return making

    async def _prepare(self, key: LaneKey, access: Access) -> Lane | None:
        """INVARIANT: lanes are created one at a time and off the event loop: a large one takes many milliseconds."""
        variant = key[0]
        async with self._turn:
            try:
                lane: Lane | None = await in_background(self._table.pacer, self.make, variant.tree, access)
            except NoLane:
                lane = None
        self._made[key] = lane
        self.kept_bytes += _bytes(variant, lane)
        while self.kept_bytes > self._rules.kept_bytes:
            oldest = next(iter(self._made))
            self.kept_bytes -= _bytes(oldest[0], self._made.pop(oldest))
        return lane

    def _may_make(self) -> bool:
        now = self._clock()
        if self._made_at >= 0 and now - self._made_at < 1 / self._rules.per_second:
            return False
        self._made_at = now
        return True

    def make(self, tree: Tree, access: Access) -> Lane:
        session = access.session
        source = LaneTable(self._table, session)
        attributes = frozenset[str]().union(*(item.attributes for item, _ in tree.items))
        denied = source.denied(attributes)
        preparation = Preparation(self._model, source, denied, self._cursors)
        roots = preparation.prepare(tree)
        out = OutType([root.key for root in tree.roots])
        return Lane(tuple(roots), out, tuple(denied_fields(tree, denied)), preparation.size)


def _bytes(variant: Variant, lane: Lane | None) -> int:
    return bytes_of(variant.document) + (lane.size if lane is not None else 0)


def denied_fields(tree: Tree, denied: Attributes) -> Iterator[Denied]:
    for item, path in tree.items if denied else ():
        for field in item.fields:
            name = _denied_attribute(field, denied)
            if isinstance(field, AttributeField | CodeField) and name is not None:
                if path is None:
                    raise NoLane  # by global id: another type may have a different field with that name
                yield Denied((*path, field.key), name, field.nodes)


def _denied_attribute(field: ItemField, denied: Attributes) -> str | None:
    if isinstance(field, CodeField):
        return refused_attribute(field, denied)
    return field.attribute.name if isinstance(field, AttributeField) and field.attribute.name in denied else None
