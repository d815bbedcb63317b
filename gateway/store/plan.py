"""Plans: what to read, as pure values; nothing here does I/O, and no plan can be created without a tenant."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from gateway.errors import BadUserInput, Internal
from gateway.model.entity import Collection, Entity, Placement
from gateway.model.filters import FILTER
from gateway.model.keys import ItemKey, buckets_between, item_key, key_parts
from gateway.model.model import Model
from gateway.model.patterns import LAST_HOURS, ItemCollection, Lag, Listing, Lookup, member_place, parameters
from gateway.model.staleness import Staleness
from gateway.model.table import Index
from gateway.model.template import BUCKET, SHARD
from gateway.model.tenant import TenantId, partition
from gateway.model.types import KEY_SEPARATOR
from gateway.store.filters import FilterExpression, filter_expression
from gateway.store.key_ranges import KeyRange, after, before, exactly, overlap, starting_with

Attributes = frozenset[str]

EVERY = 2**31 - 1  # a limit that no partition reaches


@dataclass(frozen=True, slots=True)
class Range:
    """A range for a listing's `between`: both ends are included, and None means an open end."""

    first: Any = None
    last: Any = None


@dataclass(frozen=True, slots=True)
class Window:
    """The requested page of a listing: at most `limit` items after or before a position in its order."""

    limit: int
    after: str | None = None
    before: str | None = None
    backward: bool = False  # the last items of the order instead of the first
    reverse: bool = False  # the order is the opposite of the listing's own

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise BadUserInput("a page cannot have fewer than 0 items")


@dataclass(frozen=True, slots=True)
class GetItems:
    """Reads items by their keys; the result has the same order, with None for missing items.

    A `fresh` read never uses a cache, whatever the entity declares.
    """

    tenant: TenantId
    entity: str
    keys: tuple[ItemKey, ...]
    attributes: Attributes
    strong: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class QueryPartition:
    """One Query: a partition of the table or of an index, a range of sort keys, and a direction."""

    tenant: TenantId
    index: Index | None
    partition: str
    bounds: KeyRange
    forward: bool
    limit: int
    attributes: Attributes
    strong: bool = False
    filter: FilterExpression | None = None


@dataclass(frozen=True, slots=True)
class QueryMany:
    """A listing over one or more partitions.

    Partitions of one group are merged by sort key (shards); groups follow each other in that order (time buckets).
    """

    entity: str
    groups: tuple[tuple[QueryPartition, ...], ...]
    window: Window
    cached: Staleness | None = None
    listing: str = ""
    lag: Lag = "through_table"


@dataclass(frozen=True, slots=True)
class QueryItemCollection:
    """One Query that returns an item, which comes first, and members of its collection."""

    root: str
    member: str
    query: QueryPartition


def plan_lookup(
    model: Model,
    lookup: Lookup,
    tenant: TenantId,
    wanted: tuple[Mapping[str, Any], ...],
    attributes: Attributes,
) -> GetItems:
    entity = model.entities[lookup.entity]
    keys = tuple(item_key(tenant, entity, values) for values in wanted)
    return GetItems(tenant, entity.name, keys, attributes, lookup.strong)


def plan_listing(
    model: Model,
    listing: Listing,
    tenant: TenantId,
    arguments: Mapping[str, Any],
    window: Window,
    attributes: Attributes,
) -> QueryMany:
    entity, place = model.entities[listing.entity], model.place(listing)
    missing = [name for name in parameters(model, listing) if arguments.get(name) is None]
    if missing:
        raise BadUserInput(f"`{missing[0]}` is needed")
    ascending = listing.newest_first is window.reverse
    query = QueryPartition(
        tenant=tenant,
        index=model.table.index(place.index),
        partition="",
        bounds=_window_bounds(_bounds(entity, place, listing, arguments), window, ascending),
        forward=ascending is not window.backward,
        limit=window.limit + 1,  # one more shows whether there is a next page
        attributes=attributes,
        strong=listing.strong,
        filter=_filter(entity, place, listing, arguments),
    )
    groups = tuple(
        tuple(replace(query, partition=partition(tenant, path)) for path in shards)
        for shards in _partitions(entity, place, listing, arguments, query)
    )
    return QueryMany(
        entity.name, () if query.bounds.empty else groups, window, listing.cached, listing.name, listing.lag
    )


def _filter(
    entity: Entity, place: Placement, listing: Listing, arguments: Mapping[str, Any]
) -> FilterExpression | None:
    item_filter = arguments.get(FILTER)
    if item_filter is None:
        return None
    shards = place.shards.read if place.shards is not None else 1
    return filter_expression(entity, item_filter, listing.max_read // shards)


def _bounds(entity: Entity, place: Placement, listing: Listing, arguments: Mapping[str, Any]) -> KeyRange:
    fixed = key_parts(entity, place.sk, {name: arguments[name] for name in listing.where})
    text = place.sk.prefix(fixed)
    # a complete key is not a prefix: `TAG#a` is not `TAG#ab`
    bounds = exactly(text) if place.sk.names <= fixed.keys() else starting_with(text)
    span = arguments.get(listing.between) if listing.between is not None else None
    if span is None:
        return bounds
    if not isinstance(span, Range):
        raise Internal(f"the listing {listing.name} takes a `Range` of `{listing.between}`, not {span!r}")
    closed = place.sk.segments[-1] == next(hole for hole in place.sk.holes if hole.name == listing.between)
    if span.first is not None:
        text = place.sk.prefix(_end(entity, place, fixed, listing, span.first))
        bounds = replace(bounds, low=text.removesuffix(KEY_SEPARATOR), prefix=None)
    if span.last is not None:
        text = place.sk.prefix(_end(entity, place, fixed, listing, span.last))
        bounds = replace(bounds, high=text if closed else starting_with(text).high, prefix=None)
    if span.first is not None and span.last is not None and bounds.empty:
        raise BadUserInput(f"the range of `{listing.between}` ends before it starts")
    return bounds


def _end(entity: Entity, place: Placement, fixed: dict[str, str], listing: Listing, value: Any) -> dict[str, str]:
    return {**fixed, **key_parts(entity, place.sk, {listing.between or "": value})}


def _window_bounds(bounds: KeyRange, window: Window, ascending: bool) -> KeyRange:
    """Cuts off what comes before `after` and what comes after `before`, in the listing's order."""
    if window.after is not None:
        bounds = after(bounds, window.after) if ascending else before(bounds, window.after)
    if window.before is not None:
        bounds = before(bounds, window.before) if ascending else after(bounds, window.before)
    return bounds


def _partitions(
    entity: Entity, place: Placement, listing: Listing, arguments: Mapping[str, Any], query: QueryPartition
) -> list[list[str]]:
    parts = key_parts(entity, place.pk, arguments)
    buckets: list[dict[str, str]] = [{}]
    if place.bucket is not None:
        span = arguments.get(listing.between or "")
        if span is None or span.first is None or span.last is None:
            raise BadUserInput(f"`{listing.between}` needs both ends of a range")
        bucket_names = buckets_between(place.bucket, span.first, span.last)
        # items before a cursor are not read again
        buckets = [{BUCKET: bucket} for bucket in bucket_names if overlap(_in_bucket(place, bucket), query.bounds)]
    shards = [{SHARD: str(n)} for n in range(place.shards.read)] if place.shards is not None else [{}]
    ordered = buckets if query.forward else buckets[::-1]
    return [[place.pk.render({**parts, **bucket, **shard}) for shard in shards] for bucket in ordered]


def _in_bucket(place: Placement, bucket: str) -> KeyRange:
    """Returns the sort keys that a bucket can hold: they start with its time, such as `2026-01-31-23` for an hour."""
    day, hour = bucket[:10], bucket[11:]
    return starting_with(place.sk.prefix({}) + (f"{day}T{hour}" if hour else day))


def plan_item_collection(
    model: Model,
    together: ItemCollection,
    tenant: TenantId,
    values: Mapping[str, Any],
    limit: int | None,
    attributes: Attributes,
) -> QueryItemCollection:
    """Plans `limit` members and the item itself; None reads every member (a collection by `each` is bounded)."""
    root = model.entities[together.entity]
    relation = root.relation[together.collection]
    assert isinstance(relation, Collection)  # noqa: S101  checked with the model; this tells the type checker
    pattern = model.patterns[relation.pattern]
    prefix = member_place(model, pattern).sk.leading_literals[0] + KEY_SEPARATOR
    key = item_key(tenant, root, values)
    ascending = key.sk < prefix
    bounds = KeyRange(key.sk, starting_with(prefix).high) if ascending else KeyRange(prefix, key.sk)
    query = QueryPartition(tenant, None, key.pk, bounds, ascending, EVERY if limit is None else limit + 2, attributes)
    return QueryItemCollection(root.name, pattern.entity, query)


# The limits on what one operation may read.


@dataclass(frozen=True, slots=True)
class ReadLimits:
    page: int = 100
    default_page: int = 20
    queries: int = 100  # pages of one operation: a list inside a list costs one for each item


# The time window of a listing: the range that is read if the caller leaves one or both ends open.

_MOST_HOURS = 960  # 40 days; at most 1,000 time buckets are read at once


def windowed(listing: Listing, arguments: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
    """Returns the arguments with both ends of the range.

    A cursor is bound to what the caller sent, not to this. The next page therefore has the same arguments although time
    has passed, and its position says where to continue.
    """
    if listing.window is None or listing.between is None:
        return arguments
    span, hours = arguments.get(listing.between) or Range(), arguments.get(LAST_HOURS)
    length = listing.window
    if hours is not None:
        if span != Range():
            raise BadUserInput(f"give either `{LAST_HOURS}` or `{listing.between}`, not both")
        if not 1 <= hours <= _MOST_HOURS:
            raise BadUserInput(f"`{LAST_HOURS}` must be between 1 and {_MOST_HOURS}")
        length = timedelta(hours=hours)
    last = span.last if span.last is not None else max(now, span.first or now)
    try:
        first = span.first if span.first is not None else last - length
    except OverflowError as error:
        raise BadUserInput(f"the range of `{listing.between}` starts before the year 1") from error
    return {**arguments, listing.between: Range(first, last)}
