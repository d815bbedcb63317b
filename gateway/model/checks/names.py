"""Checks of names: valid in GraphQL, and never ambiguous."""

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from gateway.model.checks.declarations import type_faults
from gateway.model.code import CustomQuery
from gateway.model.entity import PRIMARY, Entity
from gateway.model.template import DERIVED
from gateway.model.types import AttributeType, EnumOf, Field, Struct, with_inner

_TYPE = re.compile(r"[A-Z][A-Za-z0-9]*")
_FIELD = re.compile(r"[a-z][A-Za-z0-9]*")
_MEMBER = re.compile(r"[A-Z][A-Z0-9_]*")
_GRAPHQL = frozenset(
    (
        *("Query", "Mutation", "Subscription", "Node", "PageInfo", "ListOrder", "ListChangeKind"),
        *("String", "Int", "Float", "Boolean", "ID"),
    )
)
_EVERY_ENTITY = frozenset({"id", "version"})


def is_field_name(name: str) -> bool:
    return _FIELD.fullmatch(name) is not None


def name_faults(entity: Entity) -> Iterator[str]:
    yield from _type_name(entity.name)
    fields: list[Field] = [*entity.attributes, *entity.computed, *entity.loaded, *entity.downloads]
    names = [*(field.name for field in fields), *(relation.name for relation in entity.relations)]
    yield from field_name_faults(names)
    for name in sorted(_EVERY_ENTITY & set(names)):
        yield f"`{name}` is a field of every entity"
    for name in sorted(DERIVED & set(names)):
        yield f"`{name}` has another meaning inside a key; choose another name"
    yield from _place_names(entity)
    yield from fields_faults(fields)


def fields_faults(fields: Iterable[Field]) -> Iterator[str]:
    """The faults of their types, and of the names inside these."""
    for field in fields:
        wrong = [*type_faults(field.type)]
        faults = wrong or (fault for kind in with_inner(field.type) for fault in _kind_faults(kind))
        yield from (f"`{field.name}`: {fault}" for fault in faults)


def _type_name(name: str) -> Iterator[str]:
    if not _TYPE.fullmatch(name):
        yield f"`{name}` is not a name such as OrderLine"
    if name in _GRAPHQL:
        yield f"`{name}` is a type of GraphQL itself"


def field_name_faults(names: list[str]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        if not is_field_name(name):
            yield f"`{name}` is not a name such as placedAt"
        if names.count(name) > 1:
            yield f"`{name}` is declared twice"


def _place_names(entity: Entity) -> Iterator[str]:
    place_names = [*(copy.name for copy in entity.copies), *(place.name for place in entity.indexes if place.name)]
    yield from (
        f"the place `{name}` does not have a name such as byUser" for name in place_names if not is_field_name(name)
    )
    named = (*(copy.name for copy in entity.copies), *(place.name or place.index for place in entity.indexes))
    places = [PRIMARY, *named]
    for name in dict.fromkeys(places):
        if places.count(name) > 1:
            yield f"two places are called `{name}`; give each its own name"


def _kind_faults(kind: AttributeType) -> Iterator[str]:
    match kind:
        case Struct(name, fields):
            yield from _type_name(name)
            yield from field_name_faults([field.name for field in fields])
            if not fields:
                yield f"{name} has no fields"
        case EnumOf(enum):
            yield from _type_name(enum.__name__)
            # INVARIANT: a member is a word in capitals, so it contains no '#' and is not a timestamp or number.
            strange = [name for name in enum.__members__ if not _MEMBER.fullmatch(name)]
            yield from (f"`{name}` of {enum.__name__} is not a word in capitals" for name in strange)
            if not enum.__members__:
                yield f"{enum.__name__} has no members"


def clashes(entities: tuple[Entity, ...], queries: tuple[CustomQuery, ...]) -> Iterator[str]:
    """GraphQL has one namespace for the types of entities, nested records and enums."""
    meanings: dict[str, object] = {entity.name: entity.name for entity in entities}
    for entity in entities:
        yield from _clashes(f"entity {entity.name}", _entity_fields(entity), meanings)
    for query in queries:
        yield from _clashes(f"query {query.name}", _query_fields(query), meanings)


def _entity_fields(entity: Entity) -> Iterator[Field]:
    yield from entity.attributes
    for field in entity.derived.values():
        yield from (field, *field.arguments)


def _query_fields(query: CustomQuery) -> Iterator[Field]:
    yield from query.arguments
    if not isinstance(query.returns, str):
        yield Field(query.name, query.returns, query.description)


def _clashes(owner: str, fields: Iterable[Field], meanings: dict[str, object]) -> Iterator[str]:
    for name, meaning in _named(fields):
        if meanings.setdefault(name, meaning) != meaning:
            yield f"{owner}: the type `{name}` is declared elsewhere as something else"


def _named(fields: Iterable[Field]) -> Iterator[tuple[str, Struct | type[Enum]]]:
    for field in fields:
        for kind in with_inner(field.type):
            match kind:
                case Struct(name):
                    yield name, kind
                case EnumOf(enum):
                    yield enum.__name__, enum
