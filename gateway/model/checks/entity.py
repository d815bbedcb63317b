"""Checks of a single entity; each fault names the entity."""

from collections.abc import Iterator
from datetime import timedelta

from gateway.errors import ModelError
from gateway.model.checks.code import derived_faults
from gateway.model.checks.declarations import type_faults
from gateway.model.checks.keys import key_faults, unknown_names
from gateway.model.checks.names import name_faults
from gateway.model.checks.roles import owner_faults
from gateway.model.checks.shapes import shape_faults
from gateway.model.entity import Attribute, Collection, Entity, Expiry, Placement, Upgrade, When
from gateway.model.files.checks import file_faults
from gateway.model.staleness import staleness_faults
from gateway.model.template import parse_template
from gateway.model.types import Blob, Boolean, EnumOf, Id, ListOf, Text, Timestamp
from gateway.suggestions import closest


def entity_faults(entity: Entity) -> Iterator[str]:
    return (f"entity {entity.name}: {fault}" for fault in _faults(entity))


def has_places(entity: Entity) -> bool:
    """Whether it is known where its items are, although their attributes may have faults."""
    return not any(shape_faults(entity)) and not any(_template_faults(entity))


def has_sound_keys(entity: Entity) -> bool:
    """Whether patterns on the entity can be checked: its attributes, keys and relations have no faults."""
    if any(shape_faults(entity)) or any(name_faults(entity)) or any(derived_faults(entity)):
        return False
    return not any(_template_faults(entity)) and _has_types(entity) and not any(_key_faults(entity))


def _faults(entity: Entity) -> Iterator[str]:
    """Every fault, except those that cannot be detected before a more basic one is fixed."""
    shape = [*shape_faults(entity)]
    if shape:
        yield from shape
        return
    yield from name_faults(entity)
    yield from derived_faults(entity)
    for name in entity.unique:
        if name not in entity.attribute:
            yield f"`unique` names the unknown attribute `{name}`{closest(name, entity.attribute)}"
    templates = [*_template_faults(entity)]
    yield from templates
    if templates:
        return
    if _has_types(entity):
        yield from _key_faults(entity)
        yield from _further_faults(entity)
    else:
        yield from (fault for place in entity.placements for fault in unknown_names(entity, place))


def _has_types(entity: Entity) -> bool:
    return not any(fault for attribute in entity.attributes for fault in type_faults(attribute.type))


def _template_faults(entity: Entity) -> Iterator[str]:
    owner = f"entity {entity.name}"
    for place in (entity.key, *entity.copies, *entity.indexes):
        for text in (place.pk, place.sk):
            try:
                parse_template(owner, text)
            except ModelError as error:
                yield error.message.removeprefix(f"{owner}: ")


def _key_faults(entity: Entity) -> Iterator[str]:
    """The faults of its places, its relations, its owner and its files, which patterns rely on."""
    for place in entity.placements:
        yield from key_faults(entity, place)
        if place.when is not None:
            yield from (f"the condition on {place.index} {fault}" for fault in _condition(entity, place.when))
    yield from _shared_indexes(entity)
    yield from _relations(entity)
    yield from owner_faults(entity)
    yield from file_faults(entity)


def _further_faults(entity: Entity) -> Iterator[str]:
    yield from _expiry(entity)
    yield from _upgrades(entity)
    yield from staleness_faults(entity.cached)
    for attribute in entity.attributes:
        if attribute.compressed and not isinstance(attribute.type, Text | Blob):
            yield f"`{attribute.name}` is compressed; only text and bytes can be"
        yield from _default(attribute)


def _default(attribute: Attribute) -> Iterator[str]:
    if attribute.default is not None and not callable(attribute.default):
        wrong = attribute.type.faults(attribute.name, attribute.type.normalised(attribute.default))
        yield from (f"the default of {fault.message}" for fault in wrong)


def _condition(entity: Entity, when: When) -> Iterator[str]:
    attribute = entity.attribute.get(when.attribute)
    if attribute is None:
        yield f"names the unknown attribute `{when.attribute}`{closest(when.attribute, entity.attribute)}"
    elif not isinstance(attribute.type, EnumOf | Boolean | Id):
        yield f"needs an enum, a boolean or an id, but `{attribute.name}` is something else"
    else:
        never = sorted(value for value in when.values if not attribute.type.key_pattern.fullmatch(value))
        if never or not when.values:
            yield f"has values that `{attribute.name}` never takes: {never}"


def _shared_indexes(entity: Entity) -> Iterator[str]:
    """An item has one key on an index, so two places on one index must never both hold it."""
    places = [place for place in entity.placements if place.index is not None]
    for number, place in enumerate(places):
        yield from (
            f"`{place.name}` and `{other.name}` on {place.index} need conditions that exclude each other"
            for other in places[:number]
            if other.index == place.index and not _exclusive(place, other)
        )


def _exclusive(one: Placement, other: Placement) -> bool:
    if one.when is None or other.when is None or one.when.attribute != other.when.attribute:
        return False
    return not set(one.when.values) & set(other.when.values)


def _relations(entity: Entity) -> Iterator[str]:
    for relation in entity.relations:
        for name in relation.bind.values():
            if name not in entity.attribute:
                meant = closest(name, entity.attribute)
                yield f"relation `{relation.name}` binds the unknown attribute `{name}`{meant}"
        if isinstance(relation, Collection) and relation.each is not None:
            listed = entity.attribute.get(relation.each)
            if listed is None or not isinstance(listed.type, ListOf):
                yield f"relation `{relation.name}`: `{relation.each}` is not a list"


def _expiry(entity: Entity) -> Iterator[str]:
    match entity.expiry:
        case None:
            return
        case Expiry(at=str() as name, since=None, after=after) if not after:
            yield from _expiry_attribute(entity, name)
        case Expiry(at=None, since=str() as name, after=after) if after > timedelta():
            yield from _expiry_attribute(entity, name)
        case _:
            yield "an expiry has either `at`, or `since` and a time `after` it"


def _expiry_attribute(entity: Entity, name: str) -> Iterator[str]:
    attribute = entity.attribute.get(name)
    if attribute is None or not isinstance(attribute.type, Timestamp):
        yield f"it expires by `{name}`, which is not a timestamp"


def _upgrades(entity: Entity) -> Iterator[str]:
    steps = [upgrade.to for upgrade in entity.upgrades]
    if entity.schema < 1 or steps != list(range(2, entity.schema + 1)):
        yield f"schema {entity.schema} needs one upgrade to each schema from 2 on, in their order; there are {steps}"
        return
    for number, upgrade in enumerate(entity.upgrades):
        yield from (f"the upgrade to {upgrade.to} {fault}" for fault in _step_faults(entity, upgrade, number))


def _step_faults(entity: Entity, upgrade: Upgrade, number: int) -> Iterator[str]:
    attributes = _afterwards(entity, number)
    fixed = _fixed(entity)
    for name in upgrade.gives:
        if name not in attributes:
            yield f"gives `{name}`, which neither the entity declares nor a later upgrade needs"
        elif name in fixed:
            # INVARIANT: an upgraded item stays where it is, with its copies and its unique values.
            yield f"gives `{name}`, which is part of a key, of a copy's key or unique: that would be another item"
        elif any(need.personal for need in upgrade.needs) and not attributes[name].personal:
            # otherwise a role that may read the result would need attributes that it may not read
            yield f"gives `{name}`, which must be personal, because it is derived from a personal attribute"


def _afterwards(entity: Entity, number: int) -> dict[str, Attribute]:
    """The attributes that an item can have after this upgrade."""
    later = {need.name: need for upgrade in entity.upgrades[number + 1 :] for need in upgrade.needs}
    return {**later, **entity.attribute}


def _fixed(entity: Entity) -> frozenset[str]:
    places = (place.names for place in entity.placements if place.index is None)
    return frozenset(entity.unique).union(*places)
