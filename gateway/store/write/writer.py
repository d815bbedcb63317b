"""The writer of a mutation: reads the items to change, collects a change and commits it once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import msgspec

from gateway.aws.sts.session import Session
from gateway.errors import Forbidden, Internal, LimitExceeded
from gateway.model.entity import Entity
from gateway.model.error_code import UserErrorCode
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.mutation import Mutation
from gateway.model.tenant import TenantId
from gateway.store.access import Access, Refusal
from gateway.store.files.item_files import give_up
from gateway.store.plan import GetItems, Window, plan_listing
from gateway.store.record import R, Record
from gateway.store.rows import Item
from gateway.store.table import Table
from gateway.store.write.change import MAX_MEMBERS, Change
from gateway.store.write.faults import Fault, Rejected, missing
from gateway.store.write.idempotency import Once, Records
from gateway.store.write.removal import remove
from gateway.store.write.transactions import Transactions
from gateway.store.write.upserts import put_all, replacement

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ItemResult:
    """The result for one item of a bulk mutation: it was written (and may have been removed since), or has faults.

    If neither, it was not written because of the faults of other items.
    """

    index: int
    item: Item | None = None
    faults: tuple[Fault, ...] = ()
    written: bool = False


class MutationResult(msgspec.Struct, frozen=True):
    """The result of a mutation: the current item, and additional numbers if the mutation declares some.

    A bulk mutation returns `results` instead.
    """

    item: Item
    extras: Mapping[str, Any] = {}
    results: tuple[ItemResult, ...] = ()


def _name(entity: str | type[Record]) -> str:
    return entity if isinstance(entity, str) else entity.__name__


Work = Callable[["Writer"], Awaitable[MutationResult]]
Act = Callable[[Session, str, str], Awaitable[Session]]
"""The session of an acting role, for the caller of a session and the subject of its token."""


async def no_acting(session: Session, role: str, subject: str) -> Session:
    raise Internal(f"there are no sessions of the acting role `{role}` here")


class Writer:
    """INVARIANT: created per request with that request's session; it writes only under that tenant's prefix."""

    def __init__(self, model: Model, table: Table, access: Access, act: Act = no_acting) -> None:
        self.model = model
        self.access = access
        self.table = table
        self._transactions = Transactions(table, model)
        self.once: Once | None = None  # the idempotency key of the running mutation
        self._act = act

    async def acting(self, mutation: Mutation, role: str) -> "Writer":
        """Returns the writer of a mutation that acts in `role`: this one, if the caller's role writes its result."""
        session = self.access.session
        if self.model.all_roles[session.role].writes_result(mutation):
            return self
        acting = await self._act(session, role, self.access.subject)
        return Writer(self.model, self.table, self.access.acting(acting))

    @property
    def tenant(self) -> TenantId:
        return self.access.session.tenant

    @property
    def records(self) -> Records:
        return Records(self.table, self.model)

    def change(self) -> Change:
        session = self.access.session
        return Change(self.model, session.tenant, session.subject)

    @overload
    async def stored(self, entity: type[R], key: Values, version: int | None = None) -> R: ...
    @overload
    async def stored(self, entity: str, key: Values, version: int | None = None) -> Item: ...
    async def stored(self, entity: str | type[R], key: Values, version: int | None = None) -> Item | R:
        """Returns the item to change; NOT_FOUND if it is missing, CONFLICT if its version is not the expected one."""
        name = entity if isinstance(entity, str) else entity.__name__
        stored_item = self._owned(await self._transactions.stored(self.access, name, key))
        item = self.expected(name, key, stored_item, version)
        return item if isinstance(entity, str) else entity(item)

    def expected(self, name: str, key: Values, item: Item | None, version: int | None) -> Item:
        """Checks that the item exists in the version that the caller has read."""
        if item is None:
            raise missing(name, key)
        current = item.values[self.model.table.version]
        if version is not None and version != current:
            message = f"this {name} has version {current}, not {version}"
            raise Rejected(Fault(UserErrorCode.CONFLICT, message, "version", current))
        return item

    @overload
    async def find(self, entity: type[R], key: Values) -> R | None: ...
    @overload
    async def find(self, entity: str, key: Values) -> Item | None: ...
    async def find(self, entity: str | type[R], key: Values) -> Item | R | None:
        item = self._owned(await self._transactions.stored(self.access, _name(entity), key))
        return item if item is None or isinstance(entity, str) else entity(item)

    @overload
    async def many(self, entity: type[R], keys: Sequence[Values]) -> list[R | None]: ...
    @overload
    async def many(self, entity: str, keys: Sequence[Values]) -> list[Item | None]: ...
    async def many(self, entity: str | type[R], keys: Sequence[Values]) -> Sequence[Item | R | None]:
        """Returns whole current items, in the order of the keys."""
        definition = self.model.entities[_name(entity)]
        items = await self.at(definition, tuple(item_key(self.tenant, definition, key) for key in keys))
        return items if isinstance(entity, str) else [item and entity(item) for item in items]

    async def at(self, entity: Entity, keys: tuple[ItemKey, ...]) -> list[Item | None]:
        plan = GetItems(self.tenant, entity.name, keys, self.model.whole_items[entity.name], strong=True)
        return [self._owned(item) for item in await self.table.get(self.access, plan)]

    @overload
    async def listed(self, listing: str, arguments: Values, record: type[R]) -> list[R]: ...
    @overload
    async def listed(self, listing: str, arguments: Values) -> list[Item]: ...
    async def listed(self, listing: str, arguments: Values, record: type[R] | None = None) -> Sequence[Item | R]:
        """Returns whole items of a listing; refuses more than fit into a transaction, instead of dropping some."""
        pattern = self.model.listing(listing)
        # items that are to be changed are read consistently; this is impossible only on an index
        pattern = replace(pattern, strong=self.model.table.consistent(self.model.place(pattern).index), cached=None)
        entity = self.model.entities[pattern.entity]
        attributes = self.model.whole_items[entity.name]
        plan = plan_listing(self.model, pattern, self.tenant, arguments, Window(MAX_MEMBERS), attributes)
        page = await self.table.query(self.access, plan)
        if page.more:
            raise LimitExceeded(f"there are more than {MAX_MEMBERS} {pattern.entity} items to change at once")
        items = [item for item in page.items if self._owned(item) is not None]
        if entity.name in self.model.filling:
            # a copy does not say which counters include its item
            whole_items = await self.many(entity.name, [item.values for item in items]) if items else []
            items = [item for item in whole_items if item is not None]
        return items if record is None else [record(item) for item in items]

    async def peek(self, entity: str, key: Values, *names: str) -> Item | None:
        """Returns some attributes of an item that is not changed; they may be slightly stale."""
        at = item_key(self.tenant, self.model.entities[entity], key)
        owner = self.model.entities[entity].owner
        attributes = frozenset(names if owner is None else (*names, owner))
        [item] = await self.table.get(self.access, GetItems(self.tenant, entity, (at,), attributes, fresh=True))
        return self._owned(item)

    def _owned(self, item: Item | None) -> Item | None:
        """INVARIANT: in the session of a subject, an item of another subject counts as missing.

        An acting role reads places that do not contain the owner, so AWS does not refuse them.
        """
        if item is None:
            return None
        owner = self.model.entities[item.entity].owner
        subject = None if owner is None else self.access.session.subject
        if owner is None or subject is None or item.values.get(owner) == subject:
            return item
        return None

    async def put_all(self, entity: str, rows: Sequence[Values]) -> int:
        """Writes many items without a transaction, each over any existing one; returns the number of distinct items."""
        change, items = self.change(), {}
        for values in rows:
            item = replacement(change, entity, values)
            items[item[self.model.table.pk]["S"], item[self.model.table.sk]["S"]] = item
        await put_all(self.table, self.access, list(items.values()))
        for name, size in change.large:
            self.table.sizes.was_written(self.tenant, name, size)
        return len(items)

    async def remove(self, change: Change, item: Item) -> Item:
        """Removes the item and everything it cascades to; IN_USE if a reference restricts it."""
        return await remove(self, change, item)

    async def commit_part(self, change: Change) -> None:
        """Writes a part of a large change first, without a record, because a repeat continues from there."""
        await self._transactions.run(self.access, change)
        if change.given_up:
            await give_up(self.access, change.given_up)

    async def commit(self, change: Change, outcome: MutationResult) -> MutationResult:
        if self.once is not None:
            self.records.write(change, self.once, self._remembered(change, outcome))
        await self._transactions.run(self.access, change)
        if change.given_up:
            await give_up(self.access, change.given_up)
        return outcome

    def run(self, work: Work, once: Once | None, *, bulk: bool = False) -> Awaitable[MutationResult]:
        """Runs the work, or returns the earlier result if its key was already used for the same request.

        Bulk work checks this itself, because only a part of it may have been done.
        """
        self._check_may_write()
        # also if there is none: an earlier mutation of the same operation may have set it
        self.once = once
        return work(self) if once is None or bulk else self._run_once(work, once)

    async def _run_once(self, work: Work, once: Once) -> MutationResult:
        record = await self.records.find(self.access, once)
        if record is not None:
            return await self._replayed(record)
        try:
            return await work(self)
        except Rejected:
            # a duplicate may have been faster, so that its own change causes the conflict
            record = await self.records.find(self.access, once)
            if record is None:
                raise
            return await self._replayed(record)

    def check_may_call(self, mutation: Mutation) -> None:
        """Refuses a mutation that the role may not call before anything is read."""
        name = self.access.session.role
        role = self.model.roles.get(name)
        if role is not None and role.may_call(mutation):
            return
        if role is None or not (role.writes or role.mutations):
            raise self._refused(f"the role `{name}` may not change anything", "PutItem")
        raise self._refused(f"the role `{name}` may not call `{mutation.name}`", mutation.name)

    def _check_may_write(self) -> None:
        """Refuses a role that can never write before anything is read."""
        name = self.access.session.role
        role = self.model.all_roles.get(name)
        if role is None or role.writes == ():
            raise self._refused(f"the role `{name}` may not change anything", "PutItem")

    def _refused(self, message: str, what: str) -> Forbidden:
        self.access.refusals.append(Refusal(what, "the role is not declared to do this"))
        return Forbidden(message)

    def _remembered(self, change: Change, outcome: MutationResult) -> dict[str, Any]:
        entity = self.model.entities[outcome.item.entity]
        key = item_key(self.tenant, entity, outcome.item.values)
        written = [[member.key.pk, member.key.sk] for member in change.members if member.kind != "ConditionCheck"]
        return {"entity": entity.name, "key": [key.pk, key.sk], "extras": dict(outcome.extras), "written": written}

    async def _replayed(self, record: Values) -> MutationResult:
        entity: Entity = self.model.entities[record["entity"]]
        # INVARIANT: a repeat is not answered from the record before this process has dropped what the change
        # invalidates; another process may have made the change.
        self.table.forget_written(self.access, [ItemKey(*key) for key in record["written"]])
        attributes = self.model.whole_items[entity.name]
        found = await self.table.current(self.access, entity.name, ItemKey(*record["key"]), attributes)
        item = self._owned(found)
        # the item was removed since, or given to another subject: only the fact that it was done remains
        return MutationResult(item or Item(entity.name, {}, ""), record["extras"])
