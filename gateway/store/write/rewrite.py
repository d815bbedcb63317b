"""The Update that brings a stored item to its new state, provided that it has not changed in the meantime."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.store.write.items import check_size, items_before_and_after, parts_before_and_after


class Rewrite(msgspec.Struct, frozen=True):
    """What is set and what is removed, apart from the key and the version; `size` as `check_size` returns it."""

    sets: Wire
    removes: tuple[str, ...]
    size: int = 0
    old_copies: list[Wire] = []
    new_copies: list[Wire] = []


def rewrite(
    model: Model,
    entity: Entity,
    tenant: TenantId,
    before: Mapping[str, Any],
    changes: Mapping[str, Any],
    version: int,
    *,
    whole: bool,
) -> Rewrite:
    """Returns how changes of values change the item: only what they affect, unless it is to be rewritten `whole`."""
    if not whole and not entity.copies:
        old_parts, new_parts, size = parts_before_and_after(model, entity, tenant, before, changes)
        return difference(old_parts, new_parts, size)
    old, new = items_before_and_after(model, entity, tenant, before, changes, version)
    size = check_size(entity.name, new[0])
    change = everything(model, entity, old[0], new[0]) if whole else difference(old[0], new[0])
    return Rewrite(change.sets, change.removes, size, old[1:], new[1:])


def difference(before: Wire, after: Wire, size: int = 0) -> Rewrite:
    """Returns only the differences, so that attributes unknown to this model stay as they are."""
    sets = {name: value for name, value in after.items() if before.get(name) != value}
    return Rewrite(sets, tuple(sorted(before.keys() - after.keys())), size)


def everything(model: Model, entity: Entity, before: Wire, after: Wire) -> Rewrite:
    """Rewrites the whole item, because it is stored in an older schema or has outdated index keys."""
    table = model.table
    fixed = {table.pk, table.sk, table.version}
    gone = (set(before) | entity.retired | derived_names(model)) - set(after)
    return Rewrite({name: value for name, value in after.items() if name not in fixed}, tuple(sorted(gone)))


def derived_names(model: Model) -> frozenset[str]:
    """Returns what is derived from the values of an item, apart from its own key."""
    return frozenset({model.table.ttl, *(name for index in model.table.indexes for name in (index.pk, index.sk))})


def update_body(model: Model, entity: Entity, change: Rewrite, version: int, becomes: int) -> Wire:
    """Builds the UpdateExpression and the condition; `becomes` is the new version."""
    names = {"#v": model.table.version, "#schema": model.table.schema}
    values: Wire = {":v": {"N": str(version)}}
    sets, removes = [], []
    if becomes != version:
        values[":w"] = {"N": str(becomes)}
        sets.append("#v = :w")
    for position, (name, value) in enumerate(sorted(change.sets.items())):
        names[f"#s{position}"], values[f":s{position}"] = name, value
        sets.append(f"#s{position} = :s{position}")
    for position, name in enumerate(change.removes):
        names[f"#r{position}"] = name
        removes.append(f"#r{position}")
    condition = "#v = :v AND attribute_not_exists(#schema)"
    if entity.schema > 1:
        values[":schema"] = {"N": str(entity.schema)}
        condition += " OR #v = :v AND #schema <= :schema"
    return {
        # INVARIANT: an item that a newer release has stored is not changed by one that does not know its schema.
        "ConditionExpression": condition,
        "UpdateExpression": _expression(sets, removes),
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
    }


def _expression(sets: list[str], removes: list[str]) -> str:
    if not removes:
        return f"SET {', '.join(sets)}" if sets else ""
    remove = f"REMOVE {', '.join(removes)}"
    return f"SET {', '.join(sets)} {remove}" if sets else remove
