"""Checks of relations: a pattern must serve each, and the item must fill its parameters."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.model.entity import Collection, Entity, Reference, Relation, Total
from gateway.model.patterns import (
    AccessPattern,
    Listing,
    Lookup,
    bound_attribute,
    open_parameters,
    own_parameters,
    parameters,
)
from gateway.model.referrers import reference_faults
from gateway.model.types import AttributeType, DecimalNumber, EnumOf, Integer, ListOf
from gateway.suggestions import closest

if TYPE_CHECKING:
    from gateway.model.model import Model

_MOST_ITEMS = 100  # of a total: as many as one batch reads


def relation_faults(model: "Model", entity: Entity, relation: Relation) -> Iterator[str]:
    owner = f"entity {entity.name}: relation `{relation.name}`"
    return (f"{owner} {fault}" for fault in _faults(model, entity, relation))


def _faults(model: "Model", entity: Entity, relation: Relation) -> Iterator[str]:
    pattern = model.patterns.get(relation.pattern)
    if pattern is None:
        yield f"names the unknown pattern `{relation.pattern}`{closest(relation.pattern, model.patterns)}"
        return
    wrong_kind = [*_kind_faults(relation, pattern)]
    if wrong_kind:
        yield from wrong_kind
        return
    strange = sorted(set(relation.bind) - set(parameters(model, pattern)))
    if strange:
        yield f"binds {strange}, which `{pattern.name}` does not take"
    if isinstance(relation, Total):
        yield from _total_faults(model, relation, pattern)
    binding = [*_binding_faults(model, entity, relation, pattern)]
    yield from binding
    if isinstance(relation, Reference) and not binding:
        yield from reference_faults(model, entity, relation)


def _kind_faults(relation: Relation, pattern: AccessPattern) -> Iterator[str]:
    if isinstance(relation, Reference | Total) or relation.each is not None:
        if not isinstance(pattern, Lookup):
            yield f"needs a lookup, but `{pattern.name}` is not one"
    elif not isinstance(pattern, Listing) or pattern.single:
        yield f"needs a listing of many items, but `{pattern.name}` is not one"


def _total_faults(model: "Model", relation: Total, pattern: AccessPattern) -> Iterator[str]:
    target, pattern_parameters = model.entities[pattern.entity], parameters(model, pattern)
    strange = sorted({relation.over, *relation.fixed} - set(pattern_parameters))
    if strange:
        yield f"gives {strange}, which `{pattern.name}` does not take"
    elif not isinstance(target.attribute[relation.over].type, Integer):
        yield f"counts over `{relation.over}`, which is not a whole number"
    summed = target.attribute.get(relation.attribute)
    if summed is None or not isinstance(summed.type, Integer | DecimalNumber):
        yield f"sums `{relation.attribute}`, which is not a number of {target.name}"
    if not 1 <= relation.count <= _MOST_ITEMS:
        yield f"sums {relation.count} items; it may sum 1 to {_MOST_ITEMS}"


def _binding_faults(model: "Model", entity: Entity, relation: Relation, pattern: AccessPattern) -> Iterator[str]:
    left = open_parameters(model, entity, relation)
    if isinstance(relation, Collection) and relation.each is not None:
        if len(left) != 1:
            yield f"must leave one parameter to `{relation.each}`, it leaves {list(left)}"
            return
    elif left:
        yield f"leaves {list(left)} of `{pattern.name}` open"
    target = model.entities[pattern.entity]
    for name in own_parameters(model, relation):
        own = _own_type(entity, relation, name, left)
        if own is not None and not _fills(own, target.attribute[name].type):
            yield f"fills `{name}` of `{pattern.name}` with a value of another type"


def _fills(own: AttributeType, target: AttributeType) -> bool:
    """Whether a value of one type finds what was stored with the other; their bounds and patterns do not matter."""
    if isinstance(own, EnumOf):
        return own == target
    return type(own) is type(target) and getattr(own, "normalise", None) == getattr(target, "normalise", None)


def _own_type(entity: Entity, relation: Relation, parameter: str, left: tuple[str, ...]) -> AttributeType | None:
    if parameter not in left:
        return entity.attribute[bound_attribute(relation, parameter)].type
    listed = entity.attribute.get(relation.each) if isinstance(relation, Collection) and relation.each else None
    return listed.type.of if listed is not None and isinstance(listed.type, ListOf) else None
