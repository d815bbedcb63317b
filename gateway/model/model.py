"""The whole declaration: entities and access patterns over one table, checked on creation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gateway.errors import ModelError
from gateway.model.checks.entity import entity_faults
from gateway.model.checks.keys import longest_text
from gateway.model.checks.model import check_model, declared_indexes
from gateway.model.code import CustomQuery
from gateway.model.demo import Demo
from gateway.model.entity import Entity, Placement
from gateway.model.error_code import ErrorCode
from gateway.model.mutation import Mutation
from gateway.model.patterns import AccessPattern, Choice, ItemCollection, Listing, Lookup, Watch, counter_entity
from gateway.model.referrers import Referrer, referrers
from gateway.model.role import STANDARD_ROLES, Role
from gateway.model.table import Index, TableSpec
from gateway.model.tenant import MAX_PREFIX


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Domain:
    """Entities, patterns and mutations that belong together, such as commerce. Compared by identity, as a model is."""

    name: str
    description: str
    entities: tuple[Entity, ...]
    patterns: tuple[AccessPattern | Choice, ...]
    mutations: tuple[Mutation, ...] = ()
    demo: Demo | None = None
    queries: tuple[CustomQuery, ...] = ()
    error_codes: tuple[ErrorCode, ...] = ()  # codes of its own, for the errors in payloads
    roles: tuple[Role, ...] = ()  # strongest first; if no domain declares any, the standard roles
    indexes: tuple[Index, ...] = ()  # in addition to GSI1 to GSI3, or one of these with another projection
    watches: tuple[Watch, ...] = ()  # its subscriptions


@dataclass(frozen=True, kw_only=True, eq=False)
class Model:
    """All domains that one gateway serves; creating it raises a `ModelError` with every fault.

    Models are compared by identity, so that derived values can be cached by model.
    """

    domains: tuple[Domain, ...]
    table: TableSpec = field(default_factory=TableSpec)

    def __post_init__(self) -> None:
        if isinstance(self.table, TableSpec):  # the check reports faulty declarations
            object.__setattr__(self, "table", self.table.with_indexes(declared_indexes(self)))
        check_model(self)

    @cached_property
    def entities(self) -> Mapping[str, Entity]:
        return {entity.name: entity for domain in self.domains for entity in domain.entities}

    @cached_property
    def patterns(self) -> Mapping[str, AccessPattern]:
        declared = (pattern for domain in self.domains for pattern in domain.patterns)
        return {pattern.name: pattern for pattern in declared if not isinstance(pattern, Choice)}

    @cached_property
    def choices(self) -> Mapping[str, Choice]:
        """Fields with several listings behind them."""
        declared = (pattern for domain in self.domains for pattern in domain.patterns)
        return {choice.name: choice for choice in declared if isinstance(choice, Choice)}

    @cached_property
    def choice_of(self) -> Mapping[str, Choice]:
        """The choices by their listings, which have no field of their own."""
        return {name: choice for choice in self.choices.values() for name in choice.patterns}

    @cached_property
    def mutations(self) -> tuple[Mutation, ...]:
        return tuple(mutation for domain in self.domains for mutation in domain.mutations)

    @cached_property
    def queries(self) -> Mapping[str, CustomQuery]:
        return {query.name: query for domain in self.domains for query in domain.queries}

    @cached_property
    def watches(self) -> Mapping[str, Watch]:
        return {watch.name: watch for domain in self.domains for watch in domain.watches}

    @cached_property
    def error_codes(self) -> tuple[ErrorCode, ...]:
        return tuple(code for domain in self.domains for code in domain.error_codes)

    @cached_property
    def all_roles(self) -> Mapping[str, Role]:
        """The roles in tokens, and those that mutations act in: each has a session policy."""
        declared = [role for domain in self.domains for role in domain.roles]
        callers = () if any(not role.acting for role in declared) else STANDARD_ROLES
        return {role.name: role for role in (*callers, *declared)}

    @cached_property
    def roles(self) -> Mapping[str, Role]:
        """The roles that a token can carry: those of all domains, strongest first, or the standard ones."""
        return {name: role for name, role in self.all_roles.items() if not role.acting}

    @cached_property
    def placements(self) -> tuple[tuple[Entity, Placement], ...]:
        """Every place of every entity."""
        return tuple((entity, place) for entity in self.entities.values() for place in entity.placements)

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
        """The patterns that return an entity together with one of its collections."""
        patterns = (pattern for pattern in self.patterns.values() if isinstance(pattern, ItemCollection))
        return {(pattern.entity, pattern.collection): pattern for pattern in patterns}

    @cached_property
    def referrers(self) -> Mapping[str, tuple[Referrer, ...]]:
        """By target entity: the references that say what happens when an item of it is removed."""
        by_target = {name: referrers(self, name) for name in self.entities}
        return {name: references for name, references in by_target.items() if references}

    @cached_property
    def counters(self) -> Mapping[str, Entity]:
        """By the name of a counted listing: the entity of the rows that count its items."""
        listings = (pattern for pattern in self.patterns.values() if isinstance(pattern, Listing))
        return {
            listing.name: counter_entity(self, listing, listing.counter)
            for listing in listings
            if listing.counter is not None
        }

    @cached_property
    def counted(self) -> Mapping[str, tuple[Listing, ...]]:
        """By entity: the listings that count its items."""
        listings = [self.listing(name) for name in self.counters]
        names = dict.fromkeys(listing.entity for listing in listings)
        return {name: tuple(listing for listing in listings if listing.entity == name) for name in names}

    @cached_property
    def filling(self) -> Mapping[str, tuple[Listing, ...]]:
        """By entity: the listings whose counters do not include all items yet."""
        by_entity = {
            name: tuple(listing for listing in own if listing.total_count is None) for name, own in self.counted.items()
        }
        return {name: listings for name, listings in by_entity.items() if listings}

    @cached_property
    def whole_items(self) -> Mapping[str, frozenset[str]]:
        """By entity: what a change of an item needs: all values, the version, and marks of counters being filled."""
        table = self.table
        marks = dict.fromkeys(self.filling, (table.counted_by,))
        return {
            name: frozenset((*entity.attribute, table.version, *marks.get(name, ())))
            for name, entity in self.stored.items()
        }

    @cached_property
    def longest_keys(self) -> Mapping[str, int]:
        """By entity: more bytes than the keys of an item can have as JSON, in the table and in all indexes."""
        names = (self.table.pk, self.table.sk, *(name for index in self.table.indexes for name in (index.pk, index.sk)))
        frames = sum(len(f'"{name}":{{"S":""}},') for name in names)
        # a byte of a key text takes two at most, because it has no control characters
        return {
            entity.name: frames
            + sum(
                2 * (MAX_PREFIX + longest_text(entity, place.pk) + longest_text(entity, place.sk))
                for place in entity.placements
            )
            for entity in self.entities.values()
        }

    @cached_property
    def stored(self) -> Mapping[str, Entity]:
        """Every kind of row that is read as an item: the entities, and the rows of counters."""
        return {**self.entities, **{counter.name: counter for counter in self.counters.values()}}

    def place(self, listing: Listing) -> Placement:
        place = self.entities[listing.entity].placement(listing.index)
        if place is None:
            raise ModelError(f"pattern {listing.name}: {listing.entity} has no place `{listing.index}`")
        return place


def is_sound(entity: Entity) -> bool:
    """Whether the entity has no faults of its own; its model reports the faults."""
    return not any(entity_faults(entity))
