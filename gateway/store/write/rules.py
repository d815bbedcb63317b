"""Applies the model's rules to values before a write: normalizes them, then reports all faults together."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from gateway.errors import BadUserInput
from gateway.model.entity import Entity
from gateway.model.types import Field

Values = Mapping[str, Any]


def checked_values(fields: Iterable[Field], values: Values) -> dict[str, Any]:
    """Normalizes the input of a mutation to the stored form; None stays None."""
    known = {field.name: field for field in fields}
    spelled = _normalised(known, values)
    _refuse(fault for name, value in spelled.items() for fault in _faults(known, name, value))
    return spelled


def new_values(entity: Entity, values: Values, now: datetime | None = None) -> dict[str, Any]:
    """Returns the values of a new item, with defaults for omitted ones; it must expire after `now`."""
    spelled = _normalised(entity.attribute, {**values, **_defaults(entity, values)})
    _refuse((*_new_faults(entity, spelled), *_expiry_faults(entity, spelled, now)))
    return spelled


def changed_values(entity: Entity, before: Values, changes: Values, now: datetime | None = None) -> dict[str, Any]:
    """Returns what differs from before; None removes a value."""
    spelled = _normalised(entity.attribute, changes)
    spelled = {
        name: value for name, value in spelled.items() if before.get(name) != value or name not in entity.attribute
    }
    _refuse((*_change_faults(entity, spelled), *_expiry_faults(entity, spelled, now)))
    return {name: value for name, value in spelled.items() if before.get(name) != value}


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
        yield from _attribute_faults(entity, name, value)
    for attribute in entity.attributes:
        if attribute.required and values.get(attribute.name) is None:
            yield _required(entity, attribute.name)


def _expiry_faults(entity: Entity, values: Values, now: datetime | None) -> Iterator[BadUserInput]:
    name = entity.expiry.at if entity.expiry is not None else None
    expires = values.get(name) if name is not None else None
    if now is not None and isinstance(expires, datetime) and expires.tzinfo is not None and expires <= now:
        yield BadUserInput(f"`{name}` is in the past, so the {entity.name} would have expired already", name)


def _change_faults(entity: Entity, changes: Values) -> Iterator[BadUserInput]:
    for name, value in changes.items():
        if name in entity.key_names or (name in entity.attribute and entity.attribute[name].immutable):
            yield BadUserInput(f"`{name}` of {entity.name} cannot be changed", name)
            continue
        yield from _attribute_faults(entity, name, value)
        if value is None and name in entity.attribute and entity.attribute[name].required:
            yield _required(entity, name)


def _attribute_faults(entity: Entity, name: str, value: Any) -> Iterator[BadUserInput]:
    if name not in entity.attribute:
        yield BadUserInput(f"{entity.name} has no attribute `{name}`")
    else:
        yield from _faults(entity.attribute, name, value)


def _required(entity: Entity, name: str) -> BadUserInput:
    return BadUserInput(f"`{name}` of {entity.name} is required", name)


def _normalised(fields: Mapping[str, Field], values: Values) -> dict[str, Any]:
    return {
        name: fields[name].type.normalised(value) if value is not None and name in fields else value
        for name, value in values.items()
    }


def _faults(fields: Mapping[str, Field], name: str, value: Any) -> Iterator[BadUserInput]:
    if value is not None and name in fields:
        yield from fields[name].type.faults(name, value)


def _refuse(faults: Iterable[BadUserInput]) -> None:
    """Raises the first fault, with the others attached."""
    found = tuple(faults)
    if found:
        raise BadUserInput(found[0].message, found[0].field, found[1:])
