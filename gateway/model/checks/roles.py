"""Checks of roles: every name is known, and IAM can enforce exactly what is declared."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gateway.model.checks.shapes import shape_faults
from gateway.model.entity import Entity, Reference
from gateway.model.patterns import Listing
from gateway.model.referrers import target_of
from gateway.model.role import ALL, PERSONAL, Everything, Names, Role, named
from gateway.model.role_reach import (
    RolePlace,
    confined,
    covers,
    found_ids,
    hidden_attributes,
    holds_owner,
    is_owned,
    path_of,
    pattern_places,
    read_places,
    stored,
    unread_items,
    written_places,
)
from gateway.model.types import Id
from gateway.suggestions import closest

if TYPE_CHECKING:
    from gateway.model.model import Model

# INVARIANT: no '@', so that a role and a tenant stay separate in the name of a session.
_NAME = re.compile(r"[a-z][a-z0-9-]{0,31}")
_KNOWS_PARTITIONS = "IAM knows partitions, not sort keys"


def role_name_faults(model: "Model", *, sound: bool) -> Iterator[str]:
    """Names that are not declared. Attributes and mutations are all known only if every entity is `sound`."""
    declared = [role for domain in model.domains for role in domain.roles]
    for role in model.all_roles.values():
        if any(other.name == role.name and other != role for other in declared):
            yield f"role {role.name}: is declared twice, in different ways"
        faults = [*_shape_faults(role)] or [*_name_faults(model, role), *(_member_faults(model, role) if sound else ())]
        yield from (f"role {role.name}: {fault}" for fault in faults)


def role_faults(model: "Model") -> Iterator[str]:
    """For a model whose entities and patterns have no faults of their own, and whose roles name what is declared."""
    yield from _personal_faults(model)
    yield from _confidential_faults(model)
    for role in model.all_roles.values():
        yield from (f"role {role.name}: {fault}" for fault in _faults(model, role))


def owner_faults(entity: Entity) -> Iterator[str]:
    if entity.owner is None:
        return
    attribute = entity.attribute.get(entity.owner)
    if attribute is None:
        yield f"its owner `{entity.owner}` is not an attribute{closest(entity.owner, entity.attribute)}"
    elif not isinstance(attribute.type, Id) or not attribute.required:
        yield f"its owner `{entity.owner}` must be a required Id: it is compared with the subject of a token"


def _personal_faults(model: "Model") -> Iterator[str]:
    """INVARIANT: IAM only sees names, so a name is personal in all entities or in none."""
    declared = [(attribute, entity) for entity in model.entities.values() for attribute in stored(entity)]
    personal = {attribute.name: entity.name for attribute, entity in declared if attribute.personal}
    for attribute, entity in declared:
        if attribute.name in personal and not attribute.personal:
            yield (
                f"entity {entity.name}: `{attribute.name}` is personal in {personal[attribute.name]} and not here: a "
                "policy knows attributes by name only and would hide both; rename one of them or mark both"
            )


def _confidential_faults(model: "Model") -> Iterator[str]:
    """INVARIANT: only confidential data is denied: a denial by key applies to the table and every index."""
    for entity, place in model.placements:
        path = path_of(place.pk)
        beside = [
            (other, there) for other, there in model.placements if not other.confidential and covers(path, there.pk)
        ]
        if entity.confidential and beside:
            other, there = beside[0]
            yield (
                f"entity {entity.name}: it is confidential, and {other.name} shares its partitions "
                f"`{place.pk.text}` (`{there.pk.text}` on {there.index or 'the table'}), and {_KNOWS_PARTITIONS}: "
                "start its key with a word of its own"
            )


def _shape_faults(role: Role) -> Iterator[str]:
    yield from shape_faults(role)
    if not _NAME.fullmatch(role.name):
        yield "a role is named with a-z, 0-9 and -, at most 32 characters"


def _name_faults(model: "Model", role: Role) -> Iterator[str]:
    readable = {*model.entities, *model.patterns}
    for option, names, allowed in (
        ("reads", role.reads, readable),
        ("writes", role.writes, set(model.entities)),
        ("removes", role.removable, set(model.entities)),
        ("beside", role.beside, set(model.entities)),
        ("finds", role.finds, set(model.patterns)),
    ):
        for name in _unknown(names, allowed):
            yield f"`{option}` names `{name}`, which the model does not declare{closest(name, allowed)}"


def _member_faults(model: "Model", role: Role) -> Iterator[str]:
    attributes = {attribute.name for entity in model.entities.values() for attribute in entity.attributes}
    for name in _unknown(role.hides if isinstance(role.hides, tuple) else (), attributes):
        yield f"`hides` names `{name}`, which is not an attribute{closest(name, attributes)}"
    for name in _unknown(role.shows or (), attributes):
        yield f"`shows` names `{name}`, which is not an attribute{closest(name, attributes)}"
    mutations = {mutation.name for mutation in model.mutations}
    for name in _unknown(role.mutations or (), mutations):
        yield f"`mutations` names `{name}`, which the model does not declare{closest(name, mutations)}"


def _unknown(names: Names, known_names: set[str]) -> tuple[str, ...]:
    return () if isinstance(names, Everything) else tuple(name for name in names if name not in known_names)


def _faults(model: "Model", role: Role) -> Iterator[str]:
    yield from _hiding_faults(model, role)
    yield from (fault for name in role.finds for fault in _find_faults(model, role, name))
    yield from _writing_faults(model, role)
    if role.acting and all(mutation.acts_as != role.name for mutation in model.mutations):
        yield "no mutation acts in it: name it in the `acts_as` of a mutation"
    if role.own:
        yield from _own_faults(model, role)
    places = read_places(model, role)
    if role.reads is not ALL or role.own:
        yield from _neighbours(model, "reads", places, _names(places), "add {} to `reads`")
        yield from _follow_faults(model, role, places)
        yield from _through_faults(model, role, places)
    for option, names in (("writes", role.writes), ("removes", role.removable)):
        if names is not ALL or role.own:
            written = written_places(model, role, names)
            beside = (pair for pair in model.placements if pair[0].name in role.beside and pair[1].index is None)
            allowed = {*_names(written), *((entity.name, place.name) for entity, place in beside)}
            hint = f"add {{}} to `{option}`, or to `beside` if AWS may let the role do that"
            yield from _neighbours(model, option, written, allowed, hint)


def _hiding_faults(model: "Model", role: Role) -> Iterator[str]:
    if role.shows is not None and role.hides != ():
        yield "`shows` and `hides` exclude each other"
        return
    hidden = set(hidden_attributes(model, role))
    for entity in model.entities.values():
        for attribute in (
            hidden_attribute for hidden_attribute in entity.attributes if hidden_attribute.name in hidden
        ):
            if attribute.required and not attribute.personal and role.hides is not PERSONAL:
                yield (
                    f"it hides `{attribute.name}`, which every {entity.name} has: mark it as personal, so that its "
                    "field may be null"
                )
            if role.writes_entity(entity.name):
                yield (
                    f"it writes {entity.name} and hides its `{attribute.name}`: a write replaces whole items; write "
                    "other entities, or hide less"
                )


def _find_faults(model: "Model", role: Role, name: str) -> Iterator[str]:
    """An exact lookup has its partition to itself, and returns an id that the role may see."""
    listing, hidden = model.patterns[name], set(hidden_attributes(model, role))
    if not isinstance(listing, Listing) or not listing.single:
        yield f"`finds` names `{name}`, which does not find one item: give it `single`, or name it in `reads`"
        return
    entity, place = model.entities[listing.entity], model.place(listing)
    if not place.pk.names & hidden:
        yield f"`finds` names `{name}`, which finds by nothing that the role hides: name it in `reads`"
    if is_owned(role, entity) and not holds_owner(entity, place):
        yield (
            f"`finds` names `{name}`, which would find the rows of every subject: a role with `own` cannot have it; "
            "take it out of `finds`"
        )
    for secret in sorted(hidden & set(found_ids(model, listing))):
        yield f"`finds` names `{name}`, which returns `{secret}`, but the role hides that: stop hiding it"
    for other, there in model.placements:
        if (other.name, there.name) != (entity.name, place.name) and covers(path_of(place.pk), there.pk):
            yield (
                f"`finds` names `{name}`, whose partition `{place.pk.text}` also holds {other.name} "
                f"(`{there.pk.text}`), and {_KNOWS_PARTITIONS}: give one of them another word"
            )


def _writing_faults(model: "Model", role: Role) -> Iterator[str]:
    if role.writes is ALL and role.reads is not ALL:
        yield "it writes everything, so it must read everything: a mutation reads what it changes"
    read = _names(read_places(model, role))
    for entity in model.entities.values():
        if role.writes_entity(entity.name):
            if (entity.name, entity.primary.name) not in read and role.writes is not ALL:
                yield (
                    f"it writes {entity.name} and does not read it by its key: a mutation reads what it changes; add "
                    f"{entity.name} to `reads`"
                )
            yield from _reference_faults(model, role, entity)
        elif role.removable is not ALL and entity.name in role.removable:
            yield f"it removes {entity.name} and does not write it: add it to `writes`, or take it out of `removes`"
    if role.removable is ALL and role.writes is not ALL:
        yield "it removes everything and does not write everything: name in `removes` what it writes"
    for mutation in (called for called in model.mutations if called.acts_as is None and role.may_call(called)):
        if not role.writes_result(mutation):
            yield (
                f"it may call `{mutation.name}`, which changes {mutation.returns}, and does not write it: name it in "
                "`writes`, or let the mutation act in another role (`acts_as`)"
            )


def _reference_faults(model: "Model", role: Role, entity: Entity) -> Iterator[str]:
    for relation in entity.relations:
        if isinstance(relation, Reference) and relation.checked:
            target = target_of(model, relation)
            if not role.writes_entity(target) and target not in role.beside:
                yield (
                    f"it writes {entity.name} and not {target}, which the reference `{relation.name}` checks in the "
                    f"same transaction: add {target} to `writes`, and name in `mutations` what the role may call"
                )


def _own_faults(model: "Model", role: Role) -> Iterator[str]:
    owned = [entity for entity in model.entities.values() if entity.owner is not None]
    reached = (*read_places(model, role), *(written_places(model, role, role.writes) if role.acting else ()))
    if not any(place.owned for place in reached):
        yield (
            "it has `own`, and reads no entity with an `owner` whose partition holds the owner: declare the `owner` of "
            "an entity that it reads, with the owner in a partition key"
        )
    for entity in owned:
        if named(role.reads, entity.name) and not any(holds_owner(entity, place) for place in entity.placements):
            yield (
                f"no partition of {entity.name} holds its owner `{entity.owner}`: {_KNOWS_PARTITIONS}; give it a copy "
                f"or an index with {{{entity.owner}}} in its partition key"
            )
        if role.writes_entity(entity.name):
            yield from _acting_write_faults(entity) if role.acting else _own_write_faults(entity)
            yield from () if role.acting else _own_count_faults(model, entity)
    names = role.reads if isinstance(role.reads, tuple) else ()
    for pattern in (model.patterns[name] for name in names if name in model.patterns):
        for entity, place in pattern_places(model, pattern):
            if confined(role, entity) and not holds_owner(entity, place):
                yield (
                    f"`{pattern.name}` reads `{place.pk.text}`, which does not hold the owner `{entity.owner}` of "
                    f"{entity.name}, so it would read the rows of every subject: {_reachable(model, entity)}"
                )


def _reachable(model: "Model", entity: Entity) -> str:
    """Patterns of the entity that a role with `own` can have, or the place that would allow one."""
    owned = [
        pattern.name
        for pattern in model.patterns.values()
        if pattern.entity == entity.name and all(holds_owner(*place) for place in pattern_places(model, pattern))
    ]
    if owned:
        return f"name {' or '.join(f'`{name}`' for name in owned)} instead"
    return f"give {entity.name} a copy or an index with {{{entity.owner}}} in its partition key"


def _own_write_faults(entity: Entity) -> Iterator[str]:
    for place in entity.placements:
        if place.index is None and not holds_owner(entity, place):
            yield (
                f"it writes {entity.name}, whose place `{place.pk.text}` does not hold its owner `{entity.owner}`: "
                f"{_KNOWS_PARTITIONS}; let a mutation act in another role (`acts_as`)"
            )
    if entity.unique:
        yield (
            f"it writes {entity.name}, whose unique values are in partitions of the whole tenant: let a mutation act "
            "in another role (`acts_as`)"
        )


def _own_count_faults(model: "Model", entity: Entity) -> Iterator[str]:
    for listing in model.counted.get(entity.name, ()):
        counter = model.counters[listing.name]
        if not holds_owner(counter, counter.primary):
            yield (
                f"it writes {entity.name}, whose counter of `{listing.name}` counts the rows of every subject: let a "
                "mutation act in another role (`acts_as`)"
            )


def _acting_write_faults(entity: Entity) -> Iterator[str]:
    """An acting role writes every place, so one with the owner must be among them: there AWS refuses others."""
    if not any(place.index is None and holds_owner(entity, place) for place in entity.placements):
        yield (
            f"it writes {entity.name} for a subject, and no place of it in the table holds its owner `{entity.owner}`: "
            f"give it a copy with {{{entity.owner}}} in its partition key, by which AWS distinguishes subjects"
        )


def _names(places: Iterable[RolePlace]) -> set[tuple[str, str]]:
    return {(place.entity.name, place.place.name) for place in places}


def _neighbours(
    model: "Model", verb: str, places: tuple[RolePlace, ...], allowed: set[tuple[str, str]], hint: str
) -> Iterator[str]:
    """INVARIANT: nothing is widened silently: whatever is in a partition that the role reaches is declared, or
    refused here."""
    owned = {(reached.entity.name, reached.place.name) for reached in places if reached.owned}
    for reached in places:
        for entity, place in model.placements:
            at, elsewhere = (entity.name, place.name), place.index != reached.place.index
            if elsewhere or at == (reached.entity.name, reached.place.name) or not covers(reached.path, place.pk):
                continue
            where = f"`{place.pk.text}` on {place.index or 'the table'}"
            if at not in allowed:
                yield (
                    f"it {verb} {reached.entity.name} in `{reached.path}`, which also holds {entity.name} ({where}), "
                    f"and {_KNOWS_PARTITIONS}: {hint.format(entity.name)}"
                )
            elif at in owned and not reached.owned:
                yield (
                    f"it {verb} every {reached.entity.name} in `{reached.path}`, which also holds {entity.name} "
                    f"({where}), of which it may only see its own rows: declare an `owner` of {reached.entity.name}"
                )


def _follow_faults(model: "Model", role: Role, places: tuple[RolePlace, ...]) -> Iterator[str]:
    read = _names(places)
    for pattern in model.patterns.values():
        if isinstance(pattern, Listing) and pattern.follow is not None and isinstance(role.reads, tuple):
            target = model.patterns[model.entities[pattern.entity].relation[pattern.follow].pattern]
            missing = [
                entity.name for entity, place in pattern_places(model, target) if (entity.name, place.name) not in read
            ]
            if pattern.name in (*role.reads, *role.finds) and missing:
                yield (
                    f"`{pattern.name}` returns {missing[0]}, which the role does not read by its key: add {missing[0]} "
                    "to `reads`"
                )


def _through_faults(model: "Model", role: Role, places: tuple[RolePlace, ...]) -> Iterator[str]:
    """INVARIANT: nothing is widened silently: a list that also reads the table does not give access to the table."""
    names = (*role.finds, *(role.reads if isinstance(role.reads, tuple) else ()))
    for pattern in (model.patterns[name] for name in names if name in model.patterns):
        if isinstance(pattern, Listing) and unread_items(model, role, pattern, _names(places)):
            index = model.place(pattern).index
            yield (
                f"`{pattern.name}` reads from the table what {index} does not carry, and the role does not read "
                f"{pattern.entity} by its key: name {pattern.entity} in `reads`, or give {index} all its attributes"
            )
