"""Checks of item collections: an item and one of its collections must be readable with one Query."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gateway.model.checks.key_overlap import can_collide
from gateway.model.entity import Collection, Entity, Placement
from gateway.model.patterns import ItemCollection, Listing, bound_attribute, member_place
from gateway.model.template import Hole, Segment, Template
from gateway.model.types import KEY_SEPARATOR

if TYPE_CHECKING:
    from gateway.model.model import Model


def item_collection_faults(model: "Model", entities: Mapping[str, Entity], together: ItemCollection) -> Iterator[str]:
    return (f"pattern {together.name}: {fault}" for fault in _faults(model, entities, together))


def _faults(model: "Model", entities: Mapping[str, Entity], together: ItemCollection) -> Iterator[str]:
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
