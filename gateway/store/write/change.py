"""Changes as pure values: all items, copies, index keys and uniqueness markers that are written together."""

from collections.abc import Callable, Container, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from gateway.errors import Internal, LimitExceeded
from gateway.model.entity import Entity
from gateway.model.error_code import UserErrorCode
from gateway.model.files.keys import object_key
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.role_reach import UNIQUE
from gateway.model.tenant import TenantId, partition
from gateway.model.types import Wire
from gateway.store.rows import Item
from gateway.store.wire import key_of
from gateway.store.write.counters import (
    NO_MARKS,
    add_condition,
    add_marks,
    counter_members,
    counter_row,
    entered,
    marked,
)
from gateway.store.write.faults import Fault, check_declared
from gateway.store.write.increments import Sums, bound_of
from gateway.store.write.items import check_size, items_for
from gateway.store.write.member import Member
from gateway.store.write.references import RemovalCondition, joined_members, reference_member, referred
from gateway.store.write.rewrite import rewrite, update_body
from gateway.store.write.rules import changed_values, new_values

MAX_MEMBERS = 100

Values = Mapping[str, Any]


def _now() -> datetime:
    return datetime.now(UTC)


class Change(msgspec.Struct, eq=False):
    """Collects the writes of one transaction, which succeed or fail together."""

    model: Model
    tenant: TenantId
    subject: str | None = None  # of an own-rows session
    members: list[Member] = []
    clock: Callable[[], datetime] | None = _now  # items must expire after this time; None disables the check
    large: tuple[tuple[str, int], ...] = ()  # entities and bytes of unusually large items
    given_up: list[str] = []  # the keys of files that no item refers to after this change

    def create(self, name: str, values: Values, *, taken: Fault | None = None) -> Item:
        """Adds a new item; `taken` or ALREADY_EXISTS if its key exists, ALREADY_EXISTS if a unique value does."""
        entity = self.model.entities[name]
        values = new_values(entity, values, self.now)
        original, *copies = items_for(self.model, entity, self.tenant, values)
        if marks := entered(self.model, entity, None, values):
            original = {**original, self.model.table.counted_by: marked(marks)}
        fault = taken or Fault(UserErrorCode.ALREADY_EXISTS, f"this {name} exists already", entity.key_names[-1])
        self._put(entity, original, f"attribute_not_exists({self.model.table.pk})", {}, fault)
        for copy in copies:
            self._put(entity, copy)
        for attribute in entity.unique:
            if values.get(attribute) is not None:
                self._claim(entity, attribute, values)
        self._refer(entity, values, entity.attribute)
        self._count(entity, None, values)
        return self._item(entity, {name: value for name, value in values.items() if value is not None}, 1, marks)

    def update(self, item: Item, changes: Values) -> Item:
        """Changes values of the item; None removes one. CONFLICT if another request changed it first.

        If no value differs, nothing is written and the version stays.
        """
        entity = self.model.entities[item.entity]
        version = item.values[self.model.table.version]
        before = {name: value for name, value in item.values.items() if name in entity.attribute}
        changes = changed_values(entity, before, changes, self.now if entity.expiry is not None else None)
        whole = item.stale or entity.moving
        marks = item.values.get(self.model.table.counted_by, NO_MARKS)
        if not changes and not whole:
            return self._item(entity, before, version, marks)
        after = {name: value for name, value in {**before, **changes}.items() if value is not None}
        written = rewrite(self.model, entity, self.tenant, before, after, changes, version + 1, whole=whole)
        if written.size:
            self.large = (*self.large, (entity.name, written.size))
        body = update_body(self.model, entity, written, version, version + 1)
        counted = entity.name in self.model.counted
        if counted:
            new_marks = entered(self.model, entity, before, after, marks)
            add_condition(self.model, entity, before, body, marks)
            add_marks(self.model, new_marks, body)
        self._add("Update", item_key(self.tenant, entity, after), body, self._conflict(entity, after))
        if entity.copies:
            self._move_copies(entity, written.old_copies, written.new_copies)
        for attribute in entity.unique:
            if before.get(attribute) != after.get(attribute):
                self._release(entity, attribute, before)
                self._claim(entity, attribute, after)
        if entity.checked_references:
            self._refer(entity, after, changes)
        if counted:
            self._count(entity, before, after, marks)
            marks |= new_marks
        if entity.files:
            self._give_up(entity, before, after)
        return self._item(entity, after, version + 1, marks)

    def remove(self, item: Item, unless: RemovalCondition | None = None) -> Item:
        """Removes the item; for one that others refer to, use `writer.remove`, which sets the condition `unless`."""
        entity = self.model.entities[item.entity]
        if unless is None and self.model.referrers.get(entity.name):
            raise Internal(f"others refer to {entity.name}; remove it with `await writer.remove(change, item)`")
        version = item.values[self.model.table.version]
        values = {name: value for name, value in item.values.items() if name in entity.attribute}
        original, *copies = items_for(self.model, entity, self.tenant, values)
        names, operands = {"#v": self.model.table.version}, {":v": {"N": str(version)}}
        condition = "#v = :v"
        if unless is not None:
            condition += unless.add(names, operands)
        body = _conditional(condition, names, operands)
        if entity.name in self.model.counted:
            add_condition(self.model, entity, values, body, self._marks(item))
        self._add("Delete", self._key(original), body, self._conflict(entity, values))
        for copy in copies:
            self._add("Delete", self._key(copy), {})
        for attribute in entity.unique:
            self._release(entity, attribute, values)
        self._count(entity, values, None, self._marks(item))
        self._give_up(entity, values, {})
        return item

    def add(self, name: str, key: Values, amounts: Mapping[str, int], fault: Fault, *, never_below_zero: bool) -> None:
        """Adds to numbers without reading them first, so that concurrent increments are never lost.

        OUT_OF_RANGE if a number would exceed the bounds of its type; `fault` for any other reason.
        """
        entity = self.model.entities[name]
        if any(set(amounts) & place.names for place in entity.placements):
            raise Internal(f"a number that is part of a key of {name} cannot be added to")
        if entity.copies:
            raise Internal(f"{name} has copies, which adding to a number would leave behind")
        if any(set(amounts) & set(upgrade.gives) for upgrade in entity.upgrades):
            raise Internal(f"a number that an upgrade of {name} gives cannot be added to")
        at = item_key(self.tenant, entity, key)
        names = {"#v": self.model.table.version, "#pk": self.model.table.pk}
        values: Wire = {":one": {"N": "1"}}
        parts, conditions = ["#v :one"], ["attribute_exists(#pk)"]
        floor = 0 if never_below_zero else None
        for position, (attribute, amount) in enumerate(sorted(amounts.items())):
            names[f"#a{position}"], values[f":a{position}"] = attribute, {"N": str(amount)}
            parts.append(f"#a{position} :a{position}")
            bound = bound_of(entity, attribute, amount, floor)
            if bound is not None:
                values[f":m{position}"] = {"N": str(bound.limit)}
                conditions.append(bound.condition(f"#a{position}", f":m{position}"))
        body = _conditional(" AND ".join(conditions), names, values)
        expression = {**body, "UpdateExpression": f"ADD {', '.join(parts)}"}
        self._add("Update", at, expression, fault, Sums(name, key, amounts, floor))

    def require(self, name: str, key: Values, fault: Fault, **values: Any) -> None:
        """Requires that the item exists with these values, without changing it."""
        entity = self.model.entities[name]
        names, operands = {"#pk": self.model.table.pk}, {}
        for position, (attribute, value) in enumerate(values.items()):
            names[f"#r{position}"] = attribute
            operands[f":r{position}"] = entity.attribute[attribute].encode(value)
        conditions = ["attribute_exists(#pk)", *(f"#r{position} = :r{position}" for position in range(len(values)))]
        body = _conditional(" AND ".join(conditions), names, operands)
        self._add("ConditionCheck", item_key(self.tenant, entity, key), body, fault)

    def unchanged(self, item: Item) -> None:
        """Requires that the item is still as it was read; CONFLICT otherwise."""
        entity = self.model.entities[item.entity]
        names, operands = {"#v": self.model.table.version}, {":v": {"N": str(item.values[self.model.table.version])}}
        key = item_key(self.tenant, entity, item.values)
        fault = self._conflict(entity, item.values)
        self._add("ConditionCheck", key, _conditional("#v = :v", names, operands), fault)

    @property
    def now(self) -> datetime | None:
        return self.clock() if self.clock is not None else None

    def _refer(self, entity: Entity, values: Values, changed: Container[str]) -> None:
        """Requires that items which this item newly refers to exist when the change is written."""
        for reference in entity.checked_references:
            target = referred(self.model, entity, reference, values)
            if target is not None and any(name in changed for name in target.bound):
                self.append(reference_member(self.model, self.tenant, target))

    def _give_up(self, entity: Entity, before: Values, after: Values) -> None:
        for name in (file.name for file in entity.files):
            old, new = before.get(name), after.get(name)
            if old is not None and (new is None or new["uploadId"] != old["uploadId"]):
                self.given_up.append(object_key(self.tenant, entity, name, before, old["uploadId"]))

    def _count(
        self, entity: Entity, before: Values | None, after: Values | None, marks: frozenset[str] = NO_MARKS
    ) -> None:
        if entity.name in self.model.counted:
            for member in counter_members(self.model, entity, self.tenant, before, after, marks):
                self.append(member)

    def _marks(self, item: Item) -> frozenset[str]:
        marks: frozenset[str] = item.values.get(self.model.table.counted_by, NO_MARKS)
        return marks

    def append(self, member: Member) -> None:
        if member.fault is not None:
            check_declared(self.model, member.fault)
        if not self.members:
            self.members.append(member)
            return
        other = next((other for other in self.members if other.key == member.key), None)
        joined = joined_members(other, member) if other is not None else None
        if other is not None and joined is not None:
            self.members[self.members.index(other)] = joined
            return
        if len(self.members) >= MAX_MEMBERS:
            raise LimitExceeded(f"the change has more than {MAX_MEMBERS} parts, which is what one transaction takes")
        if other is not None:
            raise Internal("one item is written twice in a transaction")
        self.members.append(member)

    def put_raw(self, item: Wire, condition: str, names: Mapping[str, str], values: Wire, fault: Fault) -> None:
        """Adds an item of the gateway itself, such as an idempotency record."""
        self._add("Put", self._key(item), {**_conditional(condition, names, values), "Item": item}, fault)

    def _put(
        self, entity: Entity, item: Wire, condition: str = "", values: Wire | None = None, fault: Fault | None = None
    ) -> None:
        if size := check_size(entity.name, item):
            self.large = (*self.large, (entity.name, size))
        extra: Wire = {"ConditionExpression": condition} if condition else {}
        self._add("Put", self._key(item), {"Item": item, **extra, **(values or {})}, fault)

    def _move_copies(self, entity: Entity, old: list[Wire], new: list[Wire]) -> None:
        kept = {self._key(copy) for copy in new}
        for copy in old:
            if self._key(copy) not in kept:
                self._add("Delete", self._key(copy), {})
        for copy in new:
            self._put(entity, copy)

    def _claim(self, entity: Entity, attribute: str, values: Values) -> None:
        if values.get(attribute) is None:
            return
        key = self._unique(entity, attribute, values)
        owner = item_key(self.tenant, entity, values)
        item: Wire = {
            **key_of(self.model.table, key),
            self.model.table.entity_type: {"S": UNIQUE.title()},
            "owner": {"S": f"{owner.pk}/{owner.sk}"},
        }
        fault = Fault(UserErrorCode.ALREADY_EXISTS, f"this `{attribute}` is taken", attribute)
        self._put(entity, item, f"attribute_not_exists({self.model.table.pk})", {}, fault)

    def _release(self, entity: Entity, attribute: str, values: Values) -> None:
        if values.get(attribute) is not None:
            self._add("Delete", self._unique(entity, attribute, values), {})

    def _unique(self, entity: Entity, attribute: str, values: Values) -> ItemKey:
        kind: Any = entity.attribute[attribute].type  # a key type, which the model has checked
        text = kind.key_text(attribute, values[attribute])
        return ItemKey(partition(self.tenant, f"{UNIQUE}#{entity.name}#{attribute}#{text}"), UNIQUE)

    def _conflict(self, entity: Entity, values: Values) -> Fault:
        message = f"this {entity.name} has been changed or removed meanwhile"
        return Fault(UserErrorCode.CONFLICT, message, "version", entity=entity.name, key=values)

    def _item(self, entity: Entity, values: Values, version: int, marks: frozenset[str] = NO_MARKS) -> Item:
        item_values = dict(values)
        if marks and entity.name in self.model.filling:
            item_values[self.model.table.counted_by] = marks
        item_values[self.model.table.version] = version
        return Item(entity.name, item_values, "")

    def _key(self, item: Wire) -> ItemKey:
        return ItemKey(item[self.model.table.pk]["S"], item[self.model.table.sk]["S"])

    def _add(
        self,
        kind: Literal["Put", "Update", "Delete", "ConditionCheck"],
        key: ItemKey,
        body: Wire,
        fault: Fault | None = None,
        sums: Sums | None = None,
    ) -> None:
        at = {} if kind == "Put" else {"Key": key_of(self.model.table, key)}
        self.append(Member(kind, key, {**at, **body}, fault, sums=sums))


def _conditional(condition: str, names: Mapping[str, str], values: Wire) -> Wire:
    body: Wire = {"ConditionExpression": condition}
    if names:
        body["ExpressionAttributeNames"] = dict(names)
    if values:
        body["ExpressionAttributeValues"] = values
    return body


def created(model: Model, entity: str, tenant: TenantId, values: Values) -> list[Wire]:
    """Returns all rows that creating the item writes, for seeds; references are not checked.

    Counter rows contain what this item adds; `add_row` sums the rows of many items.
    """
    change = Change(model, tenant, clock=None)
    change.create(entity, values)
    rows = [member.body["Item"] for member in change.members if member.kind == "Put"]
    return [*rows, *(counter_row(model, member) for member in change.members if member.counts is not None)]
