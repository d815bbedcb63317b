"""What makes an entity wrong by itself; each fault names the entity."""

from collections.abc import Iterator

from gateway.model.entity import Collection, Entity, Expiry, Placement
from gateway.model.template import BUCKET, DERIVED, SHARD, Hole
from gateway.model.types import Blob, Choice, Flag, Id, Integer, KeyText, ListOf, Number, Text, Timestamp

_KEY_TYPES = (Id, KeyText, Integer, Number, Flag, Timestamp, Choice)
_MANY_VALUES = (Id, KeyText, Timestamp, Number, Integer)


def entity_faults(entity: Entity) -> Iterator[str]:
    return (f"entity {entity.name}: {fault}" for fault in _faults(entity))


def _faults(entity: Entity) -> Iterator[str]:
    yield from _names(entity)
    for place in entity.placements:
        yield from _template(entity, place)
        yield from _spread(entity, place)
    yield from _index_places(entity)
    yield from _relations(entity)
    yield from _expiry(entity)
    for attribute in entity.attributes:
        if attribute.compressed and not isinstance(attribute.type, Text | Blob):
            yield f"`{attribute.name}` is compressed; only text and bytes can be"


def _names(entity: Entity) -> Iterator[str]:
    seen: set[str] = {"id", "version"}
    for name in (*(a.name for a in entity.attributes), *(r.name for r in entity.relations)):
        if name in seen:
            yield f"`{name}` is declared twice, or is a name that every entity has"
        seen.add(name)
    places = [place.name for place in entity.placements]
    for name in places:
        if places.count(name) > 1:
            yield f"two places are called `{name}`; give each its own name"


def _template(entity: Entity, place: Placement) -> Iterator[str]:
    for key in (place.pk, place.sk):
        for hole in key.holes:
            yield from _hole(entity, place, key.text, hole)
    for part, declared in ((SHARD, place.shards), (BUCKET, place.bucket)):
        used = any(hole.name == part for hole in place.pk.holes)
        if used and declared is None:
            yield f"key `{place.pk.text}` has {{{part}}} but declares none"
        if declared is not None and not used:
            yield f"key `{place.pk.text}` declares a {part} but has no {{{part}}}"
    if any(hole.name in DERIVED for hole in place.sk.holes):
        yield f"key `{place.sk.text}`: shard and bucket belong into the partition key"


def _hole(entity: Entity, place: Placement, text: str, hole: Hole) -> Iterator[str]:
    if hole.name in DERIVED:
        return
    attribute = entity.attribute.get(hole.name)
    if attribute is None:
        yield f"key `{text}` names the unknown attribute `{hole.name}`"
    elif not isinstance(attribute.type, _KEY_TYPES):
        yield f"key `{text}`: `{hole.name}` can contain `#`, use Id, KeyText, Choice, Timestamp or a number"
    elif isinstance(attribute.type, Integer | Number) and not hole.width:
        yield f"key `{text}`: the number `{hole.name}` needs a width to sort, such as {{{hole.name}:10.2}}"
    elif not attribute.required and place.index is None:
        yield f"key `{text}`: `{hole.name}` may be absent; only an index key may be made of optional attributes"
    elif isinstance(attribute.type, Choice) and any("#" in member.name for member in attribute.type.enum):
        yield f"key `{text}`: a value of `{hole.name}` contains `#`"


def _spread(entity: Entity, place: Placement) -> Iterator[str]:
    if place.shards is not None:
        if place.shards.by not in entity.attribute:
            yield f"key `{place.pk.text}` is sharded by the unknown attribute `{place.shards.by}`"
        if not 2 <= place.shards.count <= 256:
            yield f"key `{place.pk.text}`: the number of shards is between 2 and 256"
    if place.bucket is not None:
        of = entity.attribute.get(place.bucket.of)
        if of is None or not isinstance(of.type, Timestamp):
            yield f"key `{place.pk.text}`: the bucket needs a timestamp, `{place.bucket.of}` is none"
        elif not place.sk.holes or place.sk.holes[0].name != place.bucket.of:
            yield f"key `{place.sk.text}` must sort by `{place.bucket.of}`, the time of its bucket"
    kinds = [entity.attribute[name].type for name in place.pk.names if name in entity.attribute]
    busy = not any(isinstance(kind, _MANY_VALUES) for kind in kinds)
    if busy and place.shards is None and place.bucket is None and not place.declared.small:
        yield (
            f"key `{place.pk.text}` has few values, so many items share one partition: declare shards, "
            "or say in `small` why it stays small"
        )


def _index_places(entity: Entity) -> Iterator[str]:
    places = [place for place in entity.placements if place.index is not None]
    for place in places:
        missing = sorted(set(entity.key_names) - place.pk.names - place.sk.names)
        if missing:
            yield (
                f"key `{place.pk.text}` / `{place.sk.text}` on {place.index} does not tell items apart: "
                f"it lacks {', '.join(missing)}"
            )
        if place.when is not None:
            yield from _condition(entity, place)
        yield from (
            f"`{place.name}` and `{other.name}` on {place.index} need conditions that exclude each other"
            for other in places[: places.index(place)]
            if other.index == place.index and not _exclusive(place, other)
        )


def _condition(entity: Entity, place: Placement) -> Iterator[str]:
    assert place.when is not None  # noqa: S101  the caller has checked; this tells the type checker
    attribute = entity.attribute.get(place.when.attribute)
    if attribute is None:
        yield f"the condition on {place.index} names the unknown attribute `{place.when.attribute}`"
    elif isinstance(attribute.type, Choice):
        unknown = set(place.when.values) - {member.name for member in attribute.type.enum}
        if unknown:
            yield f"the condition on {place.index} has values `{place.when.attribute}` never takes: {sorted(unknown)}"
    elif not isinstance(attribute.type, Flag | Id):
        yield f"the condition on {place.index} needs an enum, a flag or an id, `{attribute.name}` is none"


def _exclusive(one: Placement, other: Placement) -> bool:
    if one.when is None or other.when is None or one.when.attribute != other.when.attribute:
        return False
    return not set(one.when.values) & set(other.when.values)


def _relations(entity: Entity) -> Iterator[str]:
    for relation in entity.relations:
        for name in relation.bind.values():
            if name not in entity.attribute:
                yield f"relation `{relation.name}` binds the unknown attribute `{name}`"
        if isinstance(relation, Collection) and relation.each is not None:
            listed = entity.attribute.get(relation.each)
            if listed is None or not isinstance(listed.type, ListOf):
                yield f"relation `{relation.name}`: `{relation.each}` is not a list of ids"


def _expiry(entity: Entity) -> Iterator[str]:
    match entity.expiry:
        case None:
            return
        case Expiry(at=str() as name, since=None) | Expiry(at=None, since=str() as name):
            attribute = entity.attribute.get(name)
            if attribute is None or not isinstance(attribute.type, Timestamp):
                yield f"it expires by `{name}`, which is not a timestamp"
        case _:
            yield "an expiry has either `at`, or `since` and `after`"
