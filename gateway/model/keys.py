"""From attribute values to keys: the parts of a template, the shard, the bucket, the full item key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zlib import crc32

from gateway.errors import BadUserInput, ModelError
from gateway.model.entity import Bucket, Entity, Placement
from gateway.model.template import BUCKET, DERIVED, SHARD, Template
from gateway.model.tenant import TenantId, partition
from gateway.model.types import KeyType, key_text

_BUCKET_FORMAT = {"hour": "%Y-%m-%d-%H", "day": "%Y-%m-%d", "month": "%Y-%m"}
_MAX_BUCKETS = 10_000


@dataclass(frozen=True, slots=True)
class ItemKey:
    """The full primary key of an item, tenant prefix included."""

    pk: str
    sk: str


def key_parts(entity: Entity, template: Template, values: Mapping[str, Any]) -> dict[str, str]:
    """The texts that fill a template's holes; holes without a value are left out, wrong values refused."""
    parts: dict[str, str] = {}
    for hole in template.holes:
        value = values.get(hole.name)
        if value is not None and hole.name not in DERIVED:
            kind: KeyType = entity.attribute[hole.name].type  # type: ignore[assignment]  # checked with the entity
            parts[hole.name] = key_text(hole.name, kind, value, hole.width, hole.scale)
    return parts


def item_key(tenant: TenantId, entity: Entity, values: Mapping[str, Any], place: Placement | None = None) -> ItemKey:
    """The key of one item in a placement, the table itself by default."""
    place = place or entity.primary
    texts = rendered(entity, place, values)
    if texts is None:
        missing = next(name for name in sorted(place.names) if values.get(name) is None)
        raise BadUserInput(f"`{missing}` is needed to find {entity.name}")
    return ItemKey(partition(tenant, texts[0]), texts[1])


def rendered(entity: Entity, place: Placement, values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Partition path and sort key of an item in this placement, or None where it has no place in it."""
    if place.when is not None and _word(values.get(place.when.attribute)) not in place.when.values:
        return None
    if any(values.get(name) is None for name in place.names):
        return None
    parts = key_parts(entity, place.pk, values)
    if place.shards is not None:
        parts[SHARD] = shard_of(str(values[place.shards.by]), place.shards.count)
    if place.bucket is not None:
        parts[BUCKET] = bucket_of(place.bucket, values[place.bucket.of])
    return place.pk.render(parts), place.sk.render(key_parts(entity, place.sk, values))


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(getattr(value, "name", value))


def shard_of(value: str, count: int) -> str:
    """The same value always goes to the same shard, in every process and release."""
    return str(crc32(value.encode()) % count)


def bucket_of(bucket: Bucket, moment: datetime) -> str:
    return moment.astimezone(UTC).strftime(_BUCKET_FORMAT[bucket.size])


def buckets_between(bucket: Bucket, first: datetime, last: datetime) -> Iterator[str]:
    """Every bucket that can hold a moment of the range, oldest first."""
    moment, last = first.astimezone(UTC), last.astimezone(UTC)
    final = bucket_of(bucket, last)
    for _ in range(_MAX_BUCKETS):
        if moment > last and bucket_of(bucket, moment) != final:
            return
        yield bucket_of(bucket, moment)
        if bucket_of(bucket, moment) == final:
            return
        moment = _next(bucket, moment)
    raise BadUserInput(f"the range spans more than {_MAX_BUCKETS} partitions of one {bucket.size}; ask for less")


def _next(bucket: Bucket, moment: datetime) -> datetime:
    match bucket.size:
        case "hour":
            return moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        case "day":
            return moment.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        case "month":
            start = moment.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
            return (start + timedelta(days=32)).replace(day=1)
    raise ModelError(f"unknown bucket size `{bucket.size}`")
