"""Checks of access patterns."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, get_args

from gateway.model.checks.entity import has_places
from gateway.model.checks.key_overlap import can_collide, can_match
from gateway.model.checks.names import is_field_name
from gateway.model.checks.shapes import shape_faults
from gateway.model.entity import Entity, Placement, Reference
from gateway.model.filters import FILTER, operators
from gateway.model.patterns import CONSISTENT, LAST_HOURS, ORDER, SLOT, AccessPattern, Lag, Listing, Lookup, names_of
from gateway.model.staleness import staleness_faults
from gateway.model.template import DERIVED
from gateway.model.types import Id, Subject, Timestamp
from gateway.suggestions import closest

if TYPE_CHECKING:
    from gateway.model.model import Model

_MOST_READ = 10_000
_MOST_SHARDS = 32  # of a counter: each is read for every `totalCount`
_ARGUMENTS = frozenset({"first", "after", "last", "before", LAST_HOURS, FILTER, ORDER, CONSISTENT})


def pattern_faults(model: "Model", entities: Mapping[str, Entity], pattern: AccessPattern) -> Iterator[str]:
    """`entities` are the ones without faults of their own; of the others only their names and places are known."""
    shape = [*shape_faults(pattern)]
    if shape:
        yield from (f"pattern {pattern.name}: {fault}" for fault in shape)
        return
    if pattern.entity not in model.entities:
        yield f"pattern {pattern.name}: there is no entity {pattern.entity}{closest(pattern.entity, model.entities)}"
    yield from (f"pattern {pattern.name}: {fault}" for fault in _faults(entities, pattern))
    faulty = model.entities.get(pattern.entity) if pattern.entity not in entities else None
    if isinstance(pattern, Listing) and faulty is not None and has_places(faulty):
        yield from (f"pattern {pattern.name}: {fault}" for fault in _place_faults(faulty, pattern))
    if isinstance(pattern, Listing) and pattern.entity in entities:
        yield from (f"pattern {pattern.name}: {fault}" for fault in _consistency_faults(model, pattern))
        yield from (f"pattern {pattern.name}: {fault}" for fault in _carried_faults(model, pattern))


def _consistency_faults(model: "Model", listing: Listing) -> Iterator[str]:
    place = model.entities[listing.entity].placement(listing.index)
    index = model.table.index(place.index if place is not None else None)
    if index is None:
        return
    if index.local:
        if index.projection != "ALL" and (listing.strong or listing.consistent):
            yield f"it is read consistently, but {index.name} does not carry whole items: give it the projection ALL"
        return
    if listing.strong:
        yield "an index cannot be read consistently, unless it is a local one"
    if listing.consistent:
        yield (
            "an index cannot be read consistently; leave out `consistent`: with `lag` callers see their own changes,"
            " and a copy of the item, or a local index, can be read consistently"
        )


def _carried_faults(model: "Model", listing: Listing) -> Iterator[str]:
    """A filter can only use attributes that the index contains."""
    place = model.entities[listing.entity].placement(listing.index)
    index = place.index if place is not None else None
    carried = model.table.carried(model.table.index(index))
    for name in sorted(set(listing.filter) - carried) if carried is not None else ():
        yield (
            f"it filters by `{name}`, which {index} does not carry; add it to the attributes of the index, or leave it"
            " out of `filter`"
        )


def _faults(entities: Mapping[str, Entity], pattern: AccessPattern) -> Iterator[str]:
    yield from (f"`{name}` is not a name such as ordersOfUser" for name in names_of(pattern) if not is_field_name(name))
    if min(pattern.traffic.per_second, pattern.traffic.items, pattern.traffic.item_bytes) <= 0:
        yield "its expected traffic must be more than 0"
    if isinstance(pattern, Lookup | Listing) and pattern.strong and pattern.consistent:
        yield "with `strong` every read is consistent; leave out `consistent`"
    key = entities[pattern.entity].key_names if pattern.entity in entities else ()
    if isinstance(pattern, Lookup) and pattern.consistent and CONSISTENT in key:
        yield f"`{CONSISTENT}` is an argument of consistent reads; give the attribute another name"
    if isinstance(pattern, Lookup) and pattern.entity in entities:
        yield from _subject_faults(entities[pattern.entity], pattern)
    if isinstance(pattern, Listing) and pattern.entity in entities:
        yield from _listing_faults(entities, entities[pattern.entity], pattern)


def _subject_faults(entity: Entity, lookup: Lookup) -> Iterator[str]:
    """A pattern with the token's subject as its argument must have the subject in its key."""
    ids = [name for name in entity.key_names if isinstance(entity.attribute[name].type, Id)]
    if lookup.subject is not None and (len(entity.key_names) != 1 or len(ids) != 1):
        key = ", ".join(f"`{name}`" for name in entity.key_names)
        yield (
            f"`subject` needs a key of one Id, which the token's subject fills; the key of {entity.name} consists of "
            f"{key}: use `defaults` for the part that is the subject"
        )
    yield from _default_faults(entity, lookup.defaults, entity.key_names)


def _default_faults(entity: Entity, defaults: Mapping[str, Subject], names: Iterable[str]) -> Iterator[str]:
    taken = tuple(names)
    for name, default in defaults.items():
        if name not in taken:
            yield f"`defaults` names `{name}`; its arguments are {', '.join(f'`{name}`' for name in taken) or 'none'}"
        elif default != Subject() or not isinstance(entity.attribute[name].type, Id):
            yield f"`defaults` of `{name}`: the only default is Subject(), for an Id"


def _place_faults(entity: Entity, listing: Listing) -> Iterator[str]:
    place_names = [place.name for place in entity.placements]
    if listing.index not in place_names:
        yield f"there is no index or place `{listing.index}`, {entity.name} has {place_names}"


def _listing_faults(entities: Mapping[str, Entity], entity: Entity, listing: Listing) -> Iterator[str]:
    yield from _place_faults(entity, listing)
    place = entity.placement(listing.index)
    if place is None:
        return
    if place.filling:
        yield f"`{listing.index}` is still being filled; read it when `gateway migrate verify` finds nothing missing"
    if listing.lag not in get_args(Lag):
        yield f"`lag` must be one of {', '.join(f'`{name}`' for name in get_args(Lag))}, not `{listing.lag}`"
    if listing.follow is not None:
        target = entity.relation.get(listing.follow)
        if not listing.single or not isinstance(target, Reference):
            yield f"`follow` needs `single` and a reference of {entity.name}"
    yield from _default_faults(entity, listing.defaults, (*sorted(place.pk.names - DERIVED), *listing.where))
    yield from _range_faults(entity, place, listing)
    yield from _window_faults(entity, listing)
    yield from _order_faults(entity, place, listing)
    yield from _argument_faults(place, listing)
    yield from _filter_faults(entity, place, listing)
    yield from _counter_faults(entity, place, listing)
    yield from _staleness_faults(listing)
    yield from _strangers(entities, entity, place)


def _range_faults(entity: Entity, place: Placement, listing: Listing) -> Iterator[str]:
    attributes = (*listing.where, *((listing.between,) if listing.between else ()))
    unknown = [name for name in attributes if name not in entity.attribute]
    yield from (
        f"it is narrowed by the unknown attribute `{name}`{closest(name, entity.attribute)}" for name in unknown
    )
    if unknown:
        return
    if attributes != tuple(hole.name for hole in place.sk.holes)[: len(attributes)]:
        yield f"`{place.sk.text}` cannot be narrowed by {list(attributes)}, only by its leading parts"
    elif listing.between and not entity.attribute[listing.between].type.ordered:
        yield f"a range needs a timestamp or a number; `{listing.between}` is neither"
    if place.bucket is not None and listing.between != place.bucket.of:
        yield f"time buckets need `between` over `{place.bucket.of}`"


def _window_faults(entity: Entity, listing: Listing) -> Iterator[str]:
    between = entity.attribute.get(listing.between or "")
    timed = between is not None and isinstance(between.type, Timestamp)
    if listing.window is not None and not (timed and listing.window > timedelta()):
        yield "a window needs a length, and `between` over a timestamp"


def _order_faults(entity: Entity, place: Placement, listing: Listing) -> Iterator[str]:
    if not listing.reversible:
        return
    sorted_by = [hole.name for hole in place.sk.holes if hole.name not in listing.where]
    attribute = entity.attribute.get(sorted_by[0]) if sorted_by else None
    if listing.single or attribute is None or not isinstance(attribute.type, Timestamp):
        yield f"`reversible` needs a list that is sorted by a timestamp; `{place.sk.text}` is not"


def _argument_faults(place: Placement, listing: Listing) -> Iterator[str]:
    """Arguments that every list has; an attribute with such a name could not be an argument."""
    taken = (place.pk.names | {*listing.where, listing.between or ""}) & _ARGUMENTS
    yield from (f"`{name}` is an argument of lists; give the attribute another name" for name in sorted(taken))


def _filter_faults(entity: Entity, place: Placement, listing: Listing) -> Iterator[str]:
    if not listing.filter:
        return
    upgraded = {name for upgrade in entity.upgrades for name in upgrade.gives}
    for name in listing.filter:
        attribute = entity.attribute.get(name)
        if attribute is None:
            yield f"it filters by `{name}`, which is not an attribute of {entity.name}{closest(name, entity.attribute)}"
        elif not operators(attribute):
            yield f"it cannot filter by `{name}`: its stored form cannot be compared"
        elif name in upgraded:
            yield f"it cannot filter by `{name}`, which older items get from an upgrade; run `gateway migrate` first"
    if place.bucket is not None or listing.single:
        yield "only a list without time buckets can be filtered"
    least = place.shards.read if place.shards is not None else 1
    if not least <= listing.max_read <= _MOST_READ:
        yield f"`max_read` must be between {least} and {_MOST_READ:,}"


def _counter_faults(entity: Entity, place: Placement, listing: Listing) -> Iterator[str]:
    if listing.counter is None:
        return
    if not 1 <= listing.counter.shards <= _MOST_SHARDS:
        yield f"its counter must have between 1 and {_MOST_SHARDS} shards"
    if listing.single or place.bucket is not None:
        yield "only a list without time buckets can be counted"
    if entity.expiry is not None:
        yield f"it cannot be counted: {entity.name} expires, and a counter does not notice items that DynamoDB deletes"
    decided = place.decided_by | set(listing.where)
    upgraded = sorted(decided & {name for upgrade in entity.upgrades for name in upgrade.gives})
    yield from (f"it cannot be counted by `{name}`, which older items get from an upgrade" for name in upgraded)
    if SLOT in decided:
        yield f"`{SLOT}` is reserved for counters; give the attribute another name"


def _staleness_faults(listing: Listing) -> Iterator[str]:
    yield from staleness_faults(listing.cached)
    if listing.cached is not None and listing.strong:
        yield "a strong read is never cached"
    if listing.cached is not None and listing.window is not None:
        yield "a window ends at the current time, so its pages cannot be cached"


def _strangers(entities: Mapping[str, Entity], entity: Entity, place: Placement) -> Iterator[str]:
    """Items of another entity that a listing would return, unless the words at the start of its sort key exclude
    them."""
    prefix = place.sk.leading_literals
    for other in entities.values():
        for there in other.placements:
            if there.index != place.index or there is place:
                continue
            if can_collide((entity, place.pk), (other, there.pk)) and can_match(prefix, (other, there.sk)):
                yield f"it would also return items of {other.name} (`{there.sk.text}`)"
