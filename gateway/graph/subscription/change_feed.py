"""The change feed: every change of a tenant's items that a caller may see, in order, starting at a position."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from gateway.aws.sts.callers import Caller, LastingCaller
from gateway.errors import Forbidden, GatewayError, PositionExpired, Throttled, Unavailable
from gateway.graph.global_id import item_id
from gateway.graph.http.endpoint import Endpoint
from gateway.graph.http.fair_queue import OPERATION_COST
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.query.reference.item_loader import ItemsByKey
from gateway.graph.query.reference.reader import Reader
from gateway.graph.subscription.position import FeedPosition, Positions, Vector
from gateway.model.entity import PRIMARY, Entity
from gateway.model.keys import ItemKey, identity_of
from gateway.model.model import Model
from gateway.model.patterns import Lookup, item_lookup
from gateway.model.types import AttributeType, ListOf, SetOf, Struct
from gateway.store.access import Access
from gateway.store.rows import Item
from gateway.stream.bus import Bus
from gateway.stream.note import ChangeNote

WATCH = "changes"  # positions of a feed are bound to this name
MOST_NOTES = 1_000  # notes that wait for a slow reader; the bus replays later ones
MOST_ITEMS = 100  # items that are read together
LOST = "changes after this position are no longer kept; read the current state, and start again without a position"


@dataclass(frozen=True, slots=True)
class FeedChange:
    """`item` has the attributes that the caller may read; it is None if the item was removed or has an `error`.

    A reader that resumes from `position` gets the changes after this one.
    """

    change: str
    kind: str
    type: str
    id: str
    item: Mapping[str, Any] | None = None
    error: str | None = None
    position: str = ""

    def line(self) -> dict[str, Any]:
        named = {"change": self.change, "kind": self.kind, "type": self.type, "id": self.id}
        content: dict[str, Any] = {"position": self.position, **named}
        content |= {} if self.item is None else {"item": dict(self.item)}
        return content if self.error is None else {**content, "error": self.error}


@dataclass(slots=True)
class FeedCounts:
    """What the change feeds of the process have done."""

    open: int = 0
    sent: int = 0
    reads: int = 0
    resumes: int = 0
    replays: int = 0
    expired_positions: int = 0


@dataclass(eq=False, slots=True)
class _Buffer:
    """Notes that have arrived but were not reported yet. INVARIANT: a note that does not fit is replayed, never
    dropped."""

    notes: deque[ChangeNote] = field(default_factory=deque)
    full: bool = False
    lost: bool = False
    came: asyncio.Event = field(default_factory=asyncio.Event)

    def deliver(self, note: ChangeNote) -> None:
        self.full = self.full or len(self.notes) >= MOST_NOTES
        if self.full:
            self.notes.clear()
        else:
            self.notes.append(note)
        self.came.set()

    def missed(self) -> None:
        self.lost = True
        self.came.set()


@dataclass(frozen=True, slots=True)
class ChangeFeed:
    """INVARIANT: every item is read with the caller's own session, even a removed one, so AWS authorizes what is
    reported.

    `patterns` are those that each role can use.
    """

    model: Model
    patterns: Mapping[str, frozenset[str]]
    bus: Bus
    endpoint: Endpoint
    positions: Positions
    counts: FeedCounts = field(default_factory=FeedCounts)

    async def follow(
        self, lasting: LastingCaller, log: RequestLog, after: str | None, idle_seconds: float
    ) -> AsyncGenerator[FeedChange | str]:
        """Yields the position, then changes as they arrive, and the position again after each `idle_seconds` without
        one.

        Without `after`, it starts with the next change. Raises `PositionExpired` if changes were lost,
        `BadUserInput` for a position of another caller, and the error of `lasting` once the caller is no longer
        valid.
        """
        scope = (await lasting.caller()).session.scope
        reported = None if after is None else FeedPosition.of(self.positions.open(scope, WATCH, {}, after))
        self.counts.resumes += reported is not None
        with self._listening(lasting) as buffer:
            # the changes before it started to listen
            buffer.full = reported is not None
            reported = reported or FeedPosition(dict(self.bus.position()))
            taken = await self._take_notes(lasting, buffer, reported.vector)
            yield self._sealed(scope, reported)
            while True:
                for notes in _chunks(taken):
                    newest, changes = await self._read_changes(lasting, log, notes, reported)
                    for note in notes:
                        reported.advance(note, newest)
                        change = changes.get(_name(note))
                        if change is not None:
                            self.counts.sent += 1
                            yield replace(change, position=self._sealed(scope, reported))
                if not buffer.came.is_set():
                    reported.advance_to(self.bus.position())
                    try:
                        async with asyncio.timeout(idle_seconds):
                            await buffer.came.wait()
                    except TimeoutError:
                        await lasting.caller()
                        yield self._sealed(scope, reported)
                taken = await self._take_notes(lasting, buffer, reported.vector)

    @contextmanager
    def _listening(self, lasting: LastingCaller) -> Iterator[_Buffer]:
        buffer = _Buffer()
        unsubscribe = self.bus.subscribe(lasting.principal.tenant, buffer.deliver, buffer.missed)
        self.counts.open += 1
        try:
            yield buffer
        finally:
            self.counts.open -= 1
            unsubscribe()

    async def _take_notes(self, lasting: LastingCaller, buffer: _Buffer, seen: Vector) -> Sequence[ChangeNote]:
        buffer.came.clear()
        if buffer.lost:
            self.counts.expired_positions += 1
            raise PositionExpired(LOST)
        if not buffer.full:
            notes = list(buffer.notes)
            buffer.notes.clear()
            return [note for note in notes if note.order > int(seen.get(note.shard, -1))]
        buffer.full = False
        buffer.notes.clear()
        self.counts.replays += 1
        try:
            return await self.bus.replay(lasting.principal.tenant, seen)
        except PositionExpired as error:
            self.counts.expired_positions += 1
            raise PositionExpired(LOST) from error

    def _sealed(self, scope: str, reported: FeedPosition) -> str:
        return self.positions.seal(scope, WATCH, {}, reported.content())

    async def _read_changes(
        self, lasting: LastingCaller, log: RequestLog, notes: Sequence[ChangeNote], reported: FeedPosition
    ) -> tuple[dict[ItemKey, ChangeNote], dict[str, FeedChange]]:
        """The newest note of each item, and the changes that the caller may see: each item once, by the change's id."""
        caller = await lasting.caller()
        newest = _newest(self.model, caller, notes, reported)
        changes: dict[str, FeedChange] = {}
        for name in dict.fromkeys(note.entity for note in newest.values()):
            lookup = item_lookup(self.model, name)
            if lookup is None or lookup.name not in self.patterns[caller.role]:
                continue
            keys = tuple(key for key, note in newest.items() if note.entity == name)
            items = await self._read(caller, log, lookup, keys) or ItemsByKey()
            batch = [self._change(caller, newest[key], items, key) for key in items]
            changes |= {change.change: change for change in batch if change is not None}
        return newest, changes

    def _change(self, caller: Caller, note: ChangeNote, items: ItemsByKey, key: ItemKey) -> FeedChange | None:
        entity = self.model.entities[note.entity]
        identity = identity_of(caller.session.tenant, entity, entity.primary, key)
        if identity is None:
            return None
        change = FeedChange(
            _name(note), note.kind, entity.name, item_id(self.positions.cursors, caller.scope, entity, identity)
        )
        try:
            item = items[key]
        except (Forbidden, Throttled, Unavailable) as error:
            if isinstance(error, Forbidden):
                return None
            raise
        except GatewayError as error:
            # a damaged row must not block the feed
            return replace(change, error=error.code)
        if item is None:
            return change if note.kind == "removed" else None  # it was removed since; the note of its removal follows
        # the item exists again, so it was removed and created again
        return replace(
            change, kind="changed" if note.kind == "removed" else note.kind, item=self._visible(entity, item)
        )

    def _visible(self, entity: Entity, item: Item) -> dict[str, Any]:
        """The item as JSON, without the attributes that the role may not read."""
        content: dict[str, Any] = {"version": item.values.get(self.model.table.version)}
        for attribute in entity.attributes:
            value = item.values.get(attribute.name)
            if not isinstance(value, Exception):
                content[attribute.name] = _json(attribute.type, value)
        return content

    async def _read(
        self, caller: Caller, log: RequestLog, lookup: Lookup, keys: tuple[ItemKey, ...]
    ) -> ItemsByKey | None:
        """None if the role may not read such items."""
        endpoint, session = self.endpoint, caller.session
        self.counts.reads += 1
        reference = endpoint.reference
        deadline = asyncio.get_running_loop().time() + endpoint.limits.seconds
        await endpoint.queue.acquire(session.tenant, OPERATION_COST + len(keys), deadline)
        line = RequestLog(log.request_id, log.trace_id)
        line.caller, line.principal, line.operation, line.operation_type = caller, caller.principal, WATCH, "feed"
        subject = caller.principal.subject
        access = line.access = Access(session, deadline, prefix=caller.own, scope=caller.scope, subject=subject)
        reader = Reader(self.model, reference.table, access, reference.cursors, reference.limits)
        codes: list[str] = []
        try:
            attributes = frozenset((*self.model.entities[lookup.entity].attribute, self.model.table.version))
            return await reader.items_at(replace(lookup, strong=True), keys, attributes)
        except Forbidden as error:
            codes = [error.code]
            return None
        finally:
            reader.close()
            endpoint.queue.release()
            line.write(200, codes, endpoint.write)
            endpoint.observe(line, codes)


def _chunks(notes: Sequence[ChangeNote]) -> list[Sequence[ChangeNote]]:
    return [notes[start : start + MOST_ITEMS] for start in range(0, len(notes), MOST_ITEMS)]


def _newest(
    model: Model, caller: Caller, notes: Sequence[ChangeNote], reported: FeedPosition
) -> dict[ItemKey, ChangeNote]:
    """The newest note of each item; an item that was created among these changes is reported as created."""
    foreign = caller.session.permissions.foreign
    newest: dict[ItemKey, ChangeNote] = {}
    for note in notes:
        # INVARIANT: a feed reports only items of its own tenant and, in a role of own rows, of its own subject.
        if note.tenant != caller.session.tenant or foreign(None, note.pk):
            continue
        if note.entity in model.entities and note.place == PRIMARY:
            key = ItemKey(note.pk, note.sk)
            before = newest.get(key)
            new = before.kind == "created" if before is not None else reported.is_new(key)
            newest[key] = replace(note, kind="created") if new and note.kind == "changed" else note
    return newest


def _json(kind: AttributeType, value: Any) -> Any:
    if value is None:
        return None
    match kind:
        case SetOf(of):
            return sorted((_json(of, member) for member in value), key=str)
        case ListOf(of):
            return [_json(of, member) for member in value]
        case Struct(fields=fields):
            return {part.name: _json(part.type, value.get(part.name)) for part in fields}
    write = kind.json()
    return value if write is None else write(value)


def _name(note: ChangeNote) -> str:
    return sha256(f"{note.tenant} {note.shard} {note.sequence}".encode()).hexdigest()[:32]
