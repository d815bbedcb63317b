"""The writer of a mutation: reads the items to change, collects a change and commits it once."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gateway.errors import Forbidden, LimitExceeded
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition
from gateway.store.access import Access, Refusal
from gateway.store.plan import GetItems, Window, plan_listing
from gateway.store.rows import Item
from gateway.store.table import Table
from gateway.store.wire import key_of
from gateway.store.write.change import MAX_MEMBERS, Change
from gateway.store.write.faults import Fault, Rejected, UserErrorCode, missing
from gateway.store.write.idempotency import Once, Records
from gateway.store.write.transactions import Transactions
from gateway.store.write.upserts import put_all, replacement

Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MutationResult:
    """What a mutation answers: the item as it is now, and numbers beside it where it declares some."""

    item: Item
    extras: Mapping[str, Any] = field(default_factory=dict)


Work = Callable[["Writer"], Awaitable[MutationResult]]


class Writer:
    """INVARIANT: made per request with that request's session; it writes under that tenant's prefix only."""

    def __init__(self, model: Model, table: Table, access: Access) -> None:
        self.model = model
        self.access = access
        self.table = table
        self._transactions = Transactions(table, model)
        self._once: Once | None = None

    @property
    def tenant(self) -> TenantId:
        return self.access.session.tenant

    @property
    def _records(self) -> Records:
        return Records(self.table, self.model)

    def change(self) -> Change:
        return Change(self.model, self.tenant)

    async def stored(self, entity: str, key: Values, version: int | None = None) -> Item:
        """The item to be changed; NOT_FOUND without it, CONFLICT where its version is another one than expected."""
        item = await self._transactions.stored(self.access, entity, key)
        if item is None:
            raise missing(entity, key)
        current = item.values[self.model.table.version]
        if version is not None and version != current:
            message = f"this {entity} has version {current}, not {version}"
            raise Rejected(Fault(UserErrorCode.CONFLICT, message, "version", current))
        return item

    async def find(self, entity: str, key: Values) -> Item | None:
        return await self._transactions.stored(self.access, entity, key)

    async def many(self, entity: str, keys: Sequence[Values]) -> list[Item | None]:
        """Whole items as they are now, in the order of the keys."""
        known = self.model.entities[entity]
        wanted = tuple(item_key(self.tenant, known, key) for key in keys)
        plan = GetItems(self.tenant, entity, wanted, self._everything(known), strong=True)
        return await self.table.get(self.access, plan)

    async def listed(self, listing: str, arguments: Values) -> list[Item]:
        """Whole items of a listing; more than a transaction can hold are refused, not dropped."""
        pattern = self.model.listing(listing)
        # what is to be changed is read as it is now; only an index cannot be
        pattern = replace(pattern, strong=self.model.place(pattern).index is None, cached=None)
        attributes = self._everything(self.model.entities[pattern.entity])
        plan = plan_listing(self.model, pattern, self.tenant, arguments, Window(MAX_MEMBERS), attributes)
        page = await self.table.query(self.access, plan)
        if page.more:
            raise LimitExceeded(f"there are more than {MAX_MEMBERS} {pattern.entity} items to change at once")
        return list(page.items)

    async def peek(self, entity: str, key: Values, *names: str) -> Item | None:
        """Some attributes of an item that is not to be changed, perhaps a moment old."""
        at = item_key(self.tenant, self.model.entities[entity], key)
        [item] = await self.table.get(self.access, GetItems(self.tenant, entity, (at,), frozenset(names), fresh=True))
        return item

    async def put_all(self, entity: str, rows: Sequence[Values]) -> int:
        """Many items without a transaction, each in place of what is there; how many different ones they are."""
        change, items = self.change(), {}
        for values in rows:
            item = replacement(change, entity, values)
            items[item[self.model.table.pk]["S"], item[self.model.table.sk]["S"]] = item
        await put_all(self.table, self.access, list(items.values()))
        return len(items)

    def _everything(self, entity: Entity) -> frozenset[str]:
        return frozenset((*entity.attribute, self.model.table.version))

    async def commit(self, change: Change, outcome: MutationResult) -> MutationResult:
        if self._once is not None:
            self._records.write(change, self._once, self._remembered(change, outcome))
        await self._transactions.run(self.access, change)
        return outcome

    async def run(self, work: Work, once: Once | None) -> MutationResult:
        """The work, or, where its key has been used for the same before, what came of it then."""
        self._check_may_write()
        # also where there is none: an earlier mutation of the same operation may have had one
        self._once = once
        if once is None:
            return await work(self)
        known = await self._records.find(self.access, once)
        if known is not None:
            return await self._replayed(known)
        try:
            return await work(self)
        except Rejected:
            # a duplicate may have been faster, and what stands in the way is its very change
            known = await self._records.find(self.access, once)
            if known is None:
                raise
            return await self._replayed(known)

    def _check_may_write(self) -> None:
        """A role that can never write is refused before anything is read."""
        session = self.access.session
        at = ItemKey(partition(session.tenant, "ANY"), "ANY")
        verdict = session.permissions.put_denied(session.tenancy.table, key_of(self.model.table, at), at.pk)
        if verdict is not None:
            self.access.refusals.append(Refusal("PutItem", verdict.reason))
            raise Forbidden(f"the role `{session.role}` may not change anything") from PermissionError(verdict.reason)

    def _remembered(self, change: Change, outcome: MutationResult) -> dict[str, Any]:
        entity = self.model.entities[outcome.item.entity]
        key = item_key(self.tenant, entity, outcome.item.values)
        written = [[member.key.pk, member.key.sk] for member in change.members if member.kind != "ConditionCheck"]
        return {"entity": entity.name, "key": [key.pk, key.sk], "extras": dict(outcome.extras), "written": written}

    async def _replayed(self, known: Values) -> MutationResult:
        entity: Entity = self.model.entities[known["entity"]]
        # INVARIANT: a repeat is not answered from the record before this process has forgotten what the change made
        # wrong; another process may have made it.
        self.table.forget_written(self.access, [ItemKey(*key) for key in known["written"]])
        item = await self._transactions.at(self.access, entity, ItemKey(*known["key"]))
        # removed since: what is left is that it was done
        return MutationResult(item or Item(entity.name, {}, ""), known["extras"])
