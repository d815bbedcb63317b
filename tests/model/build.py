"""Small models, right as they stand, so that a test can make exactly one thing wrong."""

import enum
from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.entity import Attribute, Entity, Key, OnIndex, Relation
from gateway.model.error_code import ErrorCode
from gateway.model.model import Domain, Model
from gateway.model.mutation import Mutation
from gateway.model.patterns import AccessPattern, Choice
from gateway.model.role import Role
from gateway.model.table import TableSpec
from gateway.model.types import Boolean, DecimalNumber, EnumOf, Id, Integer, KeyString, ListOf, Text, Timestamp


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


ATTRIBUTES = (
    Attribute("thingId", Id(), "Its id."),
    Attribute("ownerId", Id(), "Whose it is."),
    Attribute("label", Text(), "What is written on it."),
    Attribute("email", KeyString(), "Whom to write to."),
    Attribute("nick", KeyString(), "What it is called.", required=False),
    Attribute("colour", EnumOf(Colour), "Its colour."),
    Attribute("madeAt", Timestamp(), "When it was made."),
    Attribute("price", DecimalNumber(), "What it costs."),
    Attribute("count", Integer(), "How many there are."),
    Attribute("active", Boolean(), "Whether it is in use."),
    Attribute("partIds", ListOf(Id()), "What it is made of."),
)
KEY = Key(pk="THING#{thingId}", sk="META")


def thing(**changes: Any) -> Entity:
    declared: dict[str, Any] = {"name": "Thing", "description": "A thing.", "attributes": ATTRIBUTES, "key": KEY}
    return Entity(**(declared | changes))


def on(index: str = "GSI1", pk: str = "OWNER#{ownerId}", sk: str = "{thingId}", **more: Any) -> OnIndex:
    return OnIndex(index=index, pk=pk, sk=sk, **more)


def model(
    *entities: Entity,
    patterns: tuple[AccessPattern | Choice, ...] = (),
    mutations: tuple[Mutation, ...] = (),
    error_codes: tuple[ErrorCode, ...] = (),
    roles: tuple[Role, ...] = (),
    table: TableSpec | None = None,
) -> Model:
    domain = Domain(
        name="test",
        description="For tests.",
        entities=entities,
        patterns=patterns,
        mutations=mutations,
        error_codes=error_codes,
        roles=roles,
    )
    return Model(domains=(domain,), table=table or TableSpec())


def passes(
    *entities: Entity, patterns: tuple[AccessPattern | Choice, ...] = (), table: TableSpec | None = None
) -> bool:
    """True for a right model; a wrong one raises and shows its fault."""
    return set(model(*entities, patterns=patterns, table=table).entities) == {entity.name for entity in entities}


def faults(
    *entities: Entity, patterns: tuple[AccessPattern | Choice, ...] = (), table: TableSpec | None = None
) -> tuple[str, ...]:
    """Everything that is said about a wrong model."""
    with pytest.raises(ModelError) as caught:
        model(*entities, patterns=patterns, table=table)
    return caught.value.faults


def fault(*entities: Entity, patterns: tuple[AccessPattern | Choice, ...] = (), table: TableSpec | None = None) -> str:
    """What is said first about a wrong model."""
    return faults(*entities, patterns=patterns, table=table)[0]


def related(*relations: Relation, **changes: Any) -> Entity:
    return thing(relations=relations, **changes)
