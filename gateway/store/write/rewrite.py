"""The Update that brings a stored item to its new state, provided that it has not changed in the meantime."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

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
    after: Mapping[str, Any],
    changes: Mapping[str, Any],
    version: int,
    *,
    whole: bool,
) -> Rewrite:
    """Returns how changes of values change the item: only what they affect, unless it is to be rewritten `whole`."""
    if not whole and not entity.copies:
        old_parts, new_parts, size = parts_before_and_after(model, entity, tenant, before, after, changes)
        return difference(old_parts, new_parts, size)
    old, new = items_before_and_after(model, entity, tenant, before, changes, version)
    size = check_size(entity.name, new[0])
    change = everything(model, entity, old[0], new[0]) if whole else difference(old[0], new[0])
    return Rewrite(change.sets, change.removes, size, old[1:], new[1:])


def difference(before: Wire, after: Wire, size: int = 0) -> Rewrite:
    """Returns only the differences, so that attributes unknown to this model stay as they are."""
    sets = {name: value for name, value in after.items() if before.get(name) != value}
    gone = before.keys() - after.keys()
    return Rewrite(sets, tuple(sorted(gone)) if gone else (), size)


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
    sets, newer, has_schema = change.sets, becomes != version, entity.schema > 1
    form = _form(model.table.version, model.table.schema, tuple(sorted(sets)), change.removes, newer, has_schema)
    values: Wire = {":v": {"N": str(version)}}
    if newer:
        values[":w"] = {"N": str(becomes)}
    for placeholder, name in form.values:
        values[placeholder] = sets[name]
    if has_schema:
        values[":schema"] = {"N": str(entity.schema)}
    return {
        "ConditionExpression": form.condition,
        "UpdateExpression": form.expression,
        "ExpressionAttributeNames": form.names.copy(),
        "ExpressionAttributeValues": values,
    }


class _Form(NamedTuple):
    """The texts of an Update, which depend only on the names that it sets and removes."""

    condition: str
    expression: str
    names: dict[str, str]
    values: tuple[tuple[str, str], ...]  # the placeholder of each attribute that is set


@lru_cache(maxsize=1_024)
def _form(
    version: str, schema: str, sets: tuple[str, ...], removes: tuple[str, ...], newer: bool, has_schema: bool
) -> _Form:
    set_names = {f"#s{position}": name for position, name in enumerate(sets)}
    removed_names = {f"#r{position}": name for position, name in enumerate(removes)}
    assignments = [*(["#v = :w"] if newer else []), *(f"{alias} = :{alias[1:]}" for alias in set_names)]
    expression = f"SET {', '.join(assignments)} " if assignments else ""
    if removes:
        expression += f"REMOVE {', '.join(removed_names)}"
    # INVARIANT: an item that a newer release has stored is not changed by one that does not know its schema.
    condition = "#v = :v AND attribute_not_exists(#schema)"
    if has_schema:
        condition += " OR #v = :v AND #schema <= :schema"
    return _Form(
        condition,
        expression.strip(),
        {"#v": version, "#schema": schema, **set_names, **removed_names},
        tuple((f":{alias[1:]}", name) for alias, name in set_names.items()),
    )
