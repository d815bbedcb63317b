"""The entities that the model declares to be migrated, with the reasons."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.errors import BadUserInput
from gateway.model.entity import Entity, Placement
from gateway.model.model import Model


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """The entities that change, each with its reasons, and a fingerprint of their target."""

    reasons: dict[str, tuple[str, ...]]
    fingerprint: str

    @property
    def empty(self) -> bool:
        return not self.reasons


def plan(model: Model, only: tuple[str, ...] = ()) -> MigrationPlan:
    """With `only`, exactly these entities, even without a declared change, to repair wrong items."""
    unknown = sorted(set(only) - set(model.entities))
    if unknown:
        raise BadUserInput(f"there is no entity `{unknown[0]}`")
    reasons_of = {entity.name: tuple(_reasons(model, entity)) for entity in model.entities.values()}
    selected = {name: reasons for name, reasons in reasons_of.items() if (name in only if only else reasons)}
    return MigrationPlan(selected, _fingerprint(model, selected))


def _reasons(model: Model, entity: Entity) -> Iterator[str]:
    if entity.schema > 1:
        yield f"schema {entity.schema}"
    for place in entity.placements:
        if place.filling:
            yield f"`{place.name}` is being filled"
        if place.shards is not None and place.shards.previous is not None:
            yield f"`{place.name}` moves between {place.shards.previous} and {place.shards.count} shards"
    yield from (f"the counter of `{listing.name}` is being filled" for listing in model.filling.get(entity.name, ()))


def _fingerprint(model: Model, selected: dict[str, tuple[str, ...]]) -> str:
    """A hash of placements and schemas: a run can continue only if these are unchanged."""
    entities = [model.entities[name] for name in sorted(selected)]
    places = [[entity.name, entity.schema, *map(_place, entity.placements)] for entity in entities]
    counters = {
        listing.name: listing.counter and listing.counter.shards
        for name in selected
        for listing in model.filling.get(name, ())
    }
    places += [[name, shards] for name, shards in sorted(counters.items())]
    return hashlib.sha256(json.dumps(places).encode()).hexdigest()


def _place(place: Placement) -> list[str | int | None]:
    return [place.name, place.index, place.pk.text, place.sk.text, place.shards.count if place.shards else 0]
