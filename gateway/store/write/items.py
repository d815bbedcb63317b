"""Stored items: their keys, index keys, copies, expiry and discriminator are derived here, never taken from input."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import orjson

from gateway.errors import BadUserInput, LimitExceeded
from gateway.model.entity import Entity, Placement
from gateway.model.keys import item_key, rendered
from gateway.model.model import Model
from gateway.model.tenant import TenantId, partition
from gateway.model.types import Wire
from gateway.store.capacity_units import READ_BLOCK


def items_for(
    model: Model, entity: Entity, tenant: TenantId, values: Mapping[str, Any], version: int = 1
) -> list[Wire]:
    """Returns the item and its copies, which are written together or not at all."""
    content = _content(model, entity, values, version)
    return _items(model, entity, _keys(model, entity, tenant, values), content, content)


def items_before_and_after(
    model: Model, entity: Entity, tenant: TenantId, before: Mapping[str, Any], changes: Mapping[str, Any], version: int
) -> tuple[list[Wire], list[Wire]]:
    """Returns what is stored and what will be; encodes only changed values, and rebuilds only the keys they affect.

    Copies will have `version`; the update sets that of the item itself.
    """
    content, keys = _content(model, entity, before, 1), _keys(model, entity, tenant, before)
    after = {name: value for name, value in {**before, **changes}.items() if value is not None}
    new_content = _changed_content(model, entity, content, after, changes)
    new_keys = [
        key if place.decided_by.isdisjoint(changes) else _key_in(model, entity, tenant, after, place)
        for place, key in zip(entity.placements, keys, strict=True)
    ]
    copied = {**new_content, model.table.version: {"N": str(version)}} if entity.copies else new_content
    return _items(model, entity, keys, content, content), _items(model, entity, new_keys, new_content, copied)


def parts_before_and_after(
    model: Model,
    entity: Entity,
    tenant: TenantId,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    changes: Mapping[str, Any],
) -> tuple[Wire, Wire, int]:
    """Returns only what the changes affect, and the size of the new item as `check_size` does.

    For an item without copies: its values, its expiry and its index keys.
    """
    content = _content(model, entity, before, 1)
    new_content = _changed_content(model, entity, content, after, changes)
    old, new = {}, {}
    for name in changes if entity.expiry is None else (*changes, model.table.ttl):
        if name in content:
            old[name] = content[name]
        if name in new_content:
            new[name] = new_content[name]
    for place in entity.placements:
        if not place.decided_by.isdisjoint(changes):
            old |= _key_in(model, entity, tenant, before, place) or {}
            new |= _key_in(model, entity, tenant, after, place) or {}
    if len(orjson.dumps(new_content)) + model.longest_keys[entity.name] <= min(READ_BLOCK, MAX_ITEM_BYTES):
        return old, new, 0
    [whole] = items_for(model, entity, tenant, after)
    return old, new, check_size(entity.name, whole)


def _items(model: Model, entity: Entity, keys: list[Wire | None], content: Wire, copied: Wire) -> list[Wire]:
    """`keys` are those of each placement."""
    # INVARIANT: index keys are derived by the model, never taken from input.
    original, copies = {**(keys[0] or {}), **content}, []
    for place, key in zip(entity.placements, keys, strict=True):
        if key is not None and place.index is not None:
            original |= key
        elif key is not None and place is not entity.primary:
            # a copy has no index keys; otherwise the item would be found twice
            copies.append({**key, **copied, model.table.copy_of: {"S": place.name}})
    return [original, *copies]


def _content(model: Model, entity: Entity, values: Mapping[str, Any], version: int) -> Wire:
    _check_names(entity, values)
    content: Wire = {model.table.entity_type: {"S": entity.name}, model.table.version: {"N": str(version)}}
    if entity.schema > 1:
        content[model.table.schema] = {"N": str(entity.schema)}
    for name, encode, required in entity.encoders:
        value = values.get(name)
        if value is not None:
            content[name] = encode(value)
        elif required:
            raise _required(entity, name)
    if entity.expiry is not None:
        content |= _expiry(model, entity, values)
    return content


def _changed_content(
    model: Model, entity: Entity, content: Wire, after: Mapping[str, Any], changes: Mapping[str, Any]
) -> Wire:
    _check_names(entity, changes)
    content = dict(content)
    for name in changes:
        attribute = entity.attribute[name]
        if name in after:
            content[name] = attribute.encode(after[name])
        elif attribute.required:
            raise _required(entity, name)
        else:
            content.pop(name, None)
    if entity.expiry is not None:
        content.pop(model.table.ttl, None)
        content |= _expiry(model, entity, after)
    return content


def _check_names(entity: Entity, values: Mapping[str, Any]) -> None:
    if not values.keys() <= entity.attribute.keys():
        unknown = set(values) - set(entity.attribute)
        raise BadUserInput(f"{entity.name} has no attribute `{min(unknown)}`")


def _required(entity: Entity, name: str) -> BadUserInput:
    return BadUserInput(f"`{name}` of {entity.name} is required", name)


def _expiry(model: Model, entity: Entity, values: Mapping[str, Any]) -> Wire:
    expires = expires_at(entity, values)
    return {} if expires is None else {model.table.ttl: {"N": str(int(expires.timestamp()))}}


def expires_at(entity: Entity, values: Mapping[str, Any]) -> datetime | None:
    if entity.expiry is None:
        return None
    base = values.get(entity.expiry.at or entity.expiry.since or "")
    return base + entity.expiry.after if isinstance(base, datetime) else None


def _keys(model: Model, entity: Entity, tenant: TenantId, values: Mapping[str, Any]) -> list[Wire | None]:
    return [_key_in(model, entity, tenant, values, place) for place in entity.placements]


def _key_in(model: Model, entity: Entity, tenant: TenantId, values: Mapping[str, Any], place: Placement) -> Wire | None:
    """Returns the key of the item in this placement; None if it has no place in an index."""
    table = model.table
    if place.index is None:
        key = item_key(tenant, entity, values, place)
        return {table.pk: {"S": key.pk}, table.sk: {"S": key.sk}}
    texts = rendered(entity, place, values)
    if texts is None:
        return None
    [index] = [index for index in table.indexes if index.name == place.index]
    return {index.pk: {"S": partition(tenant, texts[0])}, index.sk: {"S": texts[1]}}


# The size of an item as DynamoDB counts it: names and values, with a small overhead for each nesting level.

MAX_ITEM_BYTES = 400 * 1024


def item_bytes(item: dict[str, Any]) -> int:
    return sum(len(name.encode()) + _value(value) for name, value in item.items())


def _value(wire: dict[str, Any]) -> int:
    [(kind, value)] = wire.items()
    match kind:
        case "S":
            return len(value.encode())
        case "N":
            return _number(value)
        case "B":
            return len(value) * 3 // 4
        case "BOOL" | "NULL":
            return 1
        case "SS":
            return sum(len(member.encode()) for member in value)
        case "NS":
            return sum(_number(member) for member in value)
        case "BS":
            return sum(len(member) * 3 // 4 for member in value)
        case "L":
            return 3 + sum(1 + _value(member) for member in value)
        case _:
            return 3 + sum(1 + len(name.encode()) + _value(member) for name, member in value.items())


def _number(text: str) -> int:
    digits = len(text.replace("-", "").replace(".", "").strip("0"))
    return (digits + 1) // 2 + 1 + text.startswith("-")


def check_size(entity: str, item: dict[str, Any]) -> int:
    """Returns the size of the item, or 0 if it is as small as most."""
    # the JSON contains all names and values, with more overhead than DynamoDB counts
    length = len(orjson.dumps(item))
    if length <= READ_BLOCK and length <= MAX_ITEM_BYTES:
        return 0
    size = item_bytes(item)
    if size > MAX_ITEM_BYTES:
        raise LimitExceeded(f"this {entity} has {size} bytes; an item may have {MAX_ITEM_BYTES}")
    return size
