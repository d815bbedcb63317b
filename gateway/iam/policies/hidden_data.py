"""Hidden data: the attributes that a model marks as personal, and the keys that contain hidden ones."""

from dataclasses import dataclass

from gateway.errors import ModelError
from gateway.model.entity import Entity, Placement
from gateway.model.model import Model
from gateway.model.role_reach import stored
from gateway.model.template import Literal, Template
from gateway.model.types import KEY_SEPARATOR


@dataclass(frozen=True, slots=True)
class PersonalKey:
    """A key that contains a personal attribute, and the table attribute that holds the key."""

    entity: str
    attribute: str
    template: str
    held_in: str


def personal_attributes(model: Model) -> tuple[str, ...]:
    """The names of personal attributes; the model has checked that each is personal in all entities."""
    declared = (attribute for entity in model.entities.values() for attribute in stored(entity))
    return tuple(sorted({attribute.name for attribute in declared if attribute.personal}))


def hidden_partitions(model: Model, hidden: frozenset[str]) -> tuple[str, ...]:
    """Patterns of the partition keys that contain a hidden attribute, without the tenant's prefix."""
    counters = ((entity, entity.primary) for entity in model.counters.values())
    places = [place for _, place in (*model.placements, *counters)]
    return tuple(sorted({partition_pattern(place.pk) for place in places if place.pk.names & hidden}))


def personal_keys(model: Model) -> tuple[PersonalKey, ...]:
    """The keys that show personal attributes: IAM cannot hide keys, because every read needs them."""
    return tuple(
        PersonalKey(entity.name, name, template.text, held_in)
        for entity, place in model.placements
        for template, held_in in zip((place.pk, place.sk), _key_attributes(model, place), strict=True)
        for name in sorted(personal_names(entity, template))
    )


def personal_names(entity: Entity, template: Template) -> frozenset[str]:
    return frozenset(name for name in template.names if entity.attribute[name].personal)


def partition_pattern(template: Template) -> str:
    """The partition keys of a template, without the tenant's prefix."""
    if not any(isinstance(segment, Literal) for segment in template.segments):
        # Such a pattern would match, and so hide, every partition.
        raise ModelError(f"key `{template.text}` contains a hidden attribute and needs a word in capitals before it")
    parts = (segment.text if isinstance(segment, Literal) else "*" for segment in template.segments)
    return KEY_SEPARATOR.join(parts)


def _key_attributes(model: Model, place: Placement) -> tuple[str, str]:
    table = model.table
    return next(((index.pk, index.sk) for index in table.indexes if index.name == place.index), (table.pk, table.sk))
