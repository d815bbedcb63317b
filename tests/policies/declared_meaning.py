"""What a declared role means, in plain words of the model: the policies that are generated for it must say the same."""

from collections.abc import Iterator

from gateway.model.entity import Entity, Placement
from gateway.model.model import Model
from gateway.model.patterns import ItemCollection, Listing
from gateway.model.role import Role
from gateway.model.template import Literal, Template

READS = ("GetItem", "BatchGetItem", "Query")
CHANGES = ("PutItem", "UpdateItem", "ConditionCheckItem")
REMOVALS = ("DeleteItem", "BatchWriteItem")


def may(model: Model, role: Role, action: str, index: str | None, path: str, subject: str | None) -> bool:
    """Whether the role may do this in a partition of the table or of an index; `path` lacks the tenant's prefix."""
    if role.own and not subject and _touches_owner(model, role, action, index):
        return False
    if index is not None and action != "Query":
        return False
    if action in READS:
        return any(_is(place, entity, role, path, subject) for entity, place in _read(model, role, index)) or (
            index is None and _record(role, path, subject) and bool(role.writes)
        )
    names = role.writes if action in CHANGES else role.removable
    places = [
        (entity, place) for entity in model.entities.values() for place in entity.placements if place.index is None
    ]
    if any(_listed(names, entity.name) and _is(place, entity, role, path, subject) for entity, place in places):
        return True
    if _mark(model, role, path) or (action in CHANGES and _counts(model, role, path, subject)):
        return True
    return bool(names) and _record(role, path, subject)


def _counts(model: Model, role: Role, path: str, subject: str | None) -> bool:
    """Whoever writes or removes an item changes the rows that count it."""
    return any(
        (_listed(role.writes, name) or _listed(role.removable, name))
        and _is(counter.primary, counter, role, path, subject)
        for name in model.counted
        for counter in _counters(model, name)
    )


def _counters(model: Model, entity: str) -> list[Entity]:
    return [model.counters[listing.name] for listing in model.counted.get(entity, ())]


def _touches_owner(model: Model, role: Role, action: str, index: str | None) -> bool:
    """A statement that names the subject grants nothing to a session without one."""
    if index is None and role.writes:
        return True
    return any(entity.owner in place.pk.names for entity, place in _read(model, role, index) if entity.owner)


def _listed(names: object, name: str) -> bool:
    return name in names if isinstance(names, tuple) else True


def _read(model: Model, role: Role, index: str | None) -> Iterator[tuple[Entity, Placement]]:
    for entity in model.entities.values():
        if _listed(role.reads, entity.name):
            yield from ((entity, place) for place in entity.placements if place.index == index)
            yield from ((each, each.primary) for each in _counters(model, entity.name) if index is None)
    for pattern in model.patterns.values():
        if isinstance(role.reads, tuple) and pattern.name in role.reads:
            patterns = [pattern]
            if isinstance(pattern, ItemCollection):
                patterns.append(model.patterns[model.entities[pattern.entity].relation[pattern.collection].pattern])
            if pattern.name in model.counters and index is None:
                yield model.counters[pattern.name], model.counters[pattern.name].primary
            for each in patterns:
                entity = model.entities[each.entity]
                place = model.place(each) if isinstance(each, Listing) else entity.primary
                if place.index == index:
                    yield entity, place


def _is(place: Placement, entity: Entity, role: Role, path: str, subject: str | None) -> bool:
    """Whether this is a partition of the place; of an entity with an owner, one that holds the subject.

    A role in which mutations act has the places without the owner as well.
    """
    owner = entity.owner if role.own else None
    if owner is not None and owner not in place.pk.names and not role.acting:
        return False
    return _fits(place.pk, path, owner, subject)


def _fits(template: Template, path: str, owner: str | None, subject: str | None) -> bool:
    last = template.segments[-1]
    # no id has a `#`, so nothing lies below; a wildcard at the end would reach it
    open_end = not isinstance(last, Literal) and last.name != owner
    parts = path.split("#", len(template.segments) - 1) if open_end else path.split("#")
    if len(parts) != len(template.segments):
        return False
    for part, segment in zip(parts, template.segments, strict=True):
        if isinstance(segment, Literal):
            if part != segment.text:
                return False
        elif segment.name == owner and part != subject:
            return False
    return True


def _record(role: Role, path: str, subject: str | None) -> bool:
    parts = path.split("#")
    if parts[0] != "IDEMPOTENCY":
        return False
    return len(parts) == 3 and parts[1] == subject if role.own else len(parts) > 1


def _mark(model: Model, role: Role, path: str) -> bool:
    """The marks of unique values: written, and removed when a value is given up, by whoever writes the entity."""
    parts = path.split("#")
    return (
        len(parts) == 4
        and parts[0] == "UNIQUE"
        and parts[1] in model.entities
        and parts[2] in model.entities[parts[1]].unique
        and _listed(role.writes, parts[1])
        and bool(role.writes)
    )


def paths(model: Model, subjects: tuple[str, ...] = ("u-1", "u-2", "u-12")) -> Iterator[tuple[str | None, str]]:
    """Partitions of every place of the model for several owners, and of the gateway's own records."""
    found: dict[tuple[str | None, str], None] = {}
    for entity in model.stored.values():
        for place in entity.placements:
            for subject in subjects:
                parts = [
                    each.text if isinstance(each, Literal) else subject if each.name == entity.owner else "x"
                    for each in place.pk.segments
                ]
                found[place.index, "#".join(parts)] = None
                # a longer word, and what would lie below
                found[place.index, f"{parts[0]}X#{subject}"] = None
                if len(parts) > 2:
                    found[place.index, "#".join([parts[0], f"{parts[1]}X", *parts[2:]])] = None
                if entity.owner in place.pk.names:
                    found[place.index, "#".join([*parts, "below"])] = None
        for attribute in entity.unique:
            found[None, f"UNIQUE#{entity.name}#{attribute}#x"] = None
    for subject in subjects:
        found[None, f"IDEMPOTENCY#{subject}#x"] = None
    odd = ("IDEMPOTENCY#x", "IDEMPOTENCYX#u-1#x", "IDEMPOTENCY", "UNIQUEX#x", "UNIQUE")
    found |= {(None, path): None for path in odd}
    yield from found
