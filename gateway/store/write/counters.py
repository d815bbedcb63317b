"""Counters of listings: what a change of an item adds to them, as members of the same transaction."""

from collections.abc import Iterator, Mapping, Set
from typing import Any
from zlib import crc32

from msgspec.structs import replace

from gateway.model.entity import Entity
from gateway.model.keys import ItemKey, item_key, rendered
from gateway.model.model import Model
from gateway.model.patterns import SLOT, Listing, parameters
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.store.wire import key_of
from gateway.store.write.member import Member

Values = Mapping[str, Any]

_NUMBER = ":number"


NO_MARKS: frozenset[str] = frozenset()


def counter_members(
    model: Model,
    entity: Entity,
    tenant: TenantId,
    before: Values | None,
    after: Values | None,
    marks: Set[str] = NO_MARKS,
) -> Iterator[Member]:
    """Yields, for each listing that counts the entity, one less where the item was and one more where it is now.

    Both values are whole items, None if there is none. `marks` are the listings whose counters include the item; they
    matter only for a counter that is being filled.

    INVARIANT: these are written with the item or not at all.
    """
    for listing in model.counted[entity.name]:
        was, now = _before(model, entity, listing, before, marks), _group(model, entity, listing, after)
        if was == now:
            continue
        values = after if after is not None else before
        if was is not None:
            yield _member(model, listing, tenant, {**was, SLOT: _slot(entity, tenant, listing, values)}, -1)
        if now is not None:
            yield _member(model, listing, tenant, {**now, SLOT: _slot(entity, tenant, listing, values)}, 1)


def _group(model: Model, entity: Entity, listing: Listing, values: Values | None) -> dict[str, Any] | None:
    """Returns the parameters with which the listing contains the item; None if it does not."""
    if values is None or rendered(entity, model.place(listing), values) is None:
        return None
    return {name: values[name] for name in parameters(model, listing)}


def _before(
    model: Model, entity: Entity, listing: Listing, values: Values | None, marks: Set[str]
) -> dict[str, Any] | None:
    """Returns the parameters that the item is counted under; None if it is older than the counter and not in it."""
    known = listing.total_count is not None or listing.name in marks
    return _group(model, entity, listing, values) if known else None


# Marks: an item names the listings that count it, so that a counter can be filled with items older than itself.


def entered(
    model: Model, entity: Entity, before: Values | None, after: Values, marks: Set[str] = NO_MARKS
) -> frozenset[str]:
    """Returns the listings that count the item from this write on.

    A release whose counter is complete also marks items, because a release that still fills it may run at the same
    time.
    """
    return frozenset(
        listing.name
        for listing in model.counted.get(entity.name, ())
        if _before(model, entity, listing, before, marks) is None and _group(model, entity, listing, after) is not None
    )


def uncounted(model: Model, entity: Entity, tenant: TenantId, values: Values, marks: Set[str]) -> dict[str, Member]:
    """Returns, by listing, what adds the item to the counters that are being filled and lack it; for a backfill."""
    members = {}
    for listing in model.filling.get(entity.name, ()):
        group = None if listing.name in marks else _group(model, entity, listing, values)
        if group is not None:
            slot = {SLOT: _slot(entity, tenant, listing, values)}
            members[listing.name] = _member(model, listing, tenant, {**group, **slot}, 1)
    return members


def marked(names: Set[str]) -> Wire:
    return {"SS": sorted(names)}


def add_marks(model: Model, names: Set[str], body: Wire) -> None:
    """Extends an Update to mark that these listings count the item."""
    if names:
        body["ExpressionAttributeNames"]["#marks"] = model.table.counted_by
        body["ExpressionAttributeValues"][":entered"] = marked(names)
        body["UpdateExpression"] = f"{body['UpdateExpression']} ADD #marks :entered".lstrip()


def _slot(entity: Entity, tenant: TenantId, listing: Listing, values: Values | None) -> int:
    """Chooses the shard by the item's own key, so that an item is subtracted from the row that it was added to."""
    key = item_key(tenant, entity, values or {})
    return crc32(f"{key.pk}/{key.sk}".encode()) % (listing.counter.shards if listing.counter is not None else 1)


def _member(model: Model, listing: Listing, tenant: TenantId, values: Values, number: int) -> Member:
    table, counter = model.table, model.counters[listing.name]
    key = item_key(tenant, counter, values)
    body: Wire = {
        "Key": key_of(table, key),
        "UpdateExpression": "SET #type = :type ADD #number :number",
        "ExpressionAttributeNames": {"#type": table.entity_type, "#number": table.counted},
        "ExpressionAttributeValues": {":type": {"S": counter.name}, _NUMBER: {"N": str(number)}},
    }
    return Member("Update", key, body, counts=number)


def add_condition(model: Model, entity: Entity, before: Values, body: Wire, marks: Set[str] = NO_MARKS) -> None:
    """Extends the condition of a write: whatever decides how the item is counted must be as it was read.

    INVARIANT: a version alone is not enough: an item that was removed and created again has version 1 again, and the
    earlier item's counts would be subtracted for the new one.
    """
    names, values = body["ExpressionAttributeNames"], body["ExpressionAttributeValues"]
    listings = model.counted.get(entity.name, ())
    decided = {name for listing in listings for name in (*model.place(listing).decided_by, *parameters(model, listing))}
    terms = []
    for position, name in enumerate(sorted(decided - set(entity.key_names))):
        names[f"#c{position}"] = name
        if before.get(name) is None:
            terms.append(f"attribute_not_exists(#c{position})")
        else:
            values[f":c{position}"] = entity.attribute[name].encode(before[name])
            terms.append(f"#c{position} = :c{position}")
    if entity.name in model.filling:
        # the backfill marks an item without changing its version
        names["#marks"] = model.table.counted_by
        if marks:
            values[":marks"] = marked(marks)
        terms.append("#marks = :marks" if marks else "attribute_not_exists(#marks)")
    if terms:
        body["ConditionExpression"] = " AND ".join([f"({body['ConditionExpression']})", *terms])


def joined_counts(known: Member, new: Member) -> Member:
    """Joins two members that add to the same row."""
    number = (known.counts or 0) + (new.counts or 0)
    values = {**known.body["ExpressionAttributeValues"], _NUMBER: {"N": str(number)}}
    return replace(known, body={**known.body, "ExpressionAttributeValues": values}, counts=number)


def counter_row(model: Model, member: Member) -> Wire:
    """Returns the row that the member creates if there is none."""
    values = member.body["ExpressionAttributeValues"]
    named = {model.table.entity_type: values[":type"], model.table.counted: values[_NUMBER]}
    return {**key_of(model.table, member.key), **named}


def add_row(model: Model, rows: dict[ItemKey, Wire], row: Wire) -> bool:
    """Adds a row to others; False if its key exists. Counter rows are summed."""
    table = model.table
    key = ItemKey(row[table.pk]["S"], row[table.sk]["S"])
    old_row = rows.get(key)
    if old_row is not None and table.counted not in row:
        return False
    if old_row is not None:
        number = int(old_row[table.counted]["N"]) + int(row[table.counted]["N"])
        row = {**row, table.counted: {"N": str(number)}}
    rows[key] = row
    return True
