"""The whole declaration: entities and access patterns over one table, checked when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gateway.errors import ModelError
from gateway.model.checks.entity import entity_faults
from gateway.model.checks.model import check_model
from gateway.model.entity import Entity, Placement
from gateway.model.patterns import AccessPattern, ItemCollection, Listing, Lookup
from gateway.model.table import TableSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Domain:
    """Entities and patterns that belong together, such as commerce."""

    name: str
    description: str
    entities: tuple[Entity, ...]
    patterns: tuple[AccessPattern, ...]


@dataclass(frozen=True, kw_only=True)
class Model:
    domains: tuple[Domain, ...]
    table: TableSpec = field(default_factory=TableSpec)

    def __post_init__(self) -> None:
        check_model(self)

    @cached_property
    def entities(self) -> Mapping[str, Entity]:
        return {entity.name: entity for domain in self.domains for entity in domain.entities}

    @cached_property
    def patterns(self) -> Mapping[str, AccessPattern]:
        return {pattern.name: pattern for domain in self.domains for pattern in domain.patterns}

    def lookup(self, name: str) -> Lookup:
        pattern = self.patterns.get(name)
        if not isinstance(pattern, Lookup):
            raise ModelError(f"`{name}` is not a lookup")
        return pattern

    def listing(self, name: str) -> Listing:
        pattern = self.patterns.get(name)
        if not isinstance(pattern, Listing):
            raise ModelError(f"`{name}` is not a listing")
        return pattern

    @cached_property
    def item_collections(self) -> Mapping[tuple[str, str], ItemCollection]:
        """The patterns that answer an entity and one of its collections at once."""
        found = (pattern for pattern in self.patterns.values() if isinstance(pattern, ItemCollection))
        return {(pattern.entity, pattern.collection): pattern for pattern in found}

    def place(self, listing: Listing) -> Placement:
        place = self.entities[listing.entity].placement(listing.index)
        if place is None:
            raise ModelError(f"pattern {listing.name}: {listing.entity} has no place `{listing.index}`")
        return place


def is_sound(entity: Entity) -> bool:
    """Whether nothing is wrong with the entity by itself; its model names the faults."""
    return not any(entity_faults(entity))
