"""Referrers of an item: the references that say what happens when it is removed, and the listing that finds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.entity import Entity, Reference
from gateway.model.patterns import Listing, Lookup, bound_attribute, parameters

if TYPE_CHECKING:
    from gateway.model.model import Model


@dataclass(frozen=True, slots=True)
class Referrer:
    """Items of `source` refer to an item by `relation`; `listing` finds all of them."""

    source: Entity
    relation: Reference
    listing: Listing

    @property
    def cascade(self) -> bool:
        return self.relation.on_remove == "cascade"


def target_of(model: "Model", relation: Reference) -> str:
    return model.patterns[relation.pattern].entity


def bound_names(model: "Model", relation: Reference) -> dict[str, str]:
    """The attribute of the source for each part of the target's key."""
    return {name: bound_attribute(relation, name) for name in parameters(model, model.patterns[relation.pattern])}


def referrers(model: "Model", target: str) -> tuple[Referrer, ...]:
    return tuple(_referrers(model, target))


def _referrers(model: "Model", target: str) -> Iterator[Referrer]:
    for source in model.entities.values():
        for relation in source.relations:
            if isinstance(relation, Reference) and relation.on_remove and target_of(model, relation) == target:
                listing = listing_of(model, source, relation)
                if listing is not None:
                    yield Referrer(source, relation, listing)


def listing_of(model: "Model", source: Entity, relation: Reference) -> Listing | None:
    """The listing of all items that refer to an item; one that can be read consistently is preferred."""
    listings = [
        pattern
        for pattern in model.patterns.values()
        if isinstance(pattern, Listing)
        and pattern.entity == source.name
        and _finds_all(model, source, relation, pattern)
    ]
    return min(listings, key=lambda listing: model.place(listing).index is not None, default=None)


def _finds_all(model: "Model", source: Entity, relation: Reference, listing: Listing) -> bool:
    bound, place = set(bound_names(model, relation).values()), model.place(listing)
    partial = place.when is not None or place.bucket is not None or place.filling or listing.window is not None
    present = all(name in bound or source.attribute[name].required for name in place.names)
    return not partial and present and set(parameters(model, listing)) == bound


def reference_faults(model: "Model", source: Entity, relation: Reference) -> Iterator[str]:
    """The faults of what a reference declares for a removal."""
    if relation.on_remove is None:
        return
    if relation.on_remove not in ("restrict", "cascade"):
        yield f'has on_remove={relation.on_remove!r}; write "restrict" or "cascade"'
    elif not isinstance(model.patterns[relation.pattern], Lookup):
        return
    elif listing_of(model, source, relation) is None:
        names = sorted(bound_names(model, relation).values())
        yield (
            f"has `on_remove`, but no listing finds every {source.name} by {names}; declare one over a "
            "place without conditions and buckets, whose key has only attributes that every item has"
        )
    elif relation.on_remove == "cascade" and _reaches(model, source.name, target_of(model, relation), set()):
        yield f"cascades in a circle: removing a {source.name} would lead back to its {target_of(model, relation)}"


def _reaches(model: "Model", target: str, goal: str, seen: set[str]) -> bool:
    """Whether removing one of `target` removes one of `goal`."""
    if target == goal:
        return True
    seen.add(target)
    sources = {referrer.source.name for referrer in referrers(model, target) if referrer.cascade} - seen
    return any(_reaches(model, source, goal, seen) for source in sources)
