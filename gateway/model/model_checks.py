"""What makes a model wrong as a whole: each fault names the entity, the pattern or the index."""

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from gateway.errors import ModelError
from gateway.model.entity_checks import entity_faults
from gateway.model.name_checks import clashes
from gateway.model.overlap import can_collide
from gateway.model.pattern_checks import names_of, pattern_faults
from gateway.model.patterns import Together
from gateway.model.relation_checks import relation_faults
from gateway.model.table_checks import table_faults
from gateway.model.together_checks import together_faults

if TYPE_CHECKING:
    from gateway.model.model import Model


def check_model(model: "Model") -> None:
    for fault in _faults(model):
        raise ModelError(fault)


def _faults(model: "Model") -> Iterator[str]:
    """The first one counts: a later check may rely on what an earlier one has found to be right."""
    yield from table_faults(model.table)
    yield from _doubles(model)
    yield from _indexes(model)
    for entity in model.entities.values():
        yield from entity_faults(entity)
    yield from clashes(tuple(model.entities.values()))
    yield from _collisions(model)
    for pattern in model.patterns.values():
        yield from pattern_faults(model, pattern)
    for entity in model.entities.values():
        yield from relation_faults(model, entity)
    for pattern in model.patterns.values():
        if isinstance(pattern, Together):
            yield from together_faults(model, pattern)


def _doubles(model: "Model") -> Iterator[str]:
    patterns = [pattern for domain in model.domains for pattern in domain.patterns]
    for kind, names in (
        ("domain", [domain.name for domain in model.domains]),
        ("entity", [entity.name for domain in model.domains for entity in domain.entities]),
        ("pattern", [name for pattern in patterns for name in names_of(pattern)]),
    ):
        yield from (f"{kind} {name}: is declared twice" for name in sorted(set(names)) if names.count(name) > 1)
    pairs = [(pattern.entity, pattern.collection) for pattern in patterns if isinstance(pattern, Together)]
    for entity, collection in sorted(set(pairs)):
        if pairs.count((entity, collection)) > 1:
            yield f"entity {entity}: two patterns read it together with `{collection}`"


def _indexes(model: "Model") -> Iterator[str]:
    known = {index.name for index in model.table.indexes}
    index_keys = {index.pk: index.name for index in model.table.indexes}
    for entity in model.entities.values():
        for attribute in entity.attributes:
            # INVARIANT: an index key is derived from a template, which is what gives it the tenant prefix.
            if attribute.name in index_keys:
                yield (
                    f"entity {entity.name}: `{attribute.name}` is the partition key of {index_keys[attribute.name]} as "
                    "it stands, so that key is not tenant-scoped; declare the index key as a template"
                )
            elif attribute.name in model.table.reserved:
                yield f"entity {entity.name}: `{attribute.name}` is written by the gateway itself"
        for place in entity.placements:
            if place.index is not None and place.index not in known:
                yield f"entity {entity.name}: index {place.index} does not exist, the table has {sorted(known)}"
            elif place.name in known and place.name != place.index:
                yield f"entity {entity.name}: its place `{place.name}` has the name of an index it is not on"


def _collisions(model: "Model") -> Iterator[str]:
    places = [(entity, place) for entity in model.entities.values() for place in entity.placements]
    for (one, here), (other, there) in combinations(places, 2):
        if here.index != there.index:
            continue
        # INVARIANT: two items of a tenant never have one key, whichever entities they are.
        if can_collide((one, here.pk), (other, there.pk)) and can_collide((one, here.sk), (other, there.sk)):
            yield (
                f"entity {one.name}: its key `{here.pk.text}` / `{here.sk.text}` can collide with "
                f"`{there.pk.text}` / `{there.sk.text}` of {other.name} on {here.index or 'the table'}"
            )
