"""Checks of choices and watches: no set of arguments may fit two listings of a choice."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING

from gateway.model.checks.names import is_field_name
from gateway.model.checks.shapes import shape_faults
from gateway.model.entity import Entity
from gateway.model.patterns import Choice, ItemCollection, Listing, Watch, item_lookup, listing_arguments
from gateway.suggestions import closest

if TYPE_CHECKING:
    from gateway.model.model import Model


def choice_faults(model: "Model", entities: Mapping[str, Entity]) -> Iterator[str]:
    """`entities` are the ones without faults of their own."""
    members = [name for choice in model.choices.values() for name in choice.patterns]
    for choice in model.choices.values():
        faults = [*_faults(model, choice)] or [*_argument_faults(model, entities, choice)]
        faults += [f"`{name}` is in two choices" for name in choice.patterns if members.count(name) > 1]
        if choice.name in model.patterns and choice.name not in choice.patterns:
            faults.append("a pattern has this name; a choice may only have the name of one of its own patterns")
        yield from (f"choice {choice.name}: {fault}" for fault in faults)


def _faults(model: "Model", choice: Choice) -> Iterator[str]:
    if not is_field_name(choice.name):
        yield f"`{choice.name}` is not a name such as ordersOfUser"
    shape = [*shape_faults(choice)]
    yield from shape
    if shape:
        return
    if len(choice.patterns) < 2:
        yield "it needs two patterns or more; a single pattern is already a field"
    patterns = {name: model.patterns.get(name) for name in choice.patterns}
    strange = [name for name, pattern in patterns.items() if not isinstance(pattern, Listing) or pattern.single]
    yield from (f"`{name}` is not a listing of many items" for name in strange)
    counted = {isinstance(pattern, Listing) and pattern.total_count is not None for pattern in patterns.values()}
    if len(counted) > 1:
        yield "either all of its patterns must have a counter, or none, because they share one `totalCount`"
    if len({pattern.entity for pattern in patterns.values() if pattern is not None}) > 1:
        yield "its patterns must all list the same entity"


def _argument_faults(model: "Model", entities: Mapping[str, Entity], choice: Choice) -> Iterator[str]:
    listings = [model.listing(name) for name in choice.patterns]
    if not all(
        listing.entity in entities and entities[listing.entity].placement(listing.index) for listing in listings
    ):
        return  # reported where the listing or its entity is checked
    taken = [(listing, listing_arguments(model, listing)) for listing in listings]
    for (one, here), (other, there) in combinations(taken, 2):
        if here.fits(here.required | there.required) and there.fits(here.required | there.required):
            both = ", ".join(f"`{name}`" for name in sorted(here.required | there.required))
            yield f"{both} fits `{one.name}` and `{other.name}`; give one of them another required argument"
        if one.filter and other.filter and one.filter != other.filter:
            yield f"`{one.name}` and `{other.name}` must have the same filter, because they share one field"
        ranges = {one.between, other.between} & (here.required | there.required)
        yield from (
            f"`{name}` is a single value in one pattern and a range in the other" for name in sorted(ranges, key=str)
        )


def watch_faults(model: "Model", entities: Mapping[str, Entity]) -> Iterator[str]:
    """`entities` are the ones without faults of their own."""
    declared = [watch for domain in model.domains for watch in domain.watches]
    for watch in declared:
        faults = [*shape_faults(watch)] or [*_watch_faults(model, entities, watch)]
        yield from (f"watch {watch.name}: {fault}" for fault in faults)
    counts = Counter(watch.name for watch in declared)
    yield from (f"watch {name}: is declared twice" for name, count in counts.items() if count > 1)


def _watch_faults(model: "Model", entities: Mapping[str, Entity], watch: Watch) -> Iterator[str]:
    if not is_field_name(watch.name):
        yield f"`{watch.name}` is not a name such as orderChanged"
    pattern = model.patterns.get(watch.pattern)
    if pattern is None:
        yield f"there is no pattern `{watch.pattern}`{closest(watch.pattern, model.patterns)}"
    elif isinstance(pattern, ItemCollection):
        yield f"`{watch.pattern}` reads an item with a collection; watch the lookup of {pattern.entity} instead"
    elif pattern.entity in entities and entities[pattern.entity].internal:
        yield f"{pattern.entity} is internal, so it cannot be watched"
    elif isinstance(pattern, Listing) and pattern.entity in entities:
        yield from _watched_list_faults(model, entities[pattern.entity], pattern)


def _watched_list_faults(model: "Model", entity: Entity, listing: Listing) -> Iterator[str]:
    place = entity.placement(listing.index)
    if place is None:
        return  # reported where the listing is checked
    if listing.single:
        yield f"`{listing.name}` returns one item; watch the lookup of {entity.name} instead"
    if place.bucket is not None or listing.window is not None:
        yield f"`{listing.name}` lists a moving time range; watch a listing without buckets and window"
    if item_lookup(model, entity.name) is None:
        yield f"{entity.name} has no lookup, which the id of a changed item needs; declare a Lookup"
