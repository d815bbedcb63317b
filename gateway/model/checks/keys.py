"""Checks of keys: their parts, their length, and how they spread items over partitions."""

from collections.abc import Iterator

from gateway.model.entity import Entity, Placement
from gateway.model.keys import BUCKET_LENGTH
from gateway.model.template import BUCKET, DERIVED, SHARD, Hole, Template
from gateway.model.tenant import MAX_PREFIX
from gateway.model.types import MAX_DIGITS, Integer, KeyType, Timestamp
from gateway.suggestions import closest

_MAX_SHARDS = 256
_MAX_PARTITION_KEY = 2_048
_MAX_SORT_KEY = 1_000  # DynamoDB allows 1,024; the end of a range is a little longer than a key


def key_faults(entity: Entity, place: Placement) -> Iterator[str]:
    for template in (place.pk, place.sk):
        for hole in template.holes:
            yield from (f"key `{template.text}`: {fault}" for fault in _hole(entity, place, hole))
    yield from _derived(place)
    for fault in (*_shards(entity, place), *_bucket(entity, place), *_busy(entity, place)):
        yield f"key `{place.pk.text}` {fault}"
    yield from _identity(entity, place)
    yield from _length(entity, place)


def unknown_names(entity: Entity, place: Placement) -> Iterator[str]:
    """The faults of a key that can be found although a type is wrong."""
    for template in (place.pk, place.sk):
        for hole in template.holes:
            if hole.name not in DERIVED and hole.name not in entity.attribute:
                yield from (f"key `{template.text}`: {fault}" for fault in _hole(entity, place, hole))


def _hole(entity: Entity, place: Placement, hole: Hole) -> Iterator[str]:
    if hole.name in DERIVED:
        return
    attribute = entity.attribute.get(hole.name)
    if attribute is None:
        yield f"the attribute `{hole.name}` is unknown{closest(hole.name, entity.attribute)}"
    elif not isinstance(attribute.type, KeyType):
        yield f"`{hole.name}` can contain `#`; use Id, KeyString, EnumOf, Boolean, Timestamp or a number"
    elif not attribute.required and place.index is None:
        yield f"`{hole.name}` may be absent; only an index key may contain optional attributes"
    elif attribute.type.padded:
        if not 0 < hole.width <= MAX_DIGITS - hole.scale:
            yield f"the number `{hole.name}` needs a width of 1 to 38 digits to sort, such as {{{hole.name}:10.2}}"
        if isinstance(attribute.type, Integer) and hole.scale:
            yield f"`{hole.name}` is a whole number and has no decimals"
    elif hole.width:
        yield f"`{hole.name}` has a width but is not a number"


def _derived(place: Placement) -> Iterator[str]:
    for part, declared in ((SHARD, place.shards), (BUCKET, place.bucket)):
        used = any(hole.name == part for hole in place.pk.holes)
        if used and declared is None:
            yield f"key `{place.pk.text}` has {{{part}}} but declares none"
        if declared is not None and not used:
            yield f"key `{place.pk.text}` declares a {part} but has no {{{part}}}"
    if any(hole.name in DERIVED for hole in place.sk.holes):
        yield f"key `{place.sk.text}`: shard and bucket belong in the partition key"


def _shards(entity: Entity, place: Placement) -> Iterator[str]:
    if place.shards is None:
        return
    by = entity.attribute.get(place.shards.by)
    if by is None:
        name = place.shards.by
        yield f"is sharded by the unknown attribute `{name}`{closest(name, entity.attribute)}"
    elif not (isinstance(by.type, KeyType) and by.type.shardable):
        yield f"is sharded by `{by.name}`, which has few values or several spellings; use an id or a timestamp"
    elif not by.required and place.index is None:
        yield f"is sharded by `{by.name}`, which may be absent"
    for count in (place.shards.count, place.shards.previous):
        if count is not None and not 2 <= count <= _MAX_SHARDS:
            yield f"has {count} shards; it may have 2 to {_MAX_SHARDS}"
    if place.shards.previous is not None and place.index is None:
        yield "has another number of shards than before; only an index can change its shards, the key of an item cannot"


def _bucket(entity: Entity, place: Placement) -> Iterator[str]:
    if place.bucket is None:
        return
    of = entity.attribute.get(place.bucket.of)
    if place.bucket.size not in BUCKET_LENGTH:
        yield f"has buckets of one `{place.bucket.size}`; there are {', '.join(BUCKET_LENGTH)}"
    if of is None or not isinstance(of.type, Timestamp):
        yield f"needs a timestamp for its buckets, but `{place.bucket.of}` is not one"
    elif not place.sk.holes or place.sk.holes[0].name != of.name:
        yield f"has buckets, so `{place.sk.text}` must sort by their time `{of.name}`"


def _busy(entity: Entity, place: Placement) -> Iterator[str]:
    # a time bucket bounds how much a partition holds, not how much is written to it now
    # an unknown attribute is reported separately
    kinds = [entity.attribute[name].type if name in entity.attribute else None for name in place.pk.names]
    many = any(kind is None or (isinstance(kind, KeyType) and kind.many_values) for kind in kinds)
    if not many and place.shards is None and not place.declared.low_cardinality_reason:
        yield (
            "has few values, so many items share one partition: declare shards, such as with `whole_list`, "
            "or say in `low_cardinality_reason` why it stays small"
        )


def _identity(entity: Entity, place: Placement) -> Iterator[str]:
    # INVARIANT: no two items share a key in any place; a copy would be overwritten, a cursor would skip one of them.
    missing = [name for name in entity.key_names if name not in place.pk.names | place.sk.names]
    if missing:
        where = place.index or "the table"
        yield (
            f"key `{place.pk.text}` / `{place.sk.text}` on {where} does not tell items apart: "
            f"it lacks {', '.join(missing)}"
        )


def _length(entity: Entity, place: Placement) -> Iterator[str]:
    for template, room in ((place.pk, _MAX_PARTITION_KEY - MAX_PREFIX), (place.sk, _MAX_SORT_KEY)):
        longest = longest_text(entity, template)
        if longest > room:
            yield f"key `{template.text}` can have {longest} bytes, there is room for {room}"


def longest_text(entity: Entity, template: Template) -> int:
    """Returns the number of bytes that a key can have, without the tenant's prefix."""
    parts = (_width(entity, part) if isinstance(part, Hole) else len(part.text) for part in template.segments)
    return sum(parts) + len(template.segments) - 1


def _width(entity: Entity, hole: Hole) -> int:
    attribute = entity.attribute.get(hole.name)
    if attribute is not None and isinstance(attribute.type, KeyType):
        return attribute.type.key_length(hole.width, hole.scale)
    return max(BUCKET_LENGTH.values())  # a bucket; a shard is shorter
