"""Python mistakes in every declaration: each field says what is wrong with it and what to write."""

from dataclasses import fields, replace
from typing import Any, get_args, get_origin

import pytest

from gateway.errors import ModelError
from gateway.model.checks.shapes import shape_faults
from gateway.model.entity import (
    Attribute,
    Bucket,
    Collection,
    Copy,
    Entity,
    Expiry,
    Key,
    OnIndex,
    Reference,
    Shards,
    Total,
    Upgrade,
    When,
)
from gateway.model.error_code import ErrorCode
from gateway.model.model import Domain, Model
from gateway.model.mutation import Mutation
from gateway.model.patterns import ItemCollection, Listing, Lookup, Traffic
from gateway.model.staleness import Staleness
from gateway.model.types import Field, Id, Struct
from tests.model.build import model, thing


async def run(writer: Any, values: dict[str, Any]) -> Any:
    return values


MUTATION = Mutation(name="change", description="", returns="Thing", input=(Field("thingId", Id(), ""),), run=run)
LISTING = Listing(name="things", entity="Thing", description="")
DOMAIN = Domain(name="test", description="", entities=(thing(),), patterns=())
RIGHT: list[Any] = [
    thing(),
    Attribute("id", Id(), ""),
    Key(pk="A", sk="B"),
    OnIndex(index="GSI1", pk="A", sk="B"),
    Copy(name="byUser", pk="A", sk="B"),
    Shards(4, by="id"),
    Bucket("at", "hour"),
    When("status", ("OPEN",)),
    Expiry(at="expiresAt"),
    Reference(name="user", pattern="user", description=""),
    Collection(name="users", pattern="users", description=""),
    Total(name="likes", pattern="shard", description="", attribute="count", over="slot", count=8),
    Upgrade(to=2, needs=(), gives=(), change=dict),
    Lookup(name="thing", entity="Thing", description=""),
    LISTING,
    ItemCollection(name="both", entity="Thing", collection="all", description=""),
    Traffic(),
    Staleness(30),
    Field("size", Id(), ""),
    Struct("Inner", (Field("size", Id(), ""),), ""),
    ErrorCode("FULL", "it is full"),
    MUTATION,
    DOMAIN,
    Model(domains=(DOMAIN,)),
]
TUPLES = [
    pytest.param(right, field.name, get_args(field.type)[0], id=f"{type(right).__name__}.{field.name}")
    for right in RIGHT
    for field in fields(right)
    if get_origin(field.type) is tuple
]


def changed(right: Any, name: str, value: Any) -> list[str]:
    """The faults of the declaration, which need not be right enough to be made."""
    wrong = object.__new__(type(right))
    for field in fields(right):
        object.__setattr__(wrong, field.name, value if field.name == name else getattr(right, field.name))
    return [*shape_faults(wrong)]


@pytest.mark.parametrize("right", RIGHT, ids=lambda right: type(right).__name__)
def test_a_right_declaration_has_no_faults(right: Any) -> None:
    assert [*shape_faults(right)] == []


@pytest.mark.parametrize(("right", "name", "member"), TUPLES)
def test_a_bare_string_a_list_and_a_class_are_reported_for_every_tuple(right: Any, name: str, member: Any) -> None:
    assert changed(right, name, "x") == [
        f"`{name}` must be a tuple; write `('x',)`, with a comma after the only member"
    ]
    assert changed(right, name, []) == [f"`{name}` must be a tuple, not a `list`"]
    [strange] = changed(right, name, (3.5,))
    assert strange.startswith(f"`{name}` holds a `float`; it takes ")
    kind = (get_args(member) or (member,))[0]
    if kind is not str:
        [fault] = changed(right, name, (kind,))
        assert fault.startswith(f"`{name}` holds the class {kind.__name__}; it takes ")
        assert fault.endswith(f"; write `{kind.__name__}(...)`")


@pytest.mark.parametrize(
    ("right", "name", "value"),
    [
        (thing(), "attributes", Attribute("id", Id(), "")),
        (thing(), "indexes", OnIndex(index="GSI1", pk="A", sk="B")),
        (DOMAIN, "entities", thing()),
        (DOMAIN, "patterns", LISTING),
        (DOMAIN, "mutations", MUTATION),
        (DOMAIN, "error_codes", ErrorCode("FULL", "full")),
        (MUTATION, "input", Field("size", Id(), "")),
        (MUTATION, "extras", Field("size", Id(), "")),
    ],
)
def test_a_missing_comma_is_reported(right: Any, name: str, value: Any) -> None:
    assert changed(right, name, value) == [f"`{name}` must be a tuple; put a comma after its only member"]


@pytest.mark.parametrize(
    ("right", "name", "value", "fault"),
    [
        (thing(), "key", Key, "`key` is the class Key; write `Key(...)`"),
        (thing(), "key", "THING", "`key` must be Key, not a `str`"),
        (thing(), "expiry", Expiry, "`expiry` is the class Expiry; write `Expiry(...)`"),
        (thing(), "cached", 30, "`cached` must be Staleness, not an `int`"),
        (thing(), "name", 5, "`name` must be a string, not an `int`"),
        (Shards(4, by="id"), "count", "4", "`count` must be a whole number, not a `str`"),
        (Shards(4, by="id"), "by", ("id",), "`by` must be a string, not a `tuple`"),
        (MUTATION, "run", "assign", "`run` must be a function, not a `str`"),
        (MUTATION, "member_units", True, "`member_units` must be a number, not a `bool`"),
        (LISTING, "traffic", Traffic, "`traffic` is the class Traffic; write `Traffic(...)`"),
        (LISTING, "single", "yes", "`single` must be True or False, not a `str`"),
        (Reference(name="a", pattern="b", description=""), "bind", "x", "`bind` must be a dictionary, not a `str`"),
    ],
)
def test_another_kind_of_value_is_reported(right: Any, name: str, value: Any, fault: str) -> None:
    assert changed(right, name, value) == [fault]


def test_faults_deep_inside_are_reported_by_their_path() -> None:
    wrong: Any = When("colour", "RED")  # type: ignore[arg-type]  # the slip
    entity = replace(thing(), indexes=(OnIndex(index="GSI1", pk="A", sk="B", shards=Shards, when=wrong),))  # type: ignore[arg-type]
    assert [*shape_faults(entity)] == [
        "`indexes[0].shards` is the class Shards; write `Shards(...)`",
        "`indexes[0].when.values` must be a tuple; write `('RED',)`, with a comma after the only member",
    ]


def test_a_member_with_a_name_is_reported_under_its_name() -> None:
    wrong: Any = Attribute("size", Id(), 5)  # type: ignore[arg-type]  # the slip
    assert [*shape_faults(replace(thing(), attributes=(wrong,)))] == [
        "`attributes[size].description` must be a string, not an `int`"
    ]


def test_a_model_reports_the_shapes_of_everything_at_once() -> None:
    key: Any = Key
    listing: Any = replace(LISTING, where="email")  # type: ignore[arg-type]  # the slip
    lookup: Any = Lookup(name="thing", entity=["Thing"], description="")  # type: ignore[arg-type]
    mutation: Any = replace(MUTATION, returns=["Thing"], input=Field("a", Id(), ""))  # type: ignore[arg-type]  # the slip
    with pytest.raises(ModelError) as caught:
        model(thing(key=key), patterns=(listing, lookup), mutations=(mutation,))
    assert caught.value.faults == (
        "entity Thing: `key` is the class Key; write `Key(...)`",
        "pattern things: `where` must be a tuple; write `('email',)`, with a comma after the only member",
        "pattern thing: `entity` must be a string, not a `list`",
        "mutation change: `returns` must be a string, not a `list`",
        "mutation change: `input` must be a tuple; put a comma after its only member",
    )


def test_invalid_names_and_domains_are_reported_before_anything_relies_on_them() -> None:
    domains: Any = DOMAIN
    with pytest.raises(ModelError, match="`domains` must be a tuple; put a comma after its only member"):
        Model(domains=domains)
    nameless: Any = replace(thing(), name=["Thing"])  # type: ignore[arg-type]  # the slip
    with pytest.raises(ModelError, match=r"domain test: `entities\[0\].name` must be a string"):
        model(nameless)
    kinds: Any = (Entity,)
    with pytest.raises(ModelError, match=r"`entities` holds the class Entity; it takes Entity; write `Entity\(...\)`"):
        Model(domains=(replace(DOMAIN, entities=kinds),))
