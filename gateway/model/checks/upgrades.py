"""What makes an upgrade wrong: a step that is missing, an item that it would move, personal data that it would show."""

from collections.abc import Iterator

from gateway.model.entity import Attribute, Entity, Upgrade


def upgrade_faults(entity: Entity) -> Iterator[str]:
    steps = [upgrade.to for upgrade in entity.upgrades]
    if entity.schema < 1 or steps != list(range(2, entity.schema + 1)):
        yield f"schema {entity.schema} needs one upgrade to each schema from 2 on, in their order; there are {steps}"
        return
    for number, upgrade in enumerate(entity.upgrades):
        yield from (f"the upgrade to {upgrade.to} {fault}" for fault in _faults(entity, upgrade, number))


def _faults(entity: Entity, upgrade: Upgrade, number: int) -> Iterator[str]:
    known = _afterwards(entity, number)
    fixed = _fixed(entity)
    for name in upgrade.gives:
        if name not in known:
            yield f"gives `{name}`, which neither the entity declares nor a later upgrade needs"
        elif name in fixed:
            # INVARIANT: an upgraded item stays where it is, with its copies and what it alone may have.
            yield f"gives `{name}`, which is part of a key, of a copy's key or unique: that would be another item"
        elif any(each.personal for each in upgrade.needs) and not known[name].personal:
            # or a role that may read what it gives would need what it may not read
            yield f"gives `{name}`, which is not personal, from what is"


def _afterwards(entity: Entity, number: int) -> dict[str, Attribute]:
    """The attributes that an item can have after this upgrade."""
    later = {each.name: each for upgrade in entity.upgrades[number + 1 :] for each in upgrade.needs}
    return {**later, **entity.attribute}


def _fixed(entity: Entity) -> frozenset[str]:
    places = (place.names for place in entity.placements if place.index is None)
    return frozenset(entity.unique).union(*places)
