"""The partitions that a role reaches, derived from its declaration: IAM can enforce no more, because it only sees
partition keys.

A path is a partition key after the tenant's prefix: `ORDER#*` means the partitions of a key template,
`USER#{subject}` the one of the token's subject.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from gateway.model.entity import Attribute, Entity, Placement
from gateway.model.patterns import (
    COUNT,
    AccessPattern,
    ItemCollection,
    Listing,
    bound_attribute,
    member_place,
    own_parameters,
    reads_through,
)
from gateway.model.role import ALL, PERSONAL, Everything, Names, Role, named
from gateway.model.template import DERIVED, Hole, Literal, Template
from gateway.model.types import KEY_SEPARATOR

if TYPE_CHECKING:
    from gateway.model.model import Model

UNIQUE: Final = "UNIQUE"
IDEMPOTENCY: Final = "IDEMPOTENCY"
RESERVED_WORDS: Final = frozenset({UNIQUE, IDEMPOTENCY, COUNT})  # no key of an entity starts with one of them
SUBJECT: Final = "{subject}"
_ANY: Final = "*"


class RolePlace(NamedTuple):
    """A place of an entity's items that a role reaches; `owned`: only the partition of the subject."""

    entity: Entity
    place: Placement
    owned: bool

    @property
    def path(self) -> str:
        return path_of(self.place.pk, self.entity.owner if self.owned else None)


@dataclass(frozen=True, slots=True)
class Partitions:
    """Partitions of the table (`index` is None) or of an index."""

    index: str | None
    path: str


@dataclass(frozen=True, slots=True)
class Find:
    """A pattern whose partition key is a hidden attribute, and the only attributes that it may read there."""

    pattern: str
    path: str
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoleReach:
    """Each None means every partition of the tenant, on the table and on every index."""

    reads: tuple[Partitions, ...] | None
    writes: tuple[Partitions, ...] | None
    removes: tuple[Partitions, ...] | None


def path_of(template: Template, owner: str | None = None) -> str:
    parts = [_part(segment, owner) for segment in template.segments]
    while parts[-2:] == [_ANY, _ANY]:
        parts.pop()
    return KEY_SEPARATOR.join(parts)


def _part(segment: Literal | Hole, owner: str | None) -> str:
    if isinstance(segment, Literal):
        return segment.text
    return SUBJECT if owner is not None and segment.name == owner else _ANY


def holds_owner(entity: Entity, place: Placement) -> bool:
    """Whether the partition key contains the owner, so that IAM can distinguish the rows of subjects."""
    return entity.owner is not None and entity.owner in place.pk.names - DERIVED


def read_places(model: "Model", role: Role) -> tuple[RolePlace, ...]:
    """The places that the role reads: those of its entities, and those that its patterns read."""
    places: dict[tuple[str, str], RolePlace] = {}
    for entity in model.entities.values():
        if reads_entity(role, entity):
            places |= {(entity.name, place.name): _place(role, entity, place) for place in entity.placements}
            counters = (model.counters[listing.name] for listing in model.counted.get(entity.name, ()))
            places |= {
                (counter.name, counter.primary.name): _place(role, counter, counter.primary) for counter in counters
            }
    for pattern in model.patterns.values():
        if not isinstance(role.reads, Everything) and pattern.name in (*role.reads, *role.finds):
            places |= {
                (entity.name, place.name): _place(role, entity, place)
                for entity, place in pattern_places(model, pattern)
            }
    return tuple(place for place in places.values() if place.owned or not confined(role, place.entity))


def reads_entity(role: Role, entity: Entity) -> bool:
    """Whether `reads` names it; "everything" excludes confidential entities, unless the role writes them."""
    open_to = not entity.confidential or role.writes_entity(entity.name)
    return open_to if isinstance(role.reads, Everything) else entity.name in role.reads


def closed_paths(model: "Model", role: Role) -> tuple[str, ...]:
    """The partitions of confidential entities, which a role that reads everything else does not reach."""
    if not isinstance(role.reads, Everything):
        return ()
    closed = (entity for entity in model.entities.values() if not reads_entity(role, entity))
    # a denial by key applies to the table and every index
    partitions = {Partitions(None, path_of(place.pk)) for entity in closed for place in entity.placements}
    return tuple(partition.path for partition in _distinct(partitions))


def is_owned(role: Role, entity: Entity) -> bool:
    return role.own and entity.owner is not None


def confined(role: Role, entity: Entity) -> bool:
    """Whether the role reaches only those places of the entity whose partition contains the owner."""
    return is_owned(role, entity) and not role.acting


def _place(role: Role, entity: Entity, place: Placement) -> RolePlace:
    return RolePlace(entity, place, role.own and holds_owner(entity, place))


def pattern_places(model: "Model", pattern: AccessPattern) -> Iterator[tuple[Entity, Placement]]:
    yield model.entities[pattern.entity], member_place(model, pattern)
    if isinstance(pattern, Listing) and pattern.counter is not None:
        counter = model.counters[pattern.name]
        yield counter, counter.primary
    if isinstance(pattern, ItemCollection):
        member = model.patterns[model.entities[pattern.entity].relation[pattern.collection].pattern]
        yield model.entities[member.entity], member_place(model, member)


def written_places(model: "Model", role: Role, names: Names) -> tuple[RolePlace, ...]:
    """The places in the table of the entities with these names; indexes follow from these writes."""
    return tuple(
        _place(role, entity, place)
        for entity in model.entities.values()
        if named(names, entity.name)
        for place in entity.placements
        if place.index is None
    )


@lru_cache(maxsize=64)
def visible_patterns(model: "Model", role: Role) -> tuple[str, ...]:
    """The access patterns that the role can use: all of their places are within its reach."""
    reached = {(place.entity.name, place.place.name) for place in read_places(model, role)}
    return tuple(
        pattern.name
        for pattern in model.patterns.values()
        if all((entity.name, place.name) in reached for entity, place in pattern_places(model, pattern))
        and not unread_items(model, role, pattern, reached)
    )


def unread_items(model: "Model", role: Role, pattern: AccessPattern, reached: Set[tuple[str, str]]) -> bool:
    """Whether a listing reads items from the table by keys that the role may not read."""
    if not isinstance(pattern, Listing):
        return False
    entity = model.entities[pattern.entity]
    needed = found_ids(model, pattern) if pattern.name in role.finds else tuple(entity.attribute)
    shown = frozenset(needed).difference(hidden_attributes(model, role))
    return reads_through(model, pattern, shown) and (entity.name, entity.primary.name) not in reached


def reach(model: "Model", role: Role) -> RoleReach:
    owned = any(is_owned(role, entity) for entity in model.entities.values())
    whole = not owned and role.reads is ALL
    reads = None if whole else [Partitions(place.place.index, place.path) for place in read_places(model, role)]
    # every writer also claims and releases unique values, counts, and leaves an idempotency record
    marks, record = [*_marks(model, role)], [_record(role)] if role.writes != () else []
    counters = [*_counters(model, role)]
    writes, removes = (
        None if names is ALL and not owned else _distinct((*_written(model, role, names), *marks, *more))
        for names, more in (
            (role.writes, (*record, *counters)),
            (role.removable, record if role.removable != () else ()),
        )
    )
    return RoleReach(None if reads is None else _distinct((*reads, *record)), writes, removes)


def _written(model: "Model", role: Role, names: Names) -> Iterator[Partitions]:
    return (Partitions(None, place.path) for place in written_places(model, role, names))


def _marks(model: "Model", role: Role) -> Iterator[Partitions]:
    for entity in model.entities.values():
        if entity.unique and role.writes_entity(entity.name):
            everything = role.writes is ALL
            yield Partitions(None, f"{UNIQUE}#*" if everything else f"{UNIQUE}#{entity.name}#*")


def _counters(model: "Model", role: Role) -> Iterator[Partitions]:
    for name, listings in model.counted.items():
        if role.writes_entity(name) or named(role.removable, name):
            counters = (model.counters[listing.name] for listing in listings)
            yield from (Partitions(None, _place(role, counter, counter.primary).path) for counter in counters)


def _record(role: Role) -> Partitions:
    return Partitions(None, f"{IDEMPOTENCY}#{SUBJECT}#*" if role.own else f"{IDEMPOTENCY}#*")


def _distinct(partitions: Iterable[Partitions]) -> tuple[Partitions, ...]:
    """Removes duplicates and those that another one contains, because the size of a policy is limited."""
    every = set(partitions)
    kept = (
        partition
        for partition in every
        if SUBJECT in partition.path or not any(_contains(other, partition) for other in every)
    )
    return tuple(sorted(kept, key=lambda partition: (partition.index or "", partition.path)))


def _contains(wide: Partitions, narrow: Partitions) -> bool:
    """Whether a pattern that ends in `*` matches everything that the other one matches."""
    before = wide.path.removesuffix(_ANY)
    plain = wide.path.endswith(_ANY) and _ANY not in before and SUBJECT not in before
    return wide != narrow and wide.index == narrow.index and plain and narrow.path.startswith(before)


@lru_cache(maxsize=64)
def hidden_attributes(model: "Model", role: Role) -> tuple[str, ...]:
    """The names of the attributes that the role never reads."""
    declared = [attribute for entity in model.entities.values() for attribute in stored(entity)]
    if role.shows is not None:
        keys = {name for entity in model.entities.values() for place in entity.placements for name in place.names}
        return tuple(sorted({attribute.name for attribute in declared} - {*role.shows, *keys}))
    if role.hides is PERSONAL:
        return tuple(sorted({attribute.name for attribute in declared if attribute.personal}))
    return tuple(sorted(set(role.hides)))


def found_ids(model: "Model", listing: Listing) -> tuple[str, ...]:
    """The attributes that an exact lookup returns: those of the reference that it follows, or of its own key."""
    entity = model.entities[listing.entity]
    if listing.follow is None:
        return tuple(name for name in entity.key_names if name not in model.place(listing).pk.names)
    relation = entity.relation[listing.follow]
    return tuple(bound_attribute(relation, name) for name in own_parameters(model, relation))


def found_attributes(model: "Model", listing: Listing, hidden: Iterable[str]) -> tuple[str, ...]:
    """What an exact lookup may read: the keys, the gateway's own attributes, and the id that it returns."""
    table, place = model.table, model.place(listing)
    keys = next(((index.pk, index.sk) for index in table.indexes if index.name == place.index), ())
    own = (table.pk, table.sk, table.entity_type, table.ttl, *keys)
    return tuple(sorted({*found_ids(model, listing), *own} - set(hidden)))


def stored(entity: Entity) -> tuple[Attribute, ...]:
    """The attributes that an item can have, including those that an upgrade still reads."""
    return (*entity.attributes, *(attribute for upgrade in entity.upgrades for attribute in upgrade.needs))


# Whether two partition keys can be the same text.


# tokens besides `*` and characters: one character that is not the separator, and any number of them
_ONE, _RUN = "\0", "\1"
_WORD: Final = _ONE + _RUN
_RUNS: Final = (_ANY, _RUN)
_WILD: Final = (*_RUNS, _ONE)


def covers(path: str, template: Template) -> bool:
    """Whether a pattern with this path matches a partition key of the template; in doubt, it does."""
    there = (segment.text if isinstance(segment, Literal) else _WORD for segment in template.segments)
    return _meet(path.replace(SUBJECT, _WORD), KEY_SEPARATOR.join(there))


@lru_cache(maxsize=65_536)
def _meet(one: str, other: str) -> bool:
    """Whether some text matches both."""
    if not one and not other:
        return True
    here, there = one[:1] in _RUNS, other[:1] in _RUNS
    if (here and _meet(one[1:], other)) or (there and _meet(one, other[1:])):
        return True
    if not one or not other or (here and there) or not _same(one[0], other[0]):
        return False
    return _meet(one if here else one[1:], other if there else other[1:])


def _same(one: str, other: str) -> bool:
    """Whether a character matches both."""
    if (one in _WILD) is (other in _WILD):
        return one == other or one in _WILD
    char, wildcard = (other, one) if one in _WILD else (one, other)
    return wildcard == _ANY or char != KEY_SEPARATOR
