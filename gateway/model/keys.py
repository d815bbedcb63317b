"""Turns attribute values into keys: the parts of a template, the shard, the bucket, the full item key."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from zlib import crc32

from gateway.errors import BadUserInput
from gateway.model.entity import Bucket, Entity, KeyPart, Placement, When
from gateway.model.template import BUCKET, DERIVED, Hole, Template
from gateway.model.tenant import TenantId, partition
from gateway.model.types import KEY_SEPARATOR, KeyType, timestamp_text, utc

BUCKET_LENGTH = {"hour": len("2026-01-31-23"), "day": len("2026-01-31"), "month": len("2026-01")}
MAX_BUCKETS = 1_000


class ItemKey(NamedTuple):
    """The full primary key of an item, including the tenant prefix."""

    pk: str
    sk: str


def key_parts(entity: Entity, template: Template, values: Mapping[str, Any]) -> dict[str, str]:
    """The texts that fill a template's holes; holes without a value are left out, invalid values are refused."""
    holes = template.holes
    if not holes:
        return {}
    return {
        hole.name: _text(entity, hole, values[hole.name])
        for hole in holes
        if hole.name not in DERIVED and values.get(hole.name) is not None
    }


def _text(entity: Entity, hole: Hole, value: Any) -> str:
    kind: KeyType = entity.attribute[hole.name].type  # type: ignore[assignment]  # checked with the entity
    return kind.key_text(hole.name, value, hole.width, hole.scale)


def item_key(tenant: TenantId, entity: Entity, values: Mapping[str, Any], place: Placement | None = None) -> ItemKey:
    """The key of one item in a placement, the table itself by default."""
    place = place or entity.primary
    texts = rendered(entity, place, values)
    if texts is None:
        missing = [name for name in sorted(place.names) if values.get(name) is None]
        if missing:
            raise BadUserInput(f"`{missing[0]}` is needed to find {entity.name}", missing[0])
        raise BadUserInput(f"this {entity.name} has no place in `{place.name}`")
    return ItemKey(partition(tenant, texts[0]), texts[1])


def rendered(entity: Entity, place: Placement, values: Mapping[str, Any]) -> tuple[str, str] | None:
    """Partition path and sort key of an item in this placement, or None if it is not in it."""
    for name in place.names:
        if values.get(name) is None:
            return None
    if place.when is not None and not _holds(entity, place.when, values):
        return None
    path = _filled(entity, place, place.pk, place.pk_parts, values)
    return path, _filled(entity, place, place.sk, place.sk_parts, values) if place.sk_parts else place.sk.text


def _filled(
    entity: Entity, place: Placement, template: Template, parts: tuple[KeyPart, ...], values: Mapping[str, Any]
) -> str:
    texts = []
    for name, kind, width, scale in parts:
        if kind is None:
            texts.append(_derived(entity, place, name, values))
        else:
            texts.append(kind.key_text(name, values[name], width, scale))
    return template.pattern % tuple(texts)


def _derived(entity: Entity, place: Placement, name: str, values: Mapping[str, Any]) -> str:
    if name == BUCKET and place.bucket is not None:
        return bucket_of(place.bucket, values[place.bucket.of])
    assert place.shards is not None  # noqa: S101  the model has checked its templates
    # by the text in a key, so that one value in two spellings (a timestamp in two time zones) has one shard
    by = place.shards.by
    return shard_of(_text(entity, Hole(by), values[by]), place.shards.count)


def _holds(entity: Entity, when: When, values: Mapping[str, Any]) -> bool:
    value = values.get(when.attribute)
    return value is not None and _text(entity, Hole(when.attribute), value) in when.values


def shard_of(value: str, count: int) -> str:
    """The same value always has the same shard, in every process and release."""
    return str(crc32(value.encode()) % count)


def bucket_of(bucket: Bucket, timestamp: datetime) -> str:
    return timestamp_text(bucket.of, timestamp)[: BUCKET_LENGTH[bucket.size]].replace("T", "-")


def buckets_between(bucket: Bucket, first: datetime, last: datetime) -> tuple[str, ...]:
    """Every bucket that can hold a timestamp of the range, oldest first."""
    timestamp, final = utc(bucket.of, first), utc(bucket.of, last)
    buckets: list[str] = []
    while timestamp <= final:
        buckets.append(bucket_of(bucket, timestamp))
        if len(buckets) > MAX_BUCKETS:
            raise BadUserInput(f"the range of `{bucket.of}` spans more than {MAX_BUCKETS} {bucket.size}s")
        if buckets[-1] == bucket_of(bucket, final):
            break
        timestamp = _next(bucket, timestamp)
    return tuple(buckets)


def _next(bucket: Bucket, timestamp: datetime) -> datetime:
    hour = timestamp.replace(minute=0, second=0, microsecond=0)
    match bucket.size:
        case "hour":
            return hour + timedelta(hours=1)
        case "day":
            return hour.replace(hour=0) + timedelta(days=1)
        case "month":
            return (hour.replace(day=1, hour=0) + timedelta(days=32)).replace(day=1)


# The reverse: from a key of the table to its item.


def identity_of(tenant: TenantId, entity: Entity, place: Placement, key: ItemKey) -> tuple[str, ...] | None:
    """The texts that identify the item with this key, in the order of `key_names`; None for a key of another kind."""
    return key_identity(partition(tenant, ""), entity, place, key)


def key_identity(own: str, entity: Entity, place: Placement, key: ItemKey) -> tuple[str, ...] | None:
    """The same for the prefix of the tenant's partition keys."""
    texts: dict[str, str] = {}
    for template, text in ((place.pk, key.pk.removeprefix(own)), (place.sk, key.sk)):
        parts = text.split(KEY_SEPARATOR)
        if len(parts) != len(template.segments):
            return None
        for segment, part in zip(template.segments, parts, strict=True):
            if isinstance(segment, Hole):
                texts[segment.name] = part
            elif segment.text != part:
                return None
    return tuple(texts[name] for name in entity.key_names) if texts.keys() >= {*entity.key_names} else None
