"""Whether two key templates can produce the same text; in doubt, they can."""

from gateway.model.entity import Entity
from gateway.model.template import DERIVED, Hole, Literal, Segment, Template
from gateway.model.types import KeyType

Owned = tuple[Entity, Template]


def can_collide(one: Owned, other: Owned) -> bool:
    """Key parts contain no `#`, so two keys are equal only if they have as many parts and each pair can be equal."""
    (here, first), (there, second) = one, other
    if len(first.segments) != len(second.segments):
        return False
    pairs = zip(first.segments, second.segments, strict=True)
    return all(_can_equal((here, left), (there, right)) for left, right in pairs)


def can_match(words: tuple[str, ...], other: Owned) -> bool:
    """Whether a key of the other template can start with these words."""
    entity, template = other
    if len(template.segments) < len(words):
        return False
    return all(
        _can_equal((entity, Literal(word)), (entity, segment))
        for word, segment in zip(words, template.segments, strict=False)
    )


def _can_equal(one: tuple[Entity, Segment], other: tuple[Entity, Segment]) -> bool:
    match one[1], other[1]:
        case Literal(left), Literal(right):
            return left == right
        case Literal(word), Hole() as hole:
            return _admits(other[0], hole, word)
        case Hole() as hole, Literal(word):
            return _admits(one[0], hole, word)
        case Hole() as left, Hole() as right:
            return _holes_can_equal((one[0], left), (other[0], right))
    return True


def _admits(entity: Entity, hole: Hole, word: str) -> bool:
    kind = _kind(entity, hole)
    # shards are digits and buckets are dates; a literal starts with a capital
    return kind is not None and kind.key_pattern.fullmatch(word) is not None


def _holes_can_equal(one: tuple[Entity, Hole], other: tuple[Entity, Hole]) -> bool:
    left, right = _kind(*one), _kind(*other)
    if left is None or right is None:
        return True
    if left.key_values is not None:
        return any(right.key_pattern.fullmatch(text) for text in left.key_values)
    if right.key_values is not None:
        return any(left.key_pattern.fullmatch(text) for text in right.key_values)
    return True


def _kind(entity: Entity, hole: Hole) -> KeyType | None:
    """The type of the attribute that fills the hole; None for a shard or a bucket."""
    if hole.name in DERIVED:
        return None
    kind: KeyType = entity.attribute[hole.name].type  # type: ignore[assignment]  # checked with the entity
    return kind
