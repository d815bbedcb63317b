"""Demand: capacity units of every access pattern and every write, in the table and in each index."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.patterns import AccessPattern, ItemCollection, Listing, Lookup, Traffic
from gateway.ops.capacity.assumptions import (
    DEFAULTS,
    Assumptions,
    entry_bytes,
    pattern_traffic,
    through_share,
    write_traffic,
)
from gateway.store.capacity_units import index_write_units, item_write_units, query_units, read_units

TABLE: Final = "table"
Kind = Literal["read", "write"]
_BATCH: Final = 100  # items that one BatchGetItem reads


@dataclass(frozen=True, slots=True)
class Consumption:
    """Units per second that one pattern or write takes in one place; `each` is what one call takes."""

    name: str
    place: str
    kind: Kind
    per_second: float
    each: float
    remark: str = ""
    eventual: bool = False  # whether a cache could answer it
    requests: float = 1  # requests to DynamoDB per call; an index entry is written with its item

    @property
    def units(self) -> float:
        return self.per_second * self.each


@dataclass(frozen=True, slots=True)
class Need:
    """Capacity units per second."""

    read: float = 0
    write: float = 0

    def of(self, kind: Kind) -> float:
        return self.read if kind == "read" else self.write


@dataclass(frozen=True, slots=True)
class Demand:
    rows: tuple[Consumption, ...]
    places: tuple[str, ...]

    def need(self, place: str) -> Need:
        here = [row for row in self.rows if row.place == place]
        return Need(
            sum(row.units for row in here if row.kind == "read"), sum(row.units for row in here if row.kind == "write")
        )

    @property
    def total(self) -> Need:
        needs = [self.need(place) for place in self.places]
        return Need(sum(need.read for need in needs), sum(need.write for need in needs))

    def requests(self, kind: Kind) -> float:
        """Requests per second."""
        return sum(row.per_second * row.requests for row in self.rows if row.kind == kind)

    @property
    def calls(self) -> float:
        """Calls of patterns and writes per second, as if each were a separate request: an upper bound."""
        return sum({(row.name, row.kind): row.per_second for row in reversed(self.rows)}.values())

    @property
    def eventual(self) -> float:
        """Read units that a cache could answer."""
        return sum(row.units for row in self.rows if row.eventual)


def demand(model: Model, assumed: Assumptions) -> Demand:
    reads = [row for pattern in model.patterns.values() for row in pattern_rows(model, pattern, assumed)]
    writes = [row for entity in model.entities.values() for row in write_rows(model, entity, assumed)]
    return Demand((*reads, *writes), (TABLE, *(index.name for index in model.table.indexes if not index.local)))


def pattern_rows(model: Model, pattern: AccessPattern, assumed: Assumptions) -> Iterator[Consumption]:
    traffic = pattern_traffic(model, pattern.name, assumed)
    rate, items, size = traffic.per_second, traffic.items, traffic.item_bytes
    match pattern:
        case Lookup():
            units, batches = items * read_units(size, strong=pattern.strong), ceil(items / _BATCH)
            yield Consumption(pattern.name, TABLE, "read", rate, units, eventual=not pattern.strong, requests=batches)
        case ItemCollection():
            yield Consumption(pattern.name, TABLE, "read", rate, query_units(items, size), eventual=True)
        case Listing():
            yield _listing(model, pattern, assumed)
            if share := through_share(model, pattern, assumed):
                yield _through(model, pattern, rate * share, assumed)
            if pattern.follow is not None:
                yield _followed(model, pattern, rate, assumed)
            if pattern.total_count is not None:
                yield _counted(pattern, pattern.total_count.shards, rate, assumed)


def _listing(model: Model, listing: Listing, assumed: Assumptions) -> Consumption:
    """Each shard may hold a whole page and is queried for one; a range of time buckets divides the page among them."""
    traffic, place = pattern_traffic(model, listing.name, assumed), model.place(listing)
    shards = place.shards.read if place.shards is not None else 1
    buckets = assumed.pattern(listing.name).buckets if place.bucket is not None else 1
    whole = query_units(traffic.items / buckets, traffic.item_bytes, strong=listing.strong)
    filtered, read = _filtered(listing, traffic, assumed)
    filtered_units = query_units(read / buckets, traffic.item_bytes, strong=listing.strong)
    units = shards * buckets * ((1 - filtered) * whole + filtered * filtered_units)
    spread = [f"{count} {what}" for count, what in ((shards, "shards"), (buckets, "buckets")) if count > 1]
    remarks = [f"{', '.join(spread)} read in parallel"] if spread else []
    remarks += [f"{filtered:.0%} filtered, which read {read:,.0f} items"] if filtered else []
    return Consumption(
        name=listing.name,
        place=capacity_of(model, place.index),
        kind="read",
        per_second=traffic.per_second,
        each=units,
        remark="; ".join(remarks),
        eventual=not listing.strong,
        requests=shards * buckets,
    )


def _filtered(listing: Listing, traffic: Traffic, assumed: Assumptions) -> tuple[float, float]:
    """The share of calls that use a filter, and the items that such a call reads to fill its page."""
    override = assumed.pattern(listing.name)
    return override.filtered if listing.filter else 0, min(listing.max_read, traffic.items / override.matches)


def _counted(listing: Listing, rows: int, rate: float, assumed: Assumptions) -> Consumption:
    share, units = assumed.pattern(listing.name).counted, rows * read_units(1, strong=listing.strong)
    remark = f"`totalCount`: {rows} rows of the counter"
    return Consumption(listing.name, TABLE, "read", rate * share, units, remark, eventual=not listing.strong)


def _through(model: Model, listing: Listing, rate: float, assumed: Assumptions) -> Consumption:
    items = pattern_traffic(model, listing.name, assumed).items
    units = items * read_units(write_traffic(model, listing.entity, assumed).item_bytes, strong=listing.strong)
    remark = f"what {model.place(listing).index} does not carry, by BatchGetItem"
    requests = ceil(items / _BATCH)
    return Consumption(listing.name, TABLE, "read", rate, units, remark, eventual=not listing.strong, requests=requests)


def _followed(model: Model, listing: Listing, rate: float, assumed: Assumptions) -> Consumption:
    relation = model.entities[listing.entity].relation[listing.follow or ""]
    target = model.lookup(relation.pattern)
    size = pattern_traffic(model, target.name, assumed).item_bytes
    units = read_units(size, strong=target.strong)
    remark = f"follows `{relation.name}`"
    return Consumption(listing.name, TABLE, "read", rate, units, remark, eventual=not target.strong)


def write_rows(model: Model, entity: Entity, assumed: Assumptions) -> Iterator[Consumption]:
    """Writing an item also writes its copies, markers, record and index entries."""
    traffic, override = write_traffic(model, entity.name, assumed), assumed.write(entity.name)
    name, rate = f"write {entity.name}", traffic.per_second
    units, remark = _table_write(model, entity, traffic.item_bytes, assumed)
    yield Consumption(name, TABLE, "write", rate, units, remark)
    for index in dict.fromkeys(place.index for place in entity.placements if place.index is not None):
        places = [place for place in entity.placements if place.index == index]
        # two places in one index are alternatives: an item has at most one entry there
        share = min(1.0, sum(assumed.entry_share(entity, place) for place in places))
        units = index_write_units(entry_bytes(model, entity.name, index, assumed), override.moves) * share
        remark = f"{share:.0%} of the items, {override.moves:.0%} move"
        yield Consumption(name, capacity_of(model, index), "write", rate, units, remark, requests=0)


def capacity_of(model: Model, index: str | None) -> str:
    """The place whose capacity units are used: a local index uses those of the table."""
    index_spec = model.table.index(index)
    return TABLE if index_spec is None or index_spec.local else index_spec.name


def _table_write(model: Model, entity: Entity, size: int, assumed: Assumptions) -> tuple[float, str]:
    copies, counters = len(entity.copies), len(model.counted.get(entity.name, ()))
    transactional, record = assumed.in_transaction(entity), assumed.with_record(entity)
    # an update that changes nothing counted writes no counter: this is an upper bound
    records = assumed.write(entity.name).creates * len(entity.unique) + record + counters
    units = item_write_units(size, copies=copies, records=records, transactional=transactional)
    parts = ["the item", *([f"{copies} copies" if copies > 1 else "a copy"] if copies else [])]
    parts += ["unique values"] if entity.unique else []
    parts += ["counters"] if counters else []
    parts += ["an idempotency record"] if record else []
    return units, " + ".join(parts) + (", in a transaction" if transactional else "")


# What the model's own traffic uses of each place, for Terraform: its alarms on consumed capacity start from it.


def expected_units(model: Model) -> dict[str, dict[str, int]]:
    """Capacity units per second in the busy hour, of the table and of each index by name."""
    expected = demand(model, DEFAULTS)
    needs = {place: expected.need(place) for place in expected.places}
    return {place: {"read": _whole(need.read), "write": _whole(need.write)} for place, need in needs.items()}


def _whole(units: float) -> int:
    # a sum of fractions may end slightly above a whole number
    return ceil(round(units, 6))
