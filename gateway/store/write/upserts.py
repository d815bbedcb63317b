"""Writes without a prior read: upserts in a transaction, increments, and bulk writes in batches of 25."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.backoff import full_jitter
from gateway.errors import Internal, Throttled, Unavailable
from gateway.model.entity import Entity, Reference
from gateway.model.error_code import UserErrorCode
from gateway.model.keys import ItemKey, item_key
from gateway.model.model import Model
from gateway.model.types import Wire
from gateway.store.access import Access, gather_or_cancel
from gateway.store.rows import Item
from gateway.store.table import Table
from gateway.store.wire import key_of
from gateway.store.write.change import Change
from gateway.store.write.faults import Fault
from gateway.store.write.increments import Sums, bound_of
from gateway.store.write.items import check_size, items_for
from gateway.store.write.member import Member
from gateway.store.write.rules import new_values

Values = Mapping[str, Any]

_CHUNK = 25
_PARALLEL = 4
_PATIENCE = 10.0  # seconds to retry if the request has no deadline
_SHARE = 0.9  # of the remaining time; the rest is for reporting what was not written
_FIRST_PAUSE, _LONGEST_PAUSE = 0.025, 1.0


def replace(change: Change, name: str, values: Values) -> Item:
    """Puts the item, whether or not it exists, so that a repeat has no effect."""
    item = replacement(change, name, values)
    change.append(Member("Put", _key(change, item), {"Item": item}))
    return Item(name, {**values, change.model.table.version: 1}, "")


def newest(change: Change, name: str, values: Values, by: str) -> None:
    """Puts the item unless a newer one by the timestamp `by` exists; the rest of the change is written without it."""
    item = replacement(change, name, values)
    body: Wire = {
        "Item": item,
        "ConditionExpression": "attribute_not_exists(#pk) OR #by <= :by",
        "ExpressionAttributeNames": {"#pk": change.model.table.pk, "#by": by},
        "ExpressionAttributeValues": {":by": item[by]},
    }
    change.append(Member("Put", _key(change, item), body, optional=True))


def tally(change: Change, name: str, key: Values, amounts: Mapping[str, int]) -> None:
    """Adds to the numbers of an item that has only a key and numbers, and creates it if it is missing.

    OUT_OF_RANGE if a number would exceed the bounds of its type.
    """
    entity, table = change.model.entities[name], change.model.table
    attribute_names = {*key, *amounts}
    if len(entity.placements) > 1 or any(
        declared.required and declared.name not in attribute_names for declared in entity.attributes
    ):
        raise Internal(f"{name} is more than a number, so it cannot be made by adding to it")
    if name in change.model.counted:
        raise Internal(f"{name} is counted, which adding to a number would pass over")
    if entity.upgrades:
        raise Internal(f"{name} has upgrades, which adding to a number would pass over")
    sets: Wire = {table.entity_type: {"S": name}}
    sets |= {key_name: entity.attribute[key_name].encode(value) for key_name, value in key.items()}
    adds = {table.version: 1, **amounts}
    names = {f"#{position}": stored_name for position, stored_name in enumerate((*sets, *adds))}
    values: Wire = {f":{position}": value for position, value in enumerate(sets.values())}
    values |= {f":{len(sets) + position}": {"N": str(amount)} for position, amount in enumerate(adds.values())}
    parts = [f"#{position} = :{position}" for position in range(len(sets))]
    sums = [f"#{position} :{position}" for position in range(len(sets), len(names))]
    conditions = []
    for position, (attribute, amount) in enumerate(amounts.items(), start=len(sets) + 1):
        bound = bound_of(entity, attribute, amount, absent=True)
        if bound is not None:
            values[f":m{position}"] = {"N": str(bound.limit)}
            conditions.append(bound.condition(f"#{position}", f":m{position}"))
    at = item_key(change.tenant, entity, key)
    body: Wire = {
        "Key": key_of(table, at),
        "UpdateExpression": f"SET {', '.join(parts)} ADD {', '.join(sums)}",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
    if conditions:
        body["ConditionExpression"] = " AND ".join(conditions)
    fault = Fault(UserErrorCode.OUT_OF_RANGE, f"a number of {name} would leave its bounds")
    change.append(Member("Update", at, body, fault, sums=Sums(name, key, amounts)))


def discard(change: Change, name: str, key: Values) -> None:
    """Removes the item, whether or not it exists."""
    entity = _alone(change.model, change.model.entities[name])
    at = item_key(change.tenant, entity, key)
    change.append(Member("Delete", at, {"Key": key_of(change.model.table, at)}))


def replacement(change: Change, name: str, values: Values) -> Wire:
    """Returns the stored form of an item that replaces any existing one."""
    entity = _alone(change.model, change.model.entities[name])
    if any(isinstance(relation, Reference) and relation.checked for relation in entity.relations):
        raise Internal(f"{name} has references that are checked; use `change.create`")
    [item] = items_for(change.model, entity, change.tenant, new_values(entity, values, change.now))
    if size := check_size(name, item):
        change.large = (*change.large, (name, size))
    return item


def _alone(model: Model, entity: Entity) -> Entity:
    # INVARIANT: an item with copies or unique values is not replaced unread, or those of the old one would stay.
    if entity.copies or entity.unique:
        raise Internal(f"{entity.name} has copies or unique values and cannot be replaced unread")
    if entity.files:
        raise Internal(f"{entity.name} has files, which would be left behind, and cannot be replaced unread")
    # the same applies to counted items: the counters depend on whether there was one before
    if entity.name in model.counted:
        raise Internal(f"{entity.name} is counted and cannot be replaced unread")
    return entity


def _key(change: Change, item: Wire) -> ItemKey:
    return ItemKey(item[change.model.table.pk]["S"], item[change.model.table.sk]["S"])


async def put_all(table: Table, access: Access, items: Sequence[Wire]) -> None:
    """Writes every item over any existing one, so a repeat is safe; an error says how many were not written."""
    now = asyncio.get_running_loop().time()
    give_up = now + _PATIENCE if access.deadline is None else now + _SHARE * (access.deadline - now)
    chunks = [items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK)]
    left = 0
    for start in range(0, len(chunks), _PARALLEL):
        wave = chunks[start : start + _PARALLEL]
        left += sum(await gather_or_cancel([_put_chunk(table, access, chunk, give_up) for chunk in wave]))
    if left:
        raise Throttled(f"{left} of {len(items)} items were not written in time; send them again")


async def _put_chunk(table: Table, access: Access, items: Sequence[Wire], give_up: float) -> int:
    """Returns how many items are left when time is up or DynamoDB refuses."""
    clock, name = asyncio.get_running_loop().time, access.session.tenancy.table
    left = [{"PutRequest": {"Item": item}} for item in items]
    if not access.session.permissions.check("BatchWriteItem", {"RequestItems": {name: left}}).allowed:
        return await _put_singly(table, access, items, give_up)
    attempt = 0
    while left and clock() < give_up:
        body = {"RequestItems": {name: left}, "ReturnConsumedCapacity": "TOTAL"}
        try:
            answer = await table.call(access, "BatchWriteItem", body)
        except (Throttled, Unavailable):
            # the client has retried; whether it was written is unknown, but writing it twice does no harm
            return len(left)
        left = answer.get("UnprocessedItems", {}).get(name, [])
        if left:
            delay = full_jitter(attempt, _FIRST_PAUSE, _LONGEST_PAUSE)
            await asyncio.sleep(max(0.0, min(delay, give_up - clock())))
            attempt += 1
    return len(left)


async def _put_singly(table: Table, access: Access, items: Sequence[Wire], give_up: float) -> int:
    """Used for roles that may not remove items: IAM cannot grant the puts of a batch without its deletes."""
    clock, name = asyncio.get_running_loop().time, access.session.tenancy.table
    for number, item in enumerate(items):
        if clock() >= give_up:
            return len(items) - number
        try:
            await table.call(access, "PutItem", {"TableName": name, "Item": item, "ReturnConsumedCapacity": "TOTAL"})
        except (Throttled, Unavailable):
            return len(items) - number
    return 0
