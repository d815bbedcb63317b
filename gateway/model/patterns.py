"""Named access patterns: every way to read the table, and the parameters that a caller or an item fills."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from gateway.errors import BadUserInput
from gateway.model.entity import PRIMARY, Attribute, Collection, Entity, Key, Placement, Relation, Total
from gateway.model.filters import FILTER
from gateway.model.staleness import Staleness
from gateway.model.template import DERIVED, Hole
from gateway.model.types import KEY_SEPARATOR, Integer, Subject

if TYPE_CHECKING:
    from gateway.model.model import Model


@dataclass(frozen=True, slots=True)
class Traffic:
    """The expected traffic of a pattern, for the documentation and for capacity planning."""

    per_second: float = 1
    items: int = 1
    item_bytes: int = 500


LAST_HOURS = "lastHours"  # the argument of a listing with a window
ORDER = "order"  # the argument with which callers choose the order of a list
CONSISTENT = "consistent"  # the argument that requests a strongly consistent read
# how a list on an index shows what its caller has just written: it reads the items from the table, waits until the
# index shows them, or reports that it may not show them yet
Lag = Literal["through_table", "wait", "say"]


class ListOrder(Enum):
    """The order of a list by time."""

    NEWEST_FIRST = "The latest time comes first."
    OLDEST_FIRST = "The earliest time comes first."


@dataclass(frozen=True, slots=True)
class Counter:
    """Counts the items of a listing in the transactions that change them.

    The count is a sum over several rows, since one row takes only a limited number of writes per second; their
    number may only grow.
    """

    shards: int = 4
    filling: bool = False  # maintained but not shown yet: older items are still to be counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """Reads by the full key of an entity: GetItem for one, BatchGetItem for many."""

    name: str
    entity: str
    description: str
    many: str | None = None  # the field that reads many items together
    subject: str | None = None  # the field that reads the caller's own item: its key is the token's subject
    defaults: Mapping[str, Subject] = field(default_factory=dict)  # arguments that callers may leave out
    strong: bool = False  # every read is strongly consistent
    consistent: bool = False  # callers may request a strongly consistent read
    traffic: Traffic = Traffic()
    deprecated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A Query on one placement of an entity: the table itself, one of its copies, or an index.

    Its parameters are the attributes of the partition key, the sort key attributes in `where`, and an optional range
    over the sort key attribute `between`. With a `window`, an open end is filled in: without any range, the most
    recent window is read, and callers may instead request the last hours.
    """

    name: str
    entity: str
    description: str
    index: str = PRIMARY
    where: tuple[str, ...] = ()
    defaults: Mapping[str, Subject] = field(default_factory=dict)  # arguments that callers may leave out
    between: str | None = None
    window: timedelta | None = None
    newest_first: bool = False  # descending sort keys
    reversible: bool = False  # callers may request the newest or the oldest first
    filter: tuple[str, ...] = ()  # attributes that callers may filter by
    max_read: int = 500  # items that a page may read to fill itself when it is filtered
    single: bool = False  # returns at most one item
    follow: str | None = None  # with `single`: return the item that this reference leads to
    strong: bool = False  # every read is strongly consistent
    consistent: bool = False  # callers may request a strongly consistent read
    lag: Lag = "through_table"  # of an index: how callers see their own changes
    cached: Staleness | None = None  # how stale a page may be
    counter: Counter | None = None  # callers may request its `totalCount`
    traffic: Traffic = Traffic(items=20)
    deprecated: str | None = None

    @property
    def total_count(self) -> Counter | None:
        """The counter that callers see."""
        return self.counter if self.counter is not None and not self.counter.filling else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCollection:
    """An item and the first page of one of its collections from one Query, since both are in one partition."""

    name: str
    entity: str
    collection: str
    description: str
    traffic: Traffic = Traffic(items=20)


AccessPattern = Lookup | Listing | ItemCollection


def names_of(pattern: AccessPattern) -> tuple[str, ...]:
    """The names of its fields: for one item and, if it has them, for many and for the item of the token's subject."""
    more = (pattern.many, pattern.subject) if isinstance(pattern, Lookup) else ()
    return (pattern.name, *(name for name in more if name is not None))


def subject_arguments(model: "Model", pattern: AccessPattern, name: str) -> tuple[str, ...]:
    """The arguments of this field that default to the token's subject."""
    if isinstance(pattern, Lookup) and name == pattern.subject:
        return parameters(model, pattern)
    return tuple(pattern.defaults) if isinstance(pattern, Lookup | Listing) else ()


def parameters(model: "Model", pattern: AccessPattern) -> tuple[str, ...]:
    """The attributes that a caller must pass."""
    if isinstance(pattern, Listing):
        holes = (hole.name for hole in model.place(pattern).pk.holes if hole.name not in DERIVED)
        return tuple(dict.fromkeys((*holes, *pattern.where)))
    return model.entities[pattern.entity].key_names


def member_place(model: "Model", pattern: AccessPattern) -> Placement:
    """The place of the items that the pattern reads."""
    return model.place(pattern) if isinstance(pattern, Listing) else model.entities[pattern.entity].primary


def reads_through(model: "Model", listing: Listing, attributes: Set[str]) -> bool:
    """Whether the listing must read some of these attributes from the table, because its index does not contain
    them."""
    table, needed = model.table, {*attributes, model.table.entity_type, model.table.ttl}
    carried = table.carried(table.index(model.place(listing).index))
    for upgrade in model.entities[listing.entity].upgrades:
        needed |= {need.name for need in upgrade.needs} if needed.intersection(upgrade.gives) else set()
    return carried is not None and not needed <= carried


def sorted_by(place: Placement) -> frozenset[str]:
    """The attributes in the sort key, which are known wherever an item is named by its key."""
    return place.sk.names - DERIVED


def searched_by(listing: Listing, arguments: Mapping[str, Any]) -> frozenset[str]:
    """The attributes in the sort key that a caller compares with these arguments."""
    between = () if listing.between is None else (listing.between,)
    named = {name for name in (*listing.where, *between) if arguments.get(name) is not None}
    return frozenset(named if arguments.get(LAST_HOURS) is None else named.union(between))


def own_parameters(model: "Model", relation: Relation) -> tuple[str, ...]:
    """The parameters of the relation's pattern that the item fills: all except those that a total fills itself."""
    filled = {relation.over, *relation.fixed} if isinstance(relation, Total) else set()
    return tuple(name for name in parameters(model, model.patterns[relation.pattern]) if name not in filled)


def bound_attribute(relation: Relation, parameter: str) -> str:
    """The attribute of the item that fills a parameter of the relation's pattern."""
    return relation.bind.get(parameter, parameter)


def open_parameters(model: "Model", entity: Entity, relation: Relation) -> tuple[str, ...]:
    """The parameters that the item's own attributes do not fill: none, or with `each` the one that its members fill."""
    member_list = relation.each if isinstance(relation, Collection) else None
    bound = {name: bound_attribute(relation, name) for name in own_parameters(model, relation)}
    return tuple(name for name, own in bound.items() if own == member_list or own not in entity.attribute)


# The rows of a counter: items of a separate entity, which callers do not see.

COUNT = "COUNT"  # the first word of their partition keys
SLOT = "countSlot"  # which of the rows it is


def counter_entity(model: "Model", listing: Listing, counter: Counter) -> Entity:
    """One row for each shard of the listing's partition; its key has the parameters that a caller passes."""
    entity, place, names = model.entities[listing.entity], model.place(listing), parameters(model, listing)
    holes = {hole.name: hole for hole in (*place.sk.holes, *place.pk.holes)}
    word = "".join(f"_{char}" if char.isupper() else char.upper() for char in listing.name)
    pk = [COUNT, word, *(_written(holes[name]) for name in names), f"{{{SLOT}:2}}"]
    number = Attribute(model.table.counted, Integer(), f"The items of `{listing.name}` that this row counts.")
    slot = Attribute(SLOT, Integer(max=counter.shards - 1), "The number of the row, from 0.")
    return Entity(
        name=f"Count.{listing.name}",
        description=f"One row of the count of `{listing.name}`.",
        attributes=(*(entity.attribute[name] for name in names), slot, number),
        key=Key(pk=KEY_SEPARATOR.join(pk), sk=COUNT),
        owner=entity.owner,
    )


def _written(hole: Hole) -> str:
    return f"{{{hole.name}:{hole.width}.{hole.scale}}}" if hole.width else f"{{{hole.name}}}"


def counter_lookup(counter: Entity, listing: Listing) -> Lookup:
    return Lookup(name=counter.name, entity=counter.name, description=counter.description, strong=listing.strong)


def counter_keys(model: "Model", listing: Listing, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The values of the keys of all rows that count the items of a listing with these parameters."""
    group = {name: values[name] for name in parameters(model, listing)}
    shards = listing.counter.shards if listing.counter is not None else 0
    return [{**group, SLOT: number} for number in range(shards)]


# Several listings behind one field: the caller's arguments select one of them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One field over several listings of an entity, each with its own arguments; they have no other field.

    It may have the name of one of its patterns, so that an existing field gets more arguments.
    """

    name: str
    patterns: tuple[str, ...]
    description: str
    deprecated: str | None = None


class ListingArguments(NamedTuple):
    """The arguments that a listing requires, and its optional ones."""

    required: frozenset[str]
    optional: frozenset[str]

    def fits(self, names: Set[str]) -> bool:
        return self.required <= names <= self.required | self.optional


def listing_arguments(model: "Model", listing: Listing) -> ListingArguments:
    """The arguments that select items; those for paging fit every listing."""
    optional = {listing.between, LAST_HOURS if listing.window is not None else None}
    optional |= {ORDER if listing.reversible else None, FILTER if listing.filter else None}
    optional |= {CONSISTENT if listing.consistent else None}
    optional |= {name for name in parameters(model, listing) if name in listing.defaults}
    names = frozenset(name for name in optional if name is not None)
    return ListingArguments(frozenset(parameters(model, listing)) - names, names)


def chosen(model: "Model", choice: Choice, names: Set[str]) -> Listing:
    """The listing for these arguments, or `BadUserInput`: no two listings take the same ones, so there is one or
    none."""
    listings = [model.listing(name) for name in choice.patterns]
    for listing in listings:
        if listing_arguments(model, listing).fits(names):
            return listing
    if CONSISTENT in names and any(listing_arguments(model, listed).fits(names - {CONSISTENT}) for listed in listings):
        raise BadUserInput(
            f"`{choice.name}` cannot be read consistently with these arguments; leave out `{CONSISTENT}`, and send the"
            " consistency token of a change to see that change"
        )
    ways = "; ".join(_words(listing_arguments(model, listing)) for listing in listings)
    raise BadUserInput(f"`{choice.name}` cannot be queried by {_names(names)}; it can be queried by {ways}")


def _words(arguments: ListingArguments) -> str:
    more = f" (optionally {_names(arguments.optional)})" if arguments.optional else ""
    return _names(arguments.required) + more


def _names(names: Set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "nothing"


# Subscriptions: the current state of an item or a list, and then every change.


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """A subscription to the item of a lookup, or to the items of a listing; it has the arguments of its pattern.

    A role can only watch what it can read with the pattern.
    """

    name: str
    pattern: str
    description: str
    deprecated: str | None = None


class ListChangeKind(Enum):
    """What happened to an item of a watched list."""

    ADDED = "The item was added to the list."
    CHANGED = "The item is in the list and has changed."
    REMOVED = "The item is no longer in the list."


def item_lookup(model: "Model", entity: str) -> Lookup | None:
    """The pattern that reads items of the entity by their keys."""
    lookups = (pattern for pattern in model.patterns.values() if isinstance(pattern, Lookup))
    return next((lookup for lookup in lookups if lookup.entity == entity), None)


def watched_patterns(model: "Model", watch: Watch) -> frozenset[str]:
    """The patterns that a role needs to use the watch.

    Changed items of a list on an index are read from the table by their keys, since an index cannot be read
    consistently. Those of a list on the table are read in place.
    """
    pattern = model.patterns[watch.pattern]
    lookup = item_lookup(model, pattern.entity)
    on_index = isinstance(pattern, Listing) and model.place(pattern).index is not None
    return frozenset({pattern.name, lookup.name} if on_index and lookup is not None else {pattern.name})
