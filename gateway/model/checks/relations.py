"""Checks of relations: a pattern must serve each, and the item must fill its parameters.

An item collection must be readable with one Query, and nothing in the schema may lead to an internal entity.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.checks.key_overlap import can_collide
from gateway.model.entity import Collection, Entity, Placement, Reference, Relation, Total
from gateway.model.patterns import (
    AccessPattern,
    ItemCollection,
    Listing,
    Lookup,
    bound_attribute,
    member_place,
    open_parameters,
    own_parameters,
    parameters,
)
from gateway.model.referrers import reference_faults
from gateway.model.template import Hole, Segment, Template
from gateway.model.types import KEY_SEPARATOR, AttributeType, DecimalNumber, EnumOf, Integer, ListOf
from gateway.suggestions import closest

if TYPE_CHECKING:
    from gateway.model.model import Model

_MOST_ITEMS = 100  # of a total: as many as one batch reads


def relation_faults(model: "Model", entity: Entity, relation: Relation) -> Iterator[str]:
    owner = f"entity {entity.name}: relation `{relation.name}`"
    return (f"{owner} {fault}" for fault in _faults(model, entity, relation))


def _faults(model: "Model", entity: Entity, relation: Relation) -> Iterator[str]:
    pattern = model.patterns.get(relation.pattern)
    if pattern is None:
        yield f"names the unknown pattern `{relation.pattern}`{closest(relation.pattern, model.patterns)}"
        return
    wrong_kind = [*_kind_faults(relation, pattern)]
    if wrong_kind:
        yield from wrong_kind
        return
    strange = sorted(set(relation.bind) - set(parameters(model, pattern)))
    if strange:
        yield f"binds {strange}, which `{pattern.name}` does not take"
    if isinstance(relation, Total):
        yield from _total_faults(model, relation, pattern)
    binding = [*_binding_faults(model, entity, relation, pattern)]
    yield from binding
    if isinstance(relation, Reference) and not binding:
        yield from reference_faults(model, entity, relation)


def _kind_faults(relation: Relation, pattern: AccessPattern) -> Iterator[str]:
    if isinstance(relation, Reference | Total) or relation.each is not None:
        if not isinstance(pattern, Lookup):
            yield f"needs a lookup, but `{pattern.name}` is not one"
    elif not isinstance(pattern, Listing) or pattern.single:
        yield f"needs a listing of many items, but `{pattern.name}` is not one"


def _total_faults(model: "Model", relation: Total, pattern: AccessPattern) -> Iterator[str]:
    target, pattern_parameters = model.entities[pattern.entity], parameters(model, pattern)
    strange = sorted({relation.over, *relation.fixed} - set(pattern_parameters))
    if strange:
        yield f"gives {strange}, which `{pattern.name}` does not take"
    elif not isinstance(target.attribute[relation.over].type, Integer):
        yield f"counts over `{relation.over}`, which is not a whole number"
    summed = target.attribute.get(relation.attribute)
    if summed is None or not isinstance(summed.type, Integer | DecimalNumber):
        yield f"sums `{relation.attribute}`, which is not a number of {target.name}"
    if not 1 <= relation.count <= _MOST_ITEMS:
        yield f"sums {relation.count} items; it may sum 1 to {_MOST_ITEMS}"


def _binding_faults(model: "Model", entity: Entity, relation: Relation, pattern: AccessPattern) -> Iterator[str]:
    left = open_parameters(model, entity, relation)
    if isinstance(relation, Collection) and relation.each is not None:
        if len(left) != 1:
            yield f"must leave one parameter to `{relation.each}`, it leaves {list(left)}"
            return
    elif left:
        yield f"leaves {list(left)} of `{pattern.name}` open"
    target = model.entities[pattern.entity]
    for name in own_parameters(model, relation):
        own = _own_type(entity, relation, name, left)
        if own is not None and not _fills(own, target.attribute[name].type):
            yield f"fills `{name}` of `{pattern.name}` with a value of another type"


def _fills(own: AttributeType, target: AttributeType) -> bool:
    """Whether a value of one type finds what was stored with the other; their bounds and patterns do not matter."""
    if isinstance(own, EnumOf):
        return own == target
    return type(own) is type(target) and getattr(own, "normalise", None) == getattr(target, "normalise", None)


def _own_type(entity: Entity, relation: Relation, parameter: str, left: tuple[str, ...]) -> AttributeType | None:
    if parameter not in left:
        return entity.attribute[bound_attribute(relation, parameter)].type
    listed = entity.attribute.get(relation.each) if isinstance(relation, Collection) and relation.each else None
    return listed.type.of if listed is not None and isinstance(listed.type, ListOf) else None


# Item collections: an item and one of its collections must be readable with one Query.


def item_collection_faults(model: "Model", entities: Mapping[str, Entity], together: ItemCollection) -> Iterator[str]:
    return (f"pattern {together.name}: {fault}" for fault in _collection_faults(model, entities, together))


def _collection_faults(model: "Model", entities: Mapping[str, Entity], together: ItemCollection) -> Iterator[str]:
    root = model.entities[together.entity]
    relation = root.relation.get(together.collection)
    if not isinstance(relation, Collection):
        yield f"{root.name} has no collection `{together.collection}`"
        return
    pattern = model.patterns[relation.pattern]
    place = member_place(model, pattern)
    if place.index is not None or root.primary.sk.holes or not place.sk.leading_literals or not place.sk.holes:
        yield "both must be in the table: the item with a fixed sort key, the members with a word at the start of it"
        return
    yield from _partition_faults(root, relation, place)
    if isinstance(pattern, Listing):
        yield from _order_faults(root, place, pattern)
    yield from (
        f"items of {other.name} (`{there.sk.text}`) are in between"
        for other, there in _neighbours(entities, root, place)
        if _between(root.primary.sk, place.sk, there.sk)
    )


def _partition_faults(root: Entity, relation: Collection, place: Placement) -> Iterator[str]:
    bound = tuple(_bound(relation, segment) for segment in place.pk.segments)
    if bound != root.primary.pk.segments or place.shards or place.bucket:
        yield f"`{place.pk.text}` and `{root.primary.pk.text}` are not one partition"


def _bound(relation: Collection, segment: Segment) -> Segment:
    return replace(segment, name=bound_attribute(relation, segment.name)) if isinstance(segment, Hole) else segment


def _order_faults(root: Entity, place: Placement, listing: Listing) -> Iterator[str]:
    if listing.where:
        yield f"`{listing.name}` is narrowed by {list(listing.where)}, which one Query for both cannot be"
    if listing.window is not None:
        yield f"`{listing.name}` reads a window of time, which one Query for both cannot"
    if (root.primary.sk.text > place.sk.leading_literals[0]) is not listing.newest_first:
        yield f"`{root.primary.sk.text}` must come before the members in reading order"


def _neighbours(entities: Mapping[str, Entity], root: Entity, place: Placement) -> Iterator[tuple[Entity, Placement]]:
    for other in entities.values():
        for there in other.placements:
            own = there is root.primary or there is place
            if not own and there.index is None and can_collide((root, root.primary.pk), (other, there.pk)):
                yield other, there


def _between(root: Template, members: Template, other: Template) -> bool:
    """Whether the other keys can be in the range that starts at the item and ends with its last member."""
    low, high = sorted([members.leading_literals[0] + KEY_SEPARATOR, root.text])
    words = other.leading_literals
    return not words or low <= words[0] + (KEY_SEPARATOR if len(other.segments) > 1 else "") <= high


# Internal entities: nothing in the schema may lead to an entity that is not in it.

_FIX = "answer with another entity, or remove `internal`"


def internal_faults(model: "Model") -> Iterator[str]:
    """Only totals, and mutations that return another entity, may read an internal entity."""
    internal = {entity.name for entity in model.entities.values() if entity.internal}
    yield from _leading_faults(model, internal)
    for choice in model.choices.values():
        for name in (pattern for pattern in choice.patterns if pattern in model.patterns):
            if model.patterns[name].entity in internal:
                yield f"choice {choice.name}: `{name}` lists {model.patterns[name].entity}, which is internal"
    for mutation in model.mutations:
        returned: object = mutation.returns  # a faulty declaration may have any value here
        if isinstance(returned, str) and returned in internal:
            yield f"mutation {mutation.name}: answers with {mutation.returns}, which is internal: {_FIX}"
    for query in model.queries.values():
        if isinstance(query.returns, str) and query.returns in internal:
            yield f"query {query.name}: it returns {query.returns}, which is internal: {_FIX}"


def _leading_faults(model: "Model", internal: set[str]) -> Iterator[str]:
    for entity in (other for other in model.entities.values() if other.name not in internal):
        for relation in entity.relations:
            pattern = model.patterns.get(relation.pattern)
            if pattern is not None and pattern.entity in internal and not isinstance(relation, Total):
                yield (
                    f"entity {entity.name}: relation `{relation.name}` leads to {pattern.entity}, which is internal: "
                    "only a Total may refer to an internal entity; remove the relation or `internal`"
                )
