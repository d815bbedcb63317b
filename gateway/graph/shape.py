"""What an operation selects, compiled once: cells to copy, and loads to make for all parents at once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphql import FieldNode, GraphQLField

from gateway.model.entity import Collection, Entity, Reference, Total
from gateway.model.patterns import Listing, Lookup, Together
from gateway.store.plan import Attributes

Write = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Cell:
    """One attribute in the answer; `write` turns its value into JSON, None leaves it as it is."""

    key: str
    name: str
    write: Write | None
    required: bool


@dataclass(frozen=True, slots=True)
class Constant:
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class GlobalId:
    key: str


@dataclass(frozen=True, slots=True)
class One:
    """A reference: one item for each parent."""

    key: str
    relation: Reference
    lookup: Lookup
    shape: "Shape"


@dataclass(frozen=True, slots=True)
class Each:
    """A collection by keys."""

    key: str
    relation: Collection
    lookup: Lookup
    shape: "Shape"
    free: str
    fixed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A field with arguments: its definition and its node, from which a request's values are made."""

    definition: GraphQLField
    node: FieldNode


@dataclass(frozen=True, slots=True)
class Pages:
    """A collection by a listing, or a listing at the root, where there is no relation."""

    key: str
    relation: Collection | None
    listing: Listing
    asked: Asked
    connection: "ConnectionShape"


@dataclass(frozen=True, slots=True)
class Sum:
    """A total; `own` are the parameters of its lookup that the parent fills."""

    key: str
    relation: Total
    lookup: Lookup
    own: tuple[str, ...]
    write: Write | None


Load = One | Each | Pages | Sum


@dataclass(frozen=True, slots=True)
class Shape:
    """The selection on an entity."""

    entity: Entity
    attributes: Attributes
    fields: tuple[Cell | Constant | GlobalId | Load, ...]

    @property
    def loads(self) -> tuple[Load, ...]:
        return tuple(each for each in self.fields if isinstance(each, One | Each | Pages | Sum))


@dataclass(frozen=True, slots=True)
class EdgeShape:
    """`fields` are response keys with `node`, `cursor` or a constant."""

    fields: tuple[tuple[str, "Shape | str"], ...]


@dataclass(frozen=True, slots=True)
class ConnectionShape:
    """`fields` are response keys with edges, nodes, page info (names of its attributes), or a constant."""

    fields: tuple[tuple[str, "EdgeShape | Shape | PageInfoShape | str"], ...]
    attributes: Attributes


@dataclass(frozen=True, slots=True)
class PageInfoShape:
    """Response keys with the attribute of `PageInfo` that answers; `__typename` is a constant."""

    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Target:
    """An item to look up; with `together`, the one collection that the same Query answers."""

    lookup: Lookup
    shape: Shape
    together: tuple[Together, Each | Pages] | None = None


@dataclass(frozen=True, slots=True)
class RootOne:
    key: str
    asked: Asked
    target: Target


@dataclass(frozen=True, slots=True)
class RootMany:
    key: str
    lookup: Lookup
    parameter: str
    asked: Asked
    shape: Shape


@dataclass(frozen=True, slots=True)
class RootSingle:
    """A listing that finds at most one item, or what its reference leads to."""

    key: str
    listing: Listing
    asked: Asked
    shape: Shape
    follow: tuple[Reference, Target] | None = None
    names: Attributes = frozenset()


Root = RootOne | RootMany | RootSingle | Pages | Constant


@dataclass(frozen=True, slots=True)
class Program:
    """A whole query, ready to run for any request."""

    roots: tuple[Root, ...]
    variables: tuple[Any, ...]
    # everything that it reads of any entity
    attributes: Attributes = frozenset()
