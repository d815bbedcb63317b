"""Checks of a whole model; each fault names the entity, the pattern or the index."""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args

from gateway.errors import ModelError
from gateway.model.checks.choices import choice_faults, watch_faults
from gateway.model.checks.code import query_faults
from gateway.model.checks.demo import demo_faults
from gateway.model.checks.entity import entity_faults, has_sound_keys
from gateway.model.checks.key_overlap import can_collide
from gateway.model.checks.mutations import all_mutation_faults, bulk_faults, error_code_faults, mutation_faults
from gateway.model.checks.names import clashes
from gateway.model.checks.patterns import pattern_faults
from gateway.model.checks.relations import internal_faults, item_collection_faults, relation_faults
from gateway.model.checks.roles import role_faults, role_name_faults
from gateway.model.checks.shapes import shape_faults
from gateway.model.entity import Entity
from gateway.model.mutation import Mutation
from gateway.model.patterns import Choice, ItemCollection, names_of
from gateway.model.role_reach import RESERVED_WORDS
from gateway.model.table import Index, Projection, TableSpec
from gateway.model.types import KEY_SEPARATOR

if TYPE_CHECKING:
    from gateway.model.model import Domain, Model

# Faults of the table: key attributes that are not its own, indexes that DynamoDB refuses.

_INDEX_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_MAX_INDEXES = 20
_MAX_LOCAL_INDEXES = 5
_MOST_OF_INDEX = 20  # attributes that an INCLUDE projection names
_MOST_INCLUDED = 100  # by all indexes of the table


def declared_indexes(model: "Model") -> list[Index]:
    """The indexes of all domains, without values that are not indexes, which their domains report."""
    if any(shape_faults(model, deep=False)):
        return []
    indexes = (
        index for domain in model.domains if not any(shape_faults(domain, deep=False)) for index in domain.indexes
    )
    return [index for index in indexes if not any(shape_faults(index))]


def _contradictions(model: "Model") -> Iterator[str]:
    declared = declared_indexes(model)
    for index in declared:
        if any(other.name == index.name and other != index for other in declared):
            homes = [
                domain.name for domain in model.domains for declared in domain.indexes if declared.name == index.name
            ]
            yield f"index {index.name}: the domains {' and '.join(homes)} declare it differently"


def table_faults(table: TableSpec) -> Iterator[str]:
    shape = [fault for index in table.indexes for fault in shape_faults(index)]
    if shape:
        yield from (f"table: {fault}" for fault in shape)
        return
    own = [table.pk, table.sk, table.ttl, table.entity_type, table.version, table.copy_of]
    if len(set(own)) != len(own):
        yield f"table: one of its own attributes is used twice: {own}"
    taken = [*own, *(name for index in table.indexes for name in _own_keys(index))]
    for index in table.indexes:
        # INVARIANT: an index has key attributes of its own; over SK, for one, its partitions would mix all tenants.
        for name in _own_keys(index):
            if taken.count(name) > 1:
                yield f"index {index.name}: its key `{name}` is used twice, so it is not tenant-scoped by itself"
        if not _INDEX_NAME.fullmatch(index.name):
            yield f"index {index.name}: a name has 3 to 255 letters, digits, `_`, `.` and `-`"
        yield from (f"index {index.name}: {fault}" for fault in _projection_faults(table, index))
    names = [index.name for index in table.indexes]
    yield from (f"index {name}: is declared twice" for name in sorted(set(names)) if names.count(name) > 1)
    yield from _number_faults(table)
    included = sum(len(table.included(index)) for index in table.indexes)
    if included > _MOST_INCLUDED:
        yield f"table: its indexes include {included} attributes, DynamoDB allows {_MOST_INCLUDED}; use ALL for some"


def _number_faults(table: TableSpec) -> Iterator[str]:
    for local, most in ((False, _MAX_INDEXES), (True, _MAX_LOCAL_INDEXES)):
        count = sum(index.local is local for index in table.indexes)
        if count > most:
            yield f"table: it has {count} {'local ' if local else ''}indexes, DynamoDB allows {most}"


def _own_keys(index: Index) -> tuple[str, ...]:
    return (index.sk,) if index.local else (index.pk, index.sk)


def _projection_faults(table: TableSpec, index: Index) -> Iterator[str]:
    included = table.included(index)
    if index.local and index.pk != table.pk:
        yield f"a local index uses the partition key `{table.pk}` of the table; leave out `pk`"
    if index.projection not in get_args(Projection):
        yield f"its projection must be one of {', '.join(get_args(Projection))}, not `{index.projection}`"
    elif index.attributes and index.projection != "INCLUDE":
        yield f'it names attributes, but its projection is {index.projection}; give it `projection="INCLUDE"`'
    elif not index.attributes and index.projection == "INCLUDE":
        yield "its projection is INCLUDE, but it names no attributes; name those that lists show, or use KEYS_ONLY"
    elif len(included) > _MOST_OF_INDEX:
        yield (
            f"it includes {len(index.attributes)} attributes, and the gateway needs"
            f" {len(included) - len(index.attributes)} more; DynamoDB allows {_MOST_OF_INDEX}, so use ALL"
        )
    twice = sorted({name for name in included if included.count(name) > 1})
    yield from (f"it always includes `{name}`; leave it out" for name in twice)


def projection_faults(table: TableSpec, entities: Mapping[str, Entity]) -> Iterator[str]:
    """Attributes that no entity on the index has: a misspelt one would always be read from the table."""
    for index in table.indexes:
        here = [
            entity
            for entity in entities.values()
            if any(placement.index == index.name for placement in entity.placements)
        ]
        names = {name for entity in here for name in entity.attribute}
        for name in index.attributes if here else ():
            if name not in names and name not in table.reserved:
                yield (
                    f"index {index.name}: it includes `{name}`, which is not an attribute of"
                    f" {' or '.join(entity.name for entity in here)}; they have {sorted(names)}"
                )


def check_model(model: "Model") -> None:
    """Raises one error with every fault; declarations that rely on a faulty one are checked once it is fixed."""
    faults = [*shape_faults(model, deep=False)]
    faults = faults or [fault for domain in model.domains for fault in _domain_faults(domain)]
    if faults:
        faults += _faults_by_themselves(model)
    if faults := faults or [*_faults(model)] or [*bulk_faults(model), *role_faults(model)]:
        raise ModelError(*dict.fromkeys(faults))


def _domain_faults(domain: "Domain") -> Iterator[str]:
    """The faults of its own fields and of the names of its members, which other checks rely on."""
    shape = [*shape_faults(domain, deep=False)]
    yield from (f"domain {domain.name}: {fault}" for fault in shape)
    for part in () if shape else ("entities", "patterns", "mutations", "queries", "error_codes", "roles", "watches"):
        for number, member in enumerate(getattr(domain, part)):
            if not isinstance(member.name, str):
                yield f"domain {domain.name}: `{part}[{number}].name` must be a string"
    for index in () if shape else domain.indexes:
        yield from (f"domain {domain.name}: index {index.name}: {fault}" for fault in shape_faults(index))
    yield from (f"domain {domain.name}: {fault}" for fault in demo_faults(domain.demo))


def _faults_by_themselves(model: "Model") -> Iterator[str]:
    """Of the entities and mutations of domains that hold something else as well, which can be checked alone."""
    for domain in () if any(shape_faults(model, deep=False)) else model.domains:
        parts: list[Any] = [domain.entities, domain.mutations]
        parts = [part if isinstance(part, tuple) else (part,) for part in parts]
        for member in (member for part in parts for member in part if isinstance(getattr(member, "name", None), str)):
            if isinstance(member, Entity):
                yield from entity_faults(member)
            elif isinstance(member, Mutation):
                yield from mutation_faults(member)


def _faults(model: "Model") -> Iterator[str]:
    yield from table_faults(model.table)
    yield from _contradictions(model)
    yield from _doubles(model)
    own = {entity.name: [*entity_faults(entity)] for entity in model.entities.values()}
    for entity in model.entities.values():
        if not any(shape_faults(entity)):
            yield from _indexes(model, entity)
        yield from own[entity.name]
    sound = {name: entity for name, entity in model.entities.items() if not own[name] or has_sound_keys(entity)}
    wrong = {query.name: [*query_faults(model, query)] for query in model.queries.values()}
    yield from (fault for faults in wrong.values() for fault in faults)
    right = tuple(query for query in model.queries.values() if not wrong[query.name])
    yield from projection_faults(model.table, sound if len(sound) == len(own) else {})
    yield from clashes(tuple(sound.values()), right)
    yield from _collisions(tuple(sound.values()))
    yield from _reserved_words(tuple(sound.values()))
    yield from _pattern_faults(model, sound)
    yield from choice_faults(model, sound)
    yield from watch_faults(model, sound)
    yield from all_mutation_faults(model)
    yield from error_code_faults(model)
    yield from internal_faults(model)
    yield from role_name_faults(model, sound=not any(own.values()))


def _pattern_faults(model: "Model", entities: Mapping[str, Entity]) -> Iterator[str]:
    """The faults of patterns and relations about these entities, which have no faults of their own."""
    own = {pattern.name: [*pattern_faults(model, entities, pattern)] for pattern in model.patterns.values()}
    yield from (fault for faults in own.values() for fault in faults)
    waiting = {name for name, faults in own.items() if faults or model.patterns[name].entity not in entities}
    for entity in entities.values():
        relations = [relation for relation in entity.relations if relation.pattern not in waiting]
        wrong = {relation.name: [*relation_faults(model, entity, relation)] for relation in relations}
        yield from (fault for faults in wrong.values() for fault in faults)
        right = {name for name, faults in wrong.items() if not faults}
        for together in (pattern for pattern in model.patterns.values() if isinstance(pattern, ItemCollection)):
            # a pattern that names no relation at all is reported
            if together.entity == entity.name and together.collection not in set(entity.relation) - right:
                yield from item_collection_faults(model, entities, together)


def _doubles(model: "Model") -> Iterator[str]:
    declared = [pattern for domain in model.domains for pattern in domain.patterns]
    patterns = [pattern for pattern in declared if not isinstance(pattern, Choice)]
    choices = [choice.name for choice in declared if isinstance(choice, Choice)]
    for kind, names in (
        ("domain", [domain.name for domain in model.domains]),
        ("entity", [entity.name for domain in model.domains for entity in domain.entities]),
        ("choice", choices),
        ("pattern", [name for pattern in patterns for name in names_of(pattern)]),
        ("query", [query.name for domain in model.domains for query in domain.queries]),
    ):
        yield from (
            f"{kind} {name}: is declared twice{_homes(model, name) if kind == 'entity' else ''}"
            for name in sorted(set(names), key=str)
            if names.count(name) > 1
        )
    pairs = [(pattern.entity, pattern.collection) for pattern in patterns if isinstance(pattern, ItemCollection)]
    for entity, collection in sorted(set(pairs), key=str):
        if pairs.count((entity, collection)) > 1:
            yield f"entity {entity}: two patterns read it together with `{collection}`"


def _homes(model: "Model", entity: str) -> str:
    """The domains that declare the entity, if there are several."""
    homes = [domain.name for domain in model.domains for declared in domain.entities if declared.name == entity]
    return f", in the domains {' and '.join(homes)}; rename one of them" if len(set(homes)) > 1 else ""


def _indexes(model: "Model", entity: Entity) -> Iterator[str]:
    index_names = {index.name for index in model.table.indexes}
    index_keys = {index.pk: index.name for index in model.table.indexes}
    for attribute in entity.attributes:
        # INVARIANT: an index key is derived from a template, which is what gives it the tenant prefix.
        if attribute.name in index_keys:
            yield (
                f"entity {entity.name}: `{attribute.name}` is the partition key of {index_keys[attribute.name]} "
                "itself, so that key is not tenant-scoped; declare the index key as a template"
            )
        elif attribute.name in model.table.reserved:
            yield f"entity {entity.name}: `{attribute.name}` is written by the gateway itself"
    for strange in (place.index for place in entity.indexes if place.index not in index_names):
        yield f"entity {entity.name}: index {strange} does not exist; the table has {', '.join(sorted(index_names))}"
    yield from (f"entity {entity.name}: {fault}" for fault in _local_faults(model.table, entity))
    places = (*((copy.name, None) for copy in entity.copies), *((place.name, place.index) for place in entity.indexes))
    for name, index in places:
        if name in index_names and name != index and index in (None, *index_names):
            yield f"entity {entity.name}: its place `{name}` has the name of an index it is not on"


def _local_faults(table: TableSpec, entity: Entity) -> Iterator[str]:
    for place in entity.indexes:
        index = table.index(place.index)
        # INVARIANT: an entry of a local index is in the partition of its item, whatever its place says.
        same = (place.pk, place.shards, place.bucket) == (entity.key.pk, entity.key.shards, entity.key.bucket)
        if index is not None and index.local and not same:
            yield (
                f"its place on {place.index} has the partition key `{place.pk}`; that of a local index is the "
                f"item's own, `{entity.key.pk}` with its shards and bucket: use it, or a global index"
            )


def _reserved_words(entities: tuple[Entity, ...]) -> Iterator[str]:
    """The gateway's own partitions: markers of unique values, records of changes, counters."""
    for entity in entities:
        for place in entity.placements:
            word = place.pk.text.partition(KEY_SEPARATOR)[0]
            if place.index is None and word in RESERVED_WORDS:
                yield f"entity {entity.name}: its key `{place.pk.text}` begins with `{word}`, which the gateway uses"


def _collisions(entities: tuple[Entity, ...]) -> Iterator[str]:
    places = [(entity, place) for entity in entities for place in entity.placements]
    for (one, here), (other, there) in combinations(places, 2):
        if here.index != there.index:
            continue
        # INVARIANT: two items of a tenant never have the same key, whichever entities they are.
        if can_collide((one, here.pk), (other, there.pk)) and can_collide((one, here.sk), (other, there.sk)):
            yield (
                f"entity {one.name}: its key `{here.pk.text}` / `{here.sk.text}` can collide with "
                f"`{there.pk.text}` / `{there.sk.text}` of {other.name} on {here.index or 'the table'}"
            )
