"""Named access patterns: every way to read the table, and the parameters that a caller or an item fills."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from gateway.model.entity import PRIMARY, Collection, Entity, Placement, Relation, Total
from gateway.model.staleness import Staleness
from gateway.model.template import DERIVED

if TYPE_CHECKING:
    from gateway.model.model import Model


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is expected of a pattern, for the documentation and for capacity planning."""

    per_second: float = 1
    items: int = 1
    item_bytes: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """By the full key of an entity: GetItem for one, BatchGetItem for many."""

    name: str
    entity: str
    description: str
    many: str | None = None  # the name under which many are asked for at once
    strong: bool = False
    traffic: Traffic = Traffic()
    deprecated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A Query on one placement of an entity: the table itself, one of its copies, or an index.

    Its parameters are the attributes of the partition key, those sort key attributes named in `where`, and an optional
    range over the sort key attribute `between`. With a `window` an end that is left open is filled in, so that without
    any range the last such time up to now is read, and callers may ask for the last hours instead.
    """

    name: str
    entity: str
    description: str
    index: str = PRIMARY
    where: tuple[str, ...] = ()
    between: str | None = None
    window: timedelta | None = None
    newest_first: bool = False  # descending sort keys
    single: bool = False  # at most one item answers
    follow: str | None = None  # with `single`: answer with what this reference of the item leads to
    strong: bool = False
    cached: Staleness | None = None  # how stale a page may be
    traffic: Traffic = Traffic(items=20)
    deprecated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCollection:
    """An item and the first page of one of its collections from one Query, since both lie in one partition."""

    name: str
    entity: str
    collection: str
    description: str
    traffic: Traffic = Traffic(items=20)


AccessPattern = Lookup | Listing | ItemCollection


def names_of(pattern: AccessPattern) -> tuple[str, ...]:
    """The names of its fields: for one item and, where it has one, for many."""
    return (pattern.name, pattern.many) if isinstance(pattern, Lookup) and pattern.many else (pattern.name,)


def parameters(model: "Model", pattern: AccessPattern) -> tuple[str, ...]:
    """The attributes that a caller must give."""
    if isinstance(pattern, Listing):
        holes = (hole.name for hole in model.place(pattern).pk.holes if hole.name not in DERIVED)
        return tuple(dict.fromkeys((*holes, *pattern.where)))
    return model.entities[pattern.entity].key_names


def member_place(model: "Model", pattern: AccessPattern) -> Placement:
    """Where the items lie that the pattern reads."""
    return model.place(pattern) if isinstance(pattern, Listing) else model.entities[pattern.entity].primary


def own_parameters(model: "Model", relation: Relation) -> tuple[str, ...]:
    """The parameters of the relation's pattern that the item fills: all but those that a total fills itself."""
    filled = {relation.over, *relation.fixed} if isinstance(relation, Total) else set()
    return tuple(name for name in parameters(model, model.patterns[relation.pattern]) if name not in filled)


def bound_attribute(relation: Relation, parameter: str) -> str:
    """The attribute of the item that fills a parameter of the relation's pattern."""
    return relation.bind.get(parameter, parameter)


def open_parameters(model: "Model", entity: Entity, relation: Relation) -> tuple[str, ...]:
    """The parameters that the item's own attributes do not fill: none, or with `each` the one its members fill."""
    each = relation.each if isinstance(relation, Collection) else None
    bound = {name: bound_attribute(relation, name) for name in own_parameters(model, relation)}
    return tuple(name for name, own in bound.items() if own == each or own not in entity.attribute)
