"""Checks of access patterns."""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.model.checks.declarations import tuple_faults
from gateway.model.checks.names import is_field_name
from gateway.model.entity import Entity, Placement, Reference
from gateway.model.key_overlap import can_collide, can_match, leading_literals
from gateway.model.patterns import AccessPattern, Listing, names_of
from gateway.model.staleness import staleness_faults
from gateway.model.types import Timestamp

if TYPE_CHECKING:
    from gateway.model.model import Model


def pattern_faults(model: "Model", entities: Mapping[str, Entity], pattern: AccessPattern) -> Iterator[str]:
    """`entities` are those that are right by themselves; of the others it is only known whether they are declared."""
    if pattern.entity not in model.entities:
        yield f"pattern {pattern.name}: there is no entity {pattern.entity}"
    yield from (f"pattern {pattern.name}: {fault}" for fault in _faults(entities, pattern))


def _faults(entities: Mapping[str, Entity], pattern: AccessPattern) -> Iterator[str]:
    yield from (f"`{name}` is not a name such as ordersOfUser" for name in names_of(pattern) if not is_field_name(name))
    if min(pattern.traffic.per_second, pattern.traffic.items, pattern.traffic.item_bytes) <= 0:
        yield "its expected traffic must be more than 0"
    if isinstance(pattern, Listing):
        shape = [*tuple_faults(pattern, {"where": str})]
        yield from shape
        if pattern.entity in entities and not shape:
            yield from _listing_faults(entities, entities[pattern.entity], pattern)


def _listing_faults(entities: Mapping[str, Entity], entity: Entity, listing: Listing) -> Iterator[str]:
    place = entity.placement(listing.index)
    if place is None:
        known = [place.name for place in entity.placements]
        yield f"there is no index or place `{listing.index}`, {entity.name} has {known}"
        return
    if place.filling:
        yield f"`{listing.index}` is still being filled; read it when `gateway migrate verify` finds nothing missing"
    if listing.strong and place.index is not None:
        yield "an index cannot be read consistently"
    if listing.follow is not None:
        target = entity.relation.get(listing.follow)
        if not listing.single or not isinstance(target, Reference):
            yield f"`follow` needs `single` and a reference of {entity.name}"
    yield from _range_faults(entity, place, listing)
    yield from _window_faults(entity, listing)
    yield from _staleness_faults(listing)
    yield from _strangers(entities, entity, place)


def _range_faults(entity: Entity, place: Placement, listing: Listing) -> Iterator[str]:
    wanted = (*listing.where, *((listing.between,) if listing.between else ()))
    if wanted != tuple(hole.name for hole in place.sk.holes)[: len(wanted)]:
        yield f"`{place.sk.text}` cannot be narrowed by {list(wanted)}, only from its left"
    elif listing.between and not entity.attribute[listing.between].type.ordered:
        yield f"a range needs a timestamp or a number; `{listing.between}` is neither"
    if place.bucket is not None and listing.between != place.bucket.of:
        yield f"time buckets need `between` over `{place.bucket.of}`"


def _window_faults(entity: Entity, listing: Listing) -> Iterator[str]:
    between = entity.attribute.get(listing.between or "")
    timed = between is not None and isinstance(between.type, Timestamp)
    if listing.window is not None and not (timed and listing.window > timedelta()):
        yield "a window needs a length, and `between` over a timestamp"


def _staleness_faults(listing: Listing) -> Iterator[str]:
    yield from staleness_faults(listing.cached)
    if listing.cached is not None and listing.strong:
        yield "a strong read is never cached"
    if listing.cached is not None and listing.window is not None:
        yield "a window ends now, so its answers cannot be cached"


def _strangers(entities: Mapping[str, Entity], entity: Entity, place: Placement) -> Iterator[str]:
    """Items of another entity that a listing would return: the words its sort key starts with must tell them apart."""
    prefix = leading_literals(place.sk)
    for other in entities.values():
        for there in other.placements:
            if there.index != place.index or there is place:
                continue
            if can_collide((entity, place.pk), (other, there.pk)) and can_match(prefix, (other, there.sk)):
                yield f"it would also return items of {other.name} (`{there.sk.text}`)"
