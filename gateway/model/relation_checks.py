"""What makes a relation wrong: no pattern serves it, or its parameters cannot be filled from the item."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.model.entity import Collection, Entity, Reference, Relation
from gateway.model.pattern_checks import parameters
from gateway.model.patterns import AccessPattern, Listing, Lookup
from gateway.model.types import AttributeType, ListOf

if TYPE_CHECKING:
    from gateway.model.model import Model


def relation_faults(model: "Model", entity: Entity) -> Iterator[str]:
    for relation in entity.relations:
        for fault in _faults(model, entity, relation):
            yield f"entity {entity.name}: relation `{relation.name}` {fault}"


def _faults(model: "Model", entity: Entity, relation: Relation) -> Iterator[str]:
    pattern = model.patterns.get(relation.pattern)
    if pattern is None:
        yield f"is served by no pattern (`{relation.pattern}`)"
        return
    yield from _kind_faults(relation, pattern)
    strange = sorted(set(relation.bind) - set(parameters(model, pattern)))
    if strange:
        yield f"binds {strange}, which `{pattern.name}` does not take"
    yield from _binding_faults(model, entity, relation, pattern)


def _kind_faults(relation: Relation, pattern: AccessPattern) -> Iterator[str]:
    if isinstance(relation, Reference) or relation.each is not None:
        if not isinstance(pattern, Lookup):
            yield f"needs a lookup, `{pattern.name}` is none"
    elif not isinstance(pattern, Listing) or pattern.single:
        yield f"needs a listing of many, `{pattern.name}` is none"


def bound_attribute(relation: Relation, parameter: str) -> str:
    """The attribute of the item that fills a parameter of the relation's pattern."""
    return relation.bind.get(parameter, parameter)


def open_parameters(model: "Model", entity: Entity, relation: Relation) -> tuple[str, ...]:
    """What the item's own attributes leave open: nothing, or with `each` the parameter its members fill."""
    each = relation.each if isinstance(relation, Collection) else None
    bound = {name: bound_attribute(relation, name) for name in parameters(model, model.patterns[relation.pattern])}
    return tuple(name for name, own in bound.items() if own == each or own not in entity.attribute)


def _binding_faults(model: "Model", entity: Entity, relation: Relation, pattern: AccessPattern) -> Iterator[str]:
    left = open_parameters(model, entity, relation)
    if isinstance(relation, Collection) and relation.each is not None:
        if len(left) != 1:
            yield f"must leave one parameter to `{relation.each}`, it leaves {list(left)}"
    elif left:
        yield f"leaves {list(left)} of `{pattern.name}` open"
    target = model.entities[pattern.entity]
    for name in parameters(model, pattern):
        own = _own_type(entity, relation, name, left)
        if own is not None and own != target.attribute[name].type:
            yield f"fills `{name}` of `{pattern.name}` with a value of another type"


def _own_type(entity: Entity, relation: Relation, parameter: str, left: tuple[str, ...]) -> AttributeType | None:
    if parameter not in left:
        return entity.attribute[bound_attribute(relation, parameter)].type
    listed = entity.attribute.get(relation.each) if isinstance(relation, Collection) and relation.each else None
    return listed.type.of if listed is not None and isinstance(listed.type, ListOf) else None
