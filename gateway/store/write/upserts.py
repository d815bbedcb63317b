"""Writes that need not know what was there before, so that many can make them at once without conflicts."""

from collections.abc import Mapping
from typing import Any

from gateway.errors import Internal
from gateway.model.entity import Entity
from gateway.model.keys import ItemKey, item_key
from gateway.model.types import Wire
from gateway.store.rows import Item
from gateway.store.wire import key_of
from gateway.store.write.change import Change, Member
from gateway.store.write.items import check_size, items_for

Values = Mapping[str, Any]


def replace(change: Change, name: str, values: Values) -> Item:
    """The item, whether it is there or not: written twice, it is there once."""
    item = replacement(change, name, values)
    change.append(Member("Put", _key(change, item), {"Item": item}))
    return Item(name, {**values, change.model.table.version: 1}, "")


def newest(change: Change, name: str, values: Values, by: str) -> None:
    """The item, unless a newer one by the timestamp `by` is there; then the rest of the change goes without it."""
    item = replacement(change, name, values)
    body: Wire = {
        "Item": item,
        "ConditionExpression": "attribute_not_exists(#pk) OR #by <= :by",
        "ExpressionAttributeNames": {"#pk": change.model.table.pk, "#by": by},
        "ExpressionAttributeValues": {":by": item[by]},
    }
    change.append(Member("Put", _key(change, item), body, optional=True))


def tally(change: Change, name: str, key: Values, amounts: Mapping[str, int]) -> None:
    """Adds to the numbers of an item that is nothing but its key and numbers, and makes it where there is none."""
    entity, table = change.model.entities[name], change.model.table
    given = {*key, *amounts}
    if len(entity.placements) > 1 or any(each.required and each.name not in given for each in entity.attributes):
        raise Internal(f"{name} is more than a number, so it cannot be made by adding to it")
    if entity.upgrades:
        raise Internal(f"{name} has upgrades, which adding to a number would pass over")
    sets: Wire = {table.entity_type: {"S": name}}
    sets |= {each: entity.attribute[each].encode(value) for each, value in key.items()}
    adds = {table.version: 1, **amounts}
    names = {f"#{position}": each for position, each in enumerate((*sets, *adds))}
    values: Wire = {f":{position}": value for position, value in enumerate(sets.values())}
    values |= {f":{len(sets) + position}": {"N": str(amount)} for position, amount in enumerate(adds.values())}
    parts = [f"#{position} = :{position}" for position in range(len(sets))]
    sums = [f"#{position} :{position}" for position in range(len(sets), len(names))]
    at = item_key(change.tenant, entity, key)
    body: Wire = {
        "Key": key_of(table, at),
        "UpdateExpression": f"SET {', '.join(parts)} ADD {', '.join(sums)}",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }
    change.append(Member("Update", at, body))


def discard(change: Change, name: str, key: Values) -> None:
    """The item is gone afterwards, whether it was there or not."""
    entity = _alone(change.model.entities[name])
    at = item_key(change.tenant, entity, key)
    change.append(Member("Delete", at, {"Key": key_of(change.model.table, at)}))


def replacement(change: Change, name: str, values: Values) -> Wire:
    """The item as it is stored in place of whatever is there."""
    entity = _alone(change.model.entities[name])
    [item] = items_for(change.model, entity, change.tenant, values)
    check_size(name, item)
    return item


def _alone(entity: Entity) -> Entity:
    # INVARIANT: what has copies or unique values is not replaced unread, or those of the old one would stay.
    if entity.copies or entity.unique:
        raise Internal(f"{entity.name} has copies or unique values and cannot be replaced unread")
    return entity


def _key(change: Change, item: Wire) -> ItemKey:
    return ItemKey(item[change.model.table.pk]["S"], item[change.model.table.sk]["S"])
