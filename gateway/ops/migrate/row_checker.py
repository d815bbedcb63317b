"""Finds what is wrong with a stored row and the write that repairs it; pure, shared by backfill and verification."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from gateway.errors import GatewayError
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import tenant_of
from gateway.model.types import Wire
from gateway.store.rows import Item, Rows
from gateway.store.wire import key_of
from gateway.store.write.counters import add_condition, add_marks, uncounted
from gateway.store.write.items import check_size, items_for
from gateway.store.write.member import Member
from gateway.store.write.rewrite import Rewrite, derived_names, everything, update_body


class RowFault(Enum):
    """What can be wrong with a row."""

    STALE = "stored by an older schema"
    MISSING = "not in an index where it belongs"
    WRONG = "in an index at another place, or where it does not belong"
    UNCOUNTED = "in a list whose counter does not have it"
    UNREADABLE = "not stored as it is declared"


@dataclass(frozen=True, slots=True)
class Repair:
    """The write that repairs an item, on condition that its version has not changed; the version stays."""

    key: ItemKey
    update: Wire
    copies: tuple[Wire, ...] = ()
    counts: tuple[Member, ...] = ()  # counters that this item is added to


@dataclass(frozen=True, slots=True)
class RowVerdict:
    faults: tuple[RowFault, ...] = ()
    repair: Repair | None = None
    # for the log: why the row cannot be read, without any of its values
    reason: str = ""


_RIGHT = RowVerdict()


class RowChecker:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._rows = Rows(model)
        self._derived = derived_names(model)

    def kind(self, row: Wire) -> str:
        return self._rows.kind(row) or ""

    def verdict(self, row: Wire) -> RowVerdict:
        """The verdict on an item or a copy of one; an expired row is right, because DynamoDB deletes it."""
        table = self._model.table
        entity = self._model.entities[self.kind(row)]
        try:
            item = self._item(entity, row)
            if item is None:
                return _RIGHT
            if table.copy_of in row:
                # it is written with its original
                return RowVerdict((RowFault.STALE,)) if item.stale else _RIGHT
            return self._compare(entity, row, item)
        except GatewayError as error:
            return RowVerdict((RowFault.UNREADABLE,), reason=error.message)

    def _item(self, entity: Entity, row: Wire) -> Item | None:
        table = self._model.table
        tenant = tenant_of(self._rows.key(row).pk)
        if tenant is None:
            raise GatewayError("its partition belongs to no tenant")
        return self._rows.item(tenant, row, entity.name, frozenset((*entity.attribute, table.version)), table.sk)

    def _compare(self, entity: Entity, row: Wire, item: Item) -> RowVerdict:
        table, key = self._model.table, self._rows.key(row)
        tenant = tenant_of(key.pk)
        assert tenant is not None  # noqa: S101  it was read as that tenant's
        version = item.values[table.version]
        values = {name: value for name, value in item.values.items() if name in entity.attribute}
        expected, *copies = items_for(self._model, entity, tenant, values, version)
        # INVARIANT: a migration never moves an item, and never from one tenant to another.
        if self._rows.key(expected) != key:
            raise GatewayError("its key does not match its values")
        check_size(entity.name, expected)
        marks = frozenset(row.get(table.counted_by, {}).get("SS", ()))
        counts = uncounted(self._model, entity, tenant, values, marks)
        faults = (*self._faults(row, expected, stale=item.stale), *((RowFault.UNCOUNTED,) if counts else ()))
        if not faults:
            return _RIGHT
        change = everything(self._model, entity, {}, expected) if item.stale else self._moved(row, expected)
        change = Rewrite(change.sets, tuple(name for name in change.removes if name in row))
        body = update_body(self._model, entity, change, version, version)
        if counts:
            add_condition(self._model, entity, values, body, marks)
            add_marks(self._model, counts.keys(), body)
        return RowVerdict(faults, Repair(key, body, tuple(copies) if item.stale else (), tuple(counts.values())))

    def _faults(self, row: Wire, expected: Wire, *, stale: bool) -> list[RowFault]:
        faults = [RowFault.STALE] if stale else []
        different = [name for name in self._derived if row.get(name) != expected.get(name)]
        if any(name not in row for name in different):
            faults.append(RowFault.MISSING)
        if any(name in row for name in different):
            faults.append(RowFault.WRONG)
        return faults

    def _moved(self, row: Wire, expected: Wire) -> Rewrite:
        """A rewrite of the index keys and the expiry only."""
        sets = {name: expected[name] for name in self._derived & set(expected) if row.get(name) != expected[name]}
        return Rewrite(sets, tuple(sorted(self._derived - set(expected))))


def written(model: Model, table: str, repair: Repair) -> tuple[str, dict[str, Any]]:
    """The call that makes a repair; a transaction if copies or counters are written with the item."""
    update = {"TableName": table, "Key": key_of(model.table, repair.key), **repair.update}
    if not repair.copies and not repair.counts:
        return "UpdateItem", {**update, "ReturnConsumedCapacity": "TOTAL"}
    puts = [{"Put": {"TableName": table, "Item": copy}} for copy in repair.copies]
    counts = [{"Update": {"TableName": table, **member.body}} for member in repair.counts]
    members = [{"Update": update}, *puts, *counts]
    return "TransactWriteItems", {"TransactItems": members, "ReturnConsumedCapacity": "TOTAL"}
