"""What makes a model wrong as a whole: each fault names the entity or the pattern."""

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from gateway.errors import ModelError
from gateway.model.entity import Entity, Placement
from gateway.model.entity_checks import entity_faults
from gateway.model.overlap import can_collide, can_match, leading_literals
from gateway.model.pattern_checks import pattern_faults, relation_faults, together_faults
from gateway.model.patterns import Listing, Together

if TYPE_CHECKING:
    from gateway.model.model import Model

Place = tuple[Entity, Placement]


def check_model(model: "Model") -> None:
    for fault in _faults(model):
        raise ModelError(fault)


def _faults(model: "Model") -> Iterator[str]:
    yield from _doubles(model)
    for entity in model.entities.values():
        yield from entity_faults(entity)
    yield from _indexes(model)
    yield from _collisions(model)
    for pattern in model.patterns.values():
        yield from pattern_faults(model, pattern)
    for entity in model.entities.values():
        yield from relation_faults(model, entity)
    for pattern in model.patterns.values():
        if isinstance(pattern, Together):
            yield from together_faults(model, pattern)
        if isinstance(pattern, Listing):
            yield from _strangers(model, pattern)


def _doubles(model: "Model") -> Iterator[str]:
    for kind, names in (
        ("entity", [entity.name for domain in model.domains for entity in domain.entities]),
        ("pattern", [pattern.name for domain in model.domains for pattern in domain.patterns]),
    ):
        yield from (f"{kind} {name} is declared twice" for name in sorted(set(names)) if names.count(name) > 1)


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


def all_places(model: "Model") -> list[Place]:
    return [(entity, place) for entity in model.entities.values() for place in entity.placements]


def _collisions(model: "Model") -> Iterator[str]:
    for (one, here), (other, there) in combinations(all_places(model), 2):
        if here.index != there.index or (one is other and here.index is not None):
            continue
        if can_collide((one, here.pk), (other, there.pk)) and can_collide((one, here.sk), (other, there.sk)):
            yield (
                f"entity {one.name}: its key `{here.pk.text}` / `{here.sk.text}` can collide with "
                f"`{there.pk.text}` / `{there.sk.text}` of {other.name} on {here.index or 'the table'}"
            )


def _strangers(model: "Model", listing: Listing) -> Iterator[str]:
    """Items of another entity that a listing would return: its sort key prefix must tell them apart."""
    entity, place = model.entities[listing.entity], model.place(listing)
    prefix = leading_literals(place.sk)
    for other, there in all_places(model):
        if there.index != place.index or (other is entity and there.name == place.name):
            continue
        if can_collide((entity, place.pk), (other, there.pk)) and can_match(prefix, (other, there.sk)):
            yield f"pattern {listing.name}: it would also return items of {other.name} (`{there.sk.text}`)"
