"""The roots of a lane: each returns the result of one root field, or of several that are read together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gateway.errors import BadUserInput
from gateway.graph.global_id import identified
from gateway.graph.query.arguments import Arguments
from gateway.graph.query.lane.fallback import FallBack, Reason
from gateway.graph.query.lane.items import ItemsRead, Level
from gateway.graph.query.lane.keys import Keys
from gateway.graph.query.lane.listing import ListingRead, PartitionRead, RowPage
from gateway.graph.query.lane.pages import PagesLoad, RequestedPage, requested_page
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.paging import take_arguments
from gateway.graph.query.tree import CollectionSelection
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey
from gateway.model.patterns import Listing
from gateway.store.plan import Attributes, Window, plan_item_collection

KeyOf = Callable[[Mapping[str, Any], str, Any], ItemKey]
Answers = list[tuple[int, Any]]  # the numbers of the roots, with their results


class Root(Protocol):
    async def answer(self, request: LaneRequest) -> Answers: ...


@dataclass(frozen=True, slots=True)
class ConstantRoot:
    number: int
    value: str

    async def answer(self, request: LaneRequest) -> Answers:
        return [(self.number, self.value)]


@dataclass(frozen=True, slots=True)
class ItemWant:
    """A root field that requests items by key; `plural` names the argument with many values."""

    number: int
    arguments: Arguments
    parameter: str = ""
    plural: str | None = None

    def keys(self, request: LaneRequest, key_of: KeyOf) -> list[ItemKey]:
        arguments = self.arguments.values(request.variables, request.caller)
        if self.plural is None:
            return [key_of(arguments, request.own, request.tenant)]
        values = arguments[self.plural]
        if len(values) > request.limits.page:
            raise FallBack(Reason.LIMIT)
        return [key_of({self.parameter: value}, request.own, request.tenant) for value in values]


@dataclass(frozen=True, slots=True)
class ItemsRoot:
    """Reads items of one entity for all roots that request some."""

    key_of: KeyOf
    read: ItemsRead
    wants: tuple[ItemWant, ...]
    level: Level  # with a selection for each want

    async def answer(self, request: LaneRequest) -> Answers:
        if len(self.wants) == 1 and self.wants[0].plural is None:
            return await self._answer_one(request, self.wants[0])
        requested = [want.keys(request, self.key_of) for want in self.wants]
        rows = await self.read.read(request, [key for keys in requested for key in keys])
        answers: Answers = []
        shaped = await self.level.answers_by_key(request, requested, rows)
        for want, keys, want_answers in zip(self.wants, requested, shaped, strict=True):
            values = [want_answers.get(key) for key in keys]
            answers.append((want.number, values[0] if want.plural is None else values))
        return answers

    async def _answer_one(self, request: LaneRequest, want: ItemWant) -> Answers:
        arguments = want.arguments.values(request.variables, request.caller)
        row = await self.read.one(request, self.key_of(arguments, request.own, request.tenant))
        return [(want.number, None if row is None else (await self.level.answers(request, [[row]]))[0][0])]


@dataclass(frozen=True, slots=True)
class CollectionRead:
    """Reads an item with the first members of one of its collections in one Query."""

    collection: CollectionSelection
    read: PartitionRead
    attributes: Attributes
    level: Level
    slot: str
    pages: PagesLoad | None  # if the collection is a listing
    members: tuple[Keys, Level] | None  # if the collection is by keys

    async def answer(self, request: LaneRequest, values: Mapping[str, Any]) -> Any:
        window = self._window(request)
        pattern, limit = self.collection.pattern, window.limit if window is not None else None
        model = self.read.rows.model
        try:
            plan = plan_item_collection(model, pattern, request.tenant, values, limit, self.attributes)
        except BadUserInput as error:
            raise FallBack(Reason.ARGUMENT) from error
        query = plan.query
        rows = await self.read.shared(request, query.partition, query.bounds, query.limit, forward=query.forward)
        if not all(row.pk.S.startswith(request.own) for row in rows):
            raise FallBack(Reason.FOREIGN_ROW)
        roots = [row for row in rows if plan.root == row.kind.S]
        if not roots:
            return None
        members = [row for row in rows if plan.root != row.kind.S]
        [[out]] = await self.level.answers(request, [roots[:1]])
        setattr(out, self.slot, await self._collection(request, roots[0], members, window))
        return out

    def _window(self, request: LaneRequest) -> Window | None:
        if self.pages is None:
            return None
        first = self.pages.arguments.values(request.variables).get("first")
        return requested_page(request, self.pages.listing, {} if first is None else {"first": first}).window

    async def _collection(self, request: LaneRequest, root: Any, members: list[Any], window: Window | None) -> Any:
        if self.pages is not None and window is not None:
            page = RowPage(members[: window.limit], len(members) > window.limit)
            requested = RequestedPage(self.pages.values(root), window)
            return (await self.pages.page.connections(request, [requested], [page]))[0]
        assert self.members is not None  # noqa: S101  either `pages` or `members` is set
        keys_of, level = self.members
        [keys] = keys_of([root], request.own, request.tenant)
        read = {(row.pk.S, row.sk.S): row for row in members}
        if not all(key in read for key in keys):
            raise FallBack(Reason.MEMBER_MISSING)
        member_rows: Any = {key: read[key] for key in keys}
        [answers] = await level.answers_by_key(request, [keys], member_rows)
        return [answers[key] for key in keys]


@dataclass(frozen=True, slots=True)
class TargetRead:
    """Reads one item by its key, together with a collection if one Query returns both."""

    key_of: KeyOf
    alone: tuple[ItemsRead, Level] | None
    together: CollectionRead | None

    async def answer(self, request: LaneRequest, values: Mapping[str, Any]) -> Any:
        together = self.together
        if together is not None and (self.alone is None or together.collection.applies(request.variables)):
            return await together.answer(request, values)
        assert self.alone is not None  # noqa: S101  it is created if the collection may not apply
        read, level = self.alone
        key = self.key_of(values, request.own, request.tenant)
        row = await read.one(request, key)
        return None if row is None else (await level.answers(request, [[row]]))[0][0]


@dataclass(frozen=True, slots=True)
class TargetRoot:
    number: int
    arguments: Arguments
    target: TargetRead

    async def answer(self, request: LaneRequest) -> Answers:
        values = self.arguments.values(request.variables, request.caller)
        return [(self.number, await self.target.answer(request, values))]


@dataclass(frozen=True, slots=True)
class SingleRoot:
    """The only item that a listing finds; `followed` reads the item that its reference points to."""

    number: int
    arguments: Arguments
    listing: Listing
    read: ListingRead
    level: Level | None
    followed: tuple[Mapping[str, tuple[str, Any]], TargetRead] | None

    async def answer(self, request: LaneRequest) -> Answers:
        arguments = self.arguments.values(request.variables, request.caller)
        take_arguments(self.listing, arguments)
        page = await self.read.page(request, arguments, Window(1))
        if self.read.items is not None:
            [page] = await self.read.fetched(request, [page], [Window(1)])
        return [(self.number, await self._item(request, page.rows[0]) if page.rows else None)]

    async def _item(self, request: LaneRequest, row: Any) -> Any:
        if self.level is not None:
            return (await self.level.answers(request, [[row]]))[0][0]
        if not row.pk.S.startswith(request.own):
            raise FallBack(Reason.FOREIGN_ROW)
        if row.ttl is not None and not self.read.rows.expires:
            raise FallBack(Reason.EXPIRY)
        assert self.followed is not None  # noqa: S101  either `level` or `followed` is set
        bound, target = self.followed
        values = {}
        for name, (field, read) in bound.items():
            wire = getattr(row, field)
            if wire is None:
                raise FallBack(Reason.ARGUMENT)
            values[name] = read(wire)
        return await target.answer(request, values)


@dataclass(frozen=True, slots=True)
class NodeRoot:
    """Items by global id; unknown, foreign and forged ids all return null."""

    number: int
    arguments: Arguments
    plural: bool
    types: Mapping[str, tuple[Entity, ItemsRead, Level]]

    async def answer(self, request: LaneRequest) -> Answers:
        arguments = self.arguments.values(request.variables)
        texts = arguments["ids"] if self.plural else [arguments["id"]]
        if len(texts) > request.limits.page:
            raise FallBack(Reason.LIMIT)
        named = [self._named(request, text) for text in texts]
        kinds = sorted({node[0] for node in named if node is not None})
        answers_by_kind = await request.run_all([self._items(request, kind, named) for kind in kinds]) if kinds else []
        answers: dict[Any, Any] = {}
        for kind_answers in answers_by_kind:
            answers |= kind_answers
        values = [None if node is None else answers.get(node) for node in named]
        return [(self.number, values if self.plural else values[0])]

    def _named(self, request: LaneRequest, text: str) -> tuple[str, ItemKey] | None:
        return identified(request.cursors, request.tenant, request.scope, text, self._entity)

    def _entity(self, name: str) -> Entity | None:
        return self.types[name][0] if name in self.types else None

    async def _items(
        self, request: LaneRequest, kind: str, named: list[tuple[str, ItemKey] | None]
    ) -> dict[tuple[str, ItemKey], Any]:
        _, read, level = self.types[kind]
        keys = [node[1] for node in named if node is not None and node[0] == kind]
        [answers] = await level.answers_by_key(request, [keys], await read.read(request, keys))
        return {(kind, key): answer for key, answer in answers.items()}
