"""Assumptions for what the model does not declare: write rates, skew, the shape of a day; a JSON file overrides
them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from gateway.errors import ConfigurationError
from gateway.model.entity import Entity, Placement
from gateway.model.model import Model
from gateway.model.patterns import Listing, Traffic, reads_through
from gateway.model.types import EnumOf
from gateway.ops.json_file import read_json_file

Share = Annotated[float, Field(ge=0, le=1)]
PositiveShare = Annotated[float, Field(gt=0, le=1)]
Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
PositiveNumber = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1)]
Whole = Annotated[int, Field(ge=0)]
Bytes = Annotated[int, Field(ge=1, le=409_600)]


class _AssumptionPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PatternOverride(_AssumptionPart):
    """Values that are left out are the model's."""

    per_second: Rate | None = None
    items: Count | None = None
    item_bytes: Bytes | None = None
    buckets: Count = 1  # time buckets that one call reads
    counted: Share = 0.2  # for a listing with a counter: the share of calls that select `totalCount`
    filtered: Share = 0.5  # for a listing with filters: the share of calls that use one
    matches: PositiveShare = 0.25  # the share of the items read by such a call that it keeps
    through: Share | None = None  # for a list on a projected index: the share of calls that needs whole items


class WriteOverride(_AssumptionPart):
    """Writes of one entity: items created, changed or removed, not counting copies and index entries."""

    per_second: Rate | None = None
    item_bytes: Bytes | None = None
    transactional: bool | None = None  # as the model says: in transactions, unless the entity is `batched`
    record: bool | None = None  # whether an idempotency record is written too; as the model says
    creates: Share = 0.5  # the share that creates new items, and so claims their unique values
    moves: Share = 0.1  # the share that changes an index key: the old entry is deleted, a new one written
    in_index: Mapping[str, Share] = {}  # by place in an index: the share of items with an entry there


_DEFAULT_PATTERN: Final = PatternOverride()
_DEFAULT_WRITE: Final = WriteOverride()


class Around(_AssumptionPart):
    """What runs around the table, as the Terraform modules create it by default."""

    tasks: Count = 2  # of the gateway, on average
    task_vcpu: PositiveNumber = 0.5
    task_gb: PositiveNumber = 1
    endpoints: Whole = 10  # interface endpoints: five services in two zones
    nat_gateways: Whole = 0
    nat_gb: Rate = 0  # per month through them
    response_bytes: Count = 4_000  # of an answer
    log_bytes: Count = 700  # of the log line of an operation
    sessions: Whole = 100  # tenants and roles that are active at the same time; each uses the key every five minutes
    recovery: bool = True  # point-in-time recovery
    backup_copies: Rate = 0  # full backups that are kept
    stream_reads: Rate = 0  # billed GetRecords per second; those of Lambda are not
    files_gb: Rate = 0
    file_uploads: Rate = 0  # per second in the busy hour, like all rates
    file_downloads: Rate = 0
    file_bytes: Count = 1_000_000


class Assumptions(_AssumptionPart):
    patterns: Mapping[str, PatternOverride] = {}
    writes: Mapping[str, WriteOverride] = {}
    writes_per_read: Rate = 0.1  # for entities without their own write rate
    average_share: PositiveShare = 0.4  # the average load as a share of the busy hour's, which the rates describe
    utilisation: PositiveShare = 0.7  # the target of autoscaling
    busiest_tenant: PositiveShare = 0.3  # the share of all traffic that one tenant causes
    busiest_key: PositiveShare = 0.1  # of a tenant's traffic, the share for one user, product ...
    busiest_value: PositiveShare = 0.5  # ... for one value of an enum, such as one status
    storage_gb: Rate = 0  # table and indexes together
    cache_hits: Share = 0.8  # the share of eventual reads that DAX would answer
    dax_nodes: Count = 3
    event_bytes: Count = 1_500  # of a CloudTrail event of one request
    around: Around = Around()

    def pattern(self, name: str) -> PatternOverride:
        return self.patterns.get(name, _DEFAULT_PATTERN)

    def write(self, entity: str) -> WriteOverride:
        return self.writes.get(entity, _DEFAULT_WRITE)

    def in_transaction(self, entity: Entity) -> bool:
        transactional = self.write(entity.name).transactional
        return not entity.batched if transactional is None else transactional

    def with_record(self, entity: Entity) -> bool:
        record = self.write(entity.name).record
        return not entity.batched if record is None else record

    def entry_share(self, entity: Entity, place: Placement) -> float:
        """The share of the entity's items with an entry in this place of an index, as if all values were equally
        frequent."""
        share = self.write(entity.name).in_index.get(place.name)
        if share is not None:
            return share
        if place.when is None:
            return 1
        kind = entity.attribute[place.when.attribute].type
        return len(place.when.values) / len(kind.enum) if isinstance(kind, EnumOf) else 1


DEFAULTS: Final = Assumptions()
_NEED_MORE: Final = 0.1  # an index usually contains what its lists show


def read_assumptions(path: Path, model: Model) -> Assumptions:
    """The content of the file over the defaults; raises `ConfigurationError` with every fault in it."""
    assumed = read_json_file(path, Assumptions, named="traffic file")
    faults = [
        *(f"patterns.{name}: there is no such pattern" for name in assumed.patterns if name not in model.patterns),
        *(f"writes.{name}: there is no such entity" for name in assumed.writes if name not in model.entities),
        *_unknown_places(model, assumed),
    ]
    if faults:
        raise ConfigurationError(faults)
    return assumed


def _unknown_places(model: Model, assumed: Assumptions) -> Iterator[str]:
    for name, override in assumed.writes.items():
        places = model.entities[name].placements if name in model.entities else ()
        place_names = {place.name for place in places if place.index is not None}
        yield from (
            f"writes.{name}.in_index.{place}: there is no such place"
            for place in override.in_index.keys() - place_names
        )


def pattern_traffic(model: Model, name: str, assumed: Assumptions) -> Traffic:
    declared, override = model.patterns[name].traffic, assumed.pattern(name)
    return Traffic(
        declared.per_second if override.per_second is None else override.per_second,
        declared.items if override.items is None else override.items,
        declared.item_bytes if override.item_bytes is None else override.item_bytes,
    )


def through_share(model: Model, listing: Listing, assumed: Assumptions) -> float:
    """The share of a listing's calls that reads its items from the table, since the index does not contain them."""
    if not reads_through(model, listing, model.entities[listing.entity].attribute.keys()):
        return 0
    share = assumed.pattern(listing.name).through
    bare = reads_through(model, listing, frozenset())  # not even the attributes that every row check needs
    return share if share is not None else 1 if bare else _NEED_MORE


def entry_bytes(model: Model, entity: str, index: str, assumed: Assumptions) -> int:
    """The size of an item's entry in an index: what its lists read, if it does not contain whole items."""
    whole = write_traffic(model, entity, assumed).item_bytes
    if model.table.carried(model.table.index(index)) is None:
        return whole
    listings = [
        pattern for pattern in model.patterns.values() if isinstance(pattern, Listing) and pattern.entity == entity
    ]
    here = [listing.name for listing in listings if model.place(listing).index == index]
    return max((pattern_traffic(model, name, assumed).item_bytes for name in here), default=whole)


def write_traffic(model: Model, entity: str, assumed: Assumptions) -> Traffic:
    """Without a rate of its own: a share of the entity's reads, with items of the largest declared size."""
    override = assumed.write(entity)
    about = [name for name, pattern in model.patterns.items() if pattern.entity == entity]
    reads = [pattern_traffic(model, name, assumed) for name in about]
    rate, size = sum(read.per_second for read in reads), max((read.item_bytes for read in reads), default=500)
    return Traffic(
        rate * assumed.writes_per_read if override.per_second is None else override.per_second,
        1,
        size if override.item_bytes is None else override.item_bytes,
    )
