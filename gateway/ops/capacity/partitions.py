"""Hot partitions: the busiest key of every place, compared with the throughput of one partition."""

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from gateway.model.entity import Entity, Placement, Total
from gateway.model.model import Model
from gateway.model.patterns import Listing
from gateway.model.types import Boolean, EnumOf
from gateway.ops.capacity.assumptions import Assumptions, entry_bytes, write_traffic
from gateway.ops.capacity.demand import TABLE, pattern_rows
from gateway.store.capacity_units import index_write_units, write_units

PARTITION_READS: Final = 3_000
PARTITION_WRITES: Final = 1_000
"""Capacity units that DynamoDB serves from one partition per second, whatever the table's capacity."""

_WARM: Final = 0.7
_VALUES_OF_A_FLAG: Final = 2


@dataclass(frozen=True, slots=True)
class Partition:
    """The busiest partition of a key: units per second, in the busy hour, of the busiest tenant."""

    place: str
    key: str
    read: float
    write: float
    shards: int
    wanted_shards: int

    @property
    def heat(self) -> Literal["fine", "warm", "hot"]:
        load = max(self.read / PARTITION_READS, self.write / PARTITION_WRITES)
        if load > 1:
            return "hot"
        return "warm" if load > _WARM else "fine"

    @property
    def advice(self) -> str:
        if self.heat == "fine":
            return ""
        words = [f"{self.wanted_shards} shards instead of {self.shards}"] if self.wanted_shards > self.shards else []
        if self.read > _WARM * PARTITION_READS:
            # a listing reads every shard, so more shards do not reduce the load of one
            words.append("read it less: cache it, request smaller pages, or keep a copy of what is read most")
        return "; ".join(words)


def partitions(model: Model, assumed: Assumptions) -> tuple[Partition, ...]:
    """One for each key of each place, hottest first."""
    keys = {(place.index, place.pk.text): place for _, place in model.placements}
    results = [_partition(model, place, assumed) for place in keys.values()]
    return tuple(
        sorted(
            results, key=lambda partition: -max(partition.read / PARTITION_READS, partition.write / PARTITION_WRITES)
        )
    )


def _partition(model: Model, place: Placement, assumed: Assumptions) -> Partition:
    # entities with the same key template share the partition: orders are stored under their user
    sharing = [(entity, other) for entity, other in model.placements if _key(other) == _key(place)]
    declared = [other.shards.count for _, other in sharing if other.shards is not None]
    shards = max((*declared, *(_slots(model, entity, other) for entity, other in sharing)))
    read = sum(_reads(model, entity, other, assumed) for entity, other in sharing)
    whole = sum(_writes(model, entity, other, assumed) for entity, other in sharing)
    needed_shards = max(shards, ceil(whole / (PARTITION_WRITES * assumed.utilisation)))
    return Partition(place.index or TABLE, place.pk.text, read, whole / shards, shards, needed_shards)


def _slots(model: Model, entity: Entity, place: Placement) -> int:
    """The items that a sum is spread over, such as the shards of a counter, each with its own partition; or 1."""
    relations = (relation for owner in model.entities.values() for relation in owner.relations)
    sums = (relation for relation in relations if isinstance(relation, Total) and relation.over in place.pk.names)
    return max((total.count for total in sums if model.patterns[total.pattern].entity == entity.name), default=1)


def _key(place: Placement) -> tuple[str | None, str]:
    return place.index, place.pk.text


def _reads(model: Model, entity: Entity, place: Placement, assumed: Assumptions) -> float:
    """Units at one shard: a call of a sharded listing reads all of them equally."""
    total = 0.0
    for pattern in model.patterns.values():
        here = model.place(pattern) if isinstance(pattern, Listing) else model.entities[pattern.entity].primary
        if pattern.entity == entity.name and here is place:
            first = next(iter(pattern_rows(model, pattern, assumed)))
            buckets = assumed.pattern(pattern.name).buckets if place.bucket is not None else 1
            shards = place.shards.read if place.shards is not None else _slots(model, entity, place)
            total += first.units / shards / buckets
    return total * share_of_busiest(entity, place, assumed)


def _writes(model: Model, entity: Entity, place: Placement, assumed: Assumptions) -> float:
    """Units at all shards together; those of a time bucket all go to the current one."""
    traffic, override = write_traffic(model, entity.name, assumed), assumed.write(entity.name)
    if place.index is None:
        units = float(write_units(traffic.item_bytes, transactional=assumed.in_transaction(entity)))
    else:
        size = entry_bytes(model, entity.name, place.index, assumed)
        units = index_write_units(size, override.moves) * assumed.entry_share(entity, place)
    return traffic.per_second * units * share_of_busiest(entity, place, assumed)


def share_of_busiest(entity: Entity, place: Placement, assumed: Assumptions) -> float:
    """The share of all traffic that the busiest key of the busiest tenant gets."""
    kinds = [entity.attribute[name].type for name in place.pk.names]
    share = assumed.busiest_tenant
    if any(not isinstance(kind, EnumOf | Boolean) for kind in kinds):
        return share * assumed.busiest_key
    for kind in kinds:
        values = len(kind.enum) if isinstance(kind, EnumOf) else _VALUES_OF_A_FLAG
        share *= max(assumed.busiest_value, 1 / values)
    return share
