"""Applies the model's rules to values before a write: normalizes them, then reports all faults together."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from gateway.errors import BadUserInput
from gateway.model.entity import Entity
from gateway.model.types import Field

Values = Mapping[str, Any]


def checked_input(fields: Mapping[str, Field], values: Values) -> dict[str, Any]:
    """Normalizes the input of a mutation to the stored form; None stays None."""
    spelled: dict[str, Any] = {}
    faults: list[BadUserInput] = []
    for name, value in values.items():
        kind = fields[name].type if value is not None and name in fields else None
        spelled[name] = new = kind.normalised(value) if kind is not None else value
        if kind is not None and new is not None:
            faults += kind.faults(name, new)
    if faults:
        _refuse(faults)
    return spelled


def new_values(entity: Entity, values: Values, now: datetime | None = None) -> dict[str, Any]:
    """Returns the values of a new item, with defaults for omitted ones; it must expire after `now`."""
    spelled = _normalised(entity.attribute, {**values, **_defaults(entity, values)})
    _refuse([*_new_faults(entity, spelled), *_expiry_faults(entity, spelled, now)])
    return spelled


def changed_values(entity: Entity, before: Values, changes: Values, now: datetime | None = None) -> dict[str, Any]:
    """Returns what differs from before; None removes a value."""
    changed: dict[str, Any] = {}
    faults: list[BadUserInput] = []
    for name, given in changes.items():
        attribute = entity.attribute.get(name)
        value = given if attribute is None or given is None else attribute.type.normalised(given)
        if before.get(name) != value:
            changed[name] = value
        elif attribute is not None:
            continue
        faults += _change_faults(entity, name, value)
    if entity.expiry is not None:
        faults += _expiry_faults(entity, changed, now)
    if faults:
        _refuse(faults)
    return changed


def _defaults(entity: Entity, values: Values) -> dict[str, Any]:
    """Applies defaults, also for None, because a new item has no value to remove."""
    missing = (
        attribute
        for attribute in entity.attributes
        if attribute.default is not None and values.get(attribute.name) is None
    )
    return {
        attribute.name: attribute.default() if callable(attribute.default) else attribute.default
        for attribute in missing
    }


def _new_faults(entity: Entity, values: Values) -> Iterator[BadUserInput]:
    for name, value in values.items():
        yield from _faults(entity.attribute, name, value) if name in entity.attribute else [_unknown(entity, name)]
    for attribute in entity.attributes:
        if attribute.required and values.get(attribute.name) is None:
            yield _required(entity, attribute.name)


def _expiry_faults(entity: Entity, values: Values, now: datetime | None) -> list[BadUserInput]:
    name = entity.expiry.at if entity.expiry is not None else None
    expires = values.get(name) if name is not None else None
    if now is not None and isinstance(expires, datetime) and expires.tzinfo is not None and expires <= now:
        return [BadUserInput(f"`{name}` is in the past, so the {entity.name} would have expired already", name)]
    return []


def _change_faults(entity: Entity, name: str, value: Any) -> Iterable[BadUserInput]:
    attribute = entity.attribute.get(name)
    if attribute is None:
        return [_unknown(entity, name)]
    if attribute.immutable or name in entity.key_names:
        return [BadUserInput(f"`{name}` of {entity.name} cannot be changed", name)]
    if value is None:
        return [_required(entity, name)] if attribute.required else []
    return attribute.type.faults(name, value)


def _unknown(entity: Entity, name: str) -> BadUserInput:
    return BadUserInput(f"{entity.name} has no attribute `{name}`")


def _required(entity: Entity, name: str) -> BadUserInput:
    return BadUserInput(f"`{name}` of {entity.name} is required", name)


def _normalised(fields: Mapping[str, Field], values: Values) -> dict[str, Any]:
    return {
        name: fields[name].type.normalised(value) if value is not None and name in fields else value
        for name, value in values.items()
    }


def _faults(fields: Mapping[str, Field], name: str, value: Any) -> Iterable[BadUserInput]:
    return fields[name].type.faults(name, value) if value is not None and name in fields else ()


def _refuse(faults: list[BadUserInput]) -> None:
    """Raises the first fault, with the others attached."""
    if faults:
        raise BadUserInput(faults[0].message, faults[0].field, tuple(faults[1:]))
