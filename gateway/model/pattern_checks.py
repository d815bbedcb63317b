"""What makes an access pattern or a relation wrong."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.model.entity import Collection, Entity, Placement, Reference, Relation
from gateway.model.overlap import can_collide, leading_literals
from gateway.model.patterns import AccessPattern, Listing, Lookup, Together
from gateway.model.template import DERIVED
from gateway.model.types import KEY_SEPARATOR

if TYPE_CHECKING:
    from gateway.model.model import Model


def pattern_faults(model: "Model", pattern: AccessPattern) -> Iterator[str]:
    entity = model.entities.get(pattern.entity)
    if entity is None:
        yield f"pattern {pattern.name}: there is no entity {pattern.entity}"
    elif isinstance(pattern, Listing):
        yield from _listing_faults(model, entity, pattern)


def _listing_faults(model: "Model", entity: Entity, listing: Listing) -> Iterator[str]:
    place = entity.placement(listing.on)
    if place is None:
        known = [place.name for place in entity.placements]
        yield f"pattern {listing.name}: there is no index or place `{listing.on}`, {entity.name} has {known}"
        return
    if listing.strong and place.index is not None:
        yield f"pattern {listing.name}: an index cannot be read consistently"
    wanted = (*listing.where, *((listing.between,) if listing.between else ()))
    leading = tuple(hole.name for hole in place.sk.holes)[: len(wanted)]
    if wanted != leading:
        yield f"pattern {listing.name}: `{place.sk.text}` cannot be narrowed by {list(wanted)}, only from its left"
    if place.bucket is not None and listing.between != place.bucket.of:
        yield f"pattern {listing.name}: time buckets need `between` over `{place.bucket.of}`"
    if listing.follow is not None:
        target = entity.relation.get(listing.follow)
        if not listing.single or not isinstance(target, Reference):
            yield f"pattern {listing.name}: `follow` needs `single` and a reference of {entity.name}"


def parameters(model: "Model", pattern: AccessPattern) -> tuple[str, ...]:
    """The attributes a caller must give."""
    entity = model.entities[pattern.entity]
    if isinstance(pattern, Listing):
        place = model.place(pattern)
        holes = tuple(hole.name for hole in place.pk.holes if hole.name not in DERIVED)
        return tuple(dict.fromkeys((*holes, *pattern.where)))
    return entity.key_names


def relation_faults(model: "Model", entity: Entity) -> Iterator[str]:
    for relation in entity.relations:
        pattern = model.patterns.get(relation.pattern)
        if pattern is None:
            yield f"entity {entity.name}: relation `{relation.name}` is served by no pattern (`{relation.pattern}`)"
            continue
        if isinstance(relation, Reference) and not isinstance(pattern, Lookup):
            yield f"entity {entity.name}: relation `{relation.name}` is one item and needs a lookup"
        elif isinstance(relation, Collection) and not isinstance(pattern, Lookup if relation.each else Listing):
            needed = "a lookup" if relation.each else "a listing"
            yield f"entity {entity.name}: relation `{relation.name}` needs {needed}, `{pattern.name}` is none"
        yield from _binding_faults(model, entity, relation, pattern)


def bound_attribute(relation: Relation, parameter: str) -> str:
    """The attribute of the item that fills a parameter of the relation's pattern."""
    return relation.bind.get(parameter, parameter)


def _binding_faults(model: "Model", entity: Entity, relation: Relation, pattern: AccessPattern) -> Iterator[str]:
    if pattern.entity not in model.entities:
        return
    free = [name for name in parameters(model, pattern) if bound_attribute(relation, name) not in entity.attribute]
    if isinstance(relation, Collection) and relation.each is not None:
        if len(free) != 1:
            yield f"entity {entity.name}: relation `{relation.name}` must leave one parameter to `{relation.each}`"
    elif free:
        yield f"entity {entity.name}: relation `{relation.name}` leaves {free} of `{pattern.name}` open"


def member_place(model: "Model", pattern: AccessPattern) -> Placement:
    return model.place(pattern) if isinstance(pattern, Listing) else model.entities[pattern.entity].primary


def together_faults(model: "Model", together: Together) -> Iterator[str]:
    root = model.entities[together.entity]
    relation = root.relation.get(together.collection)
    if not isinstance(relation, Collection):
        yield f"pattern {together.name}: {root.name} has no collection `{together.collection}`"
        return
    pattern = model.patterns[relation.pattern]
    place = member_place(model, pattern)
    fixed = leading_literals(place.sk)
    if place.index is not None or root.primary.sk.holes or not fixed:
        yield f"pattern {together.name}: both must lie in the table, under fixed sort key words"
        return
    if [str(segment) for segment in place.pk.segments] != [str(segment) for segment in root.primary.pk.segments]:
        yield f"pattern {together.name}: `{place.pk.text}` and `{root.primary.pk.text}` are not one partition"
    root_first = (root.primary.sk.text > fixed[0]) is (isinstance(pattern, Listing) and pattern.newest_first)
    if isinstance(pattern, Listing) and not root_first:
        yield f"pattern {together.name}: `{root.primary.sk.text}` must come before the members in reading order"
    yield from _between(model, together, place)


def _between(model: "Model", together: Together, place: Placement) -> Iterator[str]:
    root = model.entities[together.entity]
    low, high = sorted([leading_literals(place.sk)[0] + KEY_SEPARATOR, root.primary.sk.text])
    for other in model.entities.values():
        for there in other.placements:
            mine = there is root.primary or (there.pk, there.sk) == (place.pk, place.sk)
            if mine or there.index is not None or not can_collide((root, root.primary.pk), (other, there.pk)):
                continue
            words = leading_literals(there.sk)
            if not words or low <= words[0] + (KEY_SEPARATOR if len(there.sk.segments) > 1 else "") <= high:
                yield f"pattern {together.name}: items of {other.name} (`{there.sk.text}`) lie in between"
