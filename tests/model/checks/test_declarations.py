"""Slips of Python in a declaration get a sentence that says what to write."""

from typing import Any

import pytest

from gateway.errors import ModelError
from gateway.model.entity import Attribute, Upgrade, When
from gateway.model.model import Domain, Model
from gateway.model.patterns import Listing
from gateway.model.types import EnumOf, Field, Id, ListOf, SetOf, Struct, Text
from tests.model.build import ATTRIBUTES, Colour, fault, faults, on, thing


def with_type(kind: Any) -> str:
    said = faults(thing(attributes=(*ATTRIBUTES, Attribute("more", kind, ""))))
    assert len(said) == 1
    return said[0].removeprefix("entity Thing: `more`: ")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Id, "its type is the class Id; write `Id()`"),
        (EnumOf, "its type is the class EnumOf; write `EnumOf(...)`"),
        (Colour, "its type is the enum Colour; write `EnumOf(Colour)`"),
        (str, "its type is Python's `str`; use Text(), Id() or KeyString()"),
        (int, "its type is Python's `int`; use Integer()"),
        (bool, "its type is Python's `bool`; use Boolean()"),
        (ListOf(str), "its type is Python's `str`; use Text(), Id() or KeyString()"),  # type: ignore[arg-type]  # the slip
        (SetOf(Id), "its type is the class Id; write `Id()`"),  # type: ignore[arg-type]  # the slip
        (Text("200"), "`max` must be a whole number, not a `str`"),  # type: ignore[arg-type]  # the slip
        (EnumOf("RED"), "EnumOf takes an enum class, such as `EnumOf(Colour)`"),  # type: ignore[arg-type]  # the slip
        (
            Struct("Box", (Field("a", str, ""),)),  # type: ignore[arg-type]  # the slip
            "Box: `a`: its type is Python's `str`; use Text(), Id() or KeyString()",
        ),
        (Struct("Box", Field("a", Id(), "")), "Box: `fields` must be a tuple; put a comma after its only member"),  # type: ignore[arg-type]  # the slip
    ],
)
def test_an_invalid_type_is_reported_with_what_to_write(kind: Any, said: str) -> None:
    assert with_type(kind) == said


def test_any_other_value_is_reported_with_the_types_there_are() -> None:
    assert with_type("Its id.").startswith("its type is 'Its id.'; use a type such as Text()")
    assert with_type(object).startswith("its type is Python's `object`; use a type such as Text()")


def test_a_key_with_an_attribute_of_no_type_is_reported_once() -> None:
    wrong = thing(attributes=(Attribute("thingId", str, ""), *ATTRIBUTES[1:]))  # type: ignore[arg-type]  # the slip
    assert faults(wrong) == ("entity Thing: `thingId`: its type is Python's `str`; use Text(), Id() or KeyString()",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"unique": "email"}, "`unique` must be a tuple; write `('email',)`, with a comma after the only member"),
        ({"unique": ["email"]}, "`unique` must be a tuple, not a `list`"),
        ({"attributes": ATTRIBUTES[0]}, "`attributes` must be a tuple; put a comma after its only member"),
        ({"attributes": ("id", Id())}, "`attributes` holds a `str`; it takes Attribute"),
        ({"indexes": on()}, "`indexes` must be a tuple; put a comma after its only member"),
        (
            {"indexes": (on(when=When("colour", "RED")),)},  # type: ignore[arg-type]  # the slip
            "`indexes[0].when.values` must be a tuple; write `('RED',)`, with a comma after the only member",
        ),
        (
            {"schema": 2, "upgrades": (Upgrade(to=2, needs=(), gives="label", change=dict),)},  # type: ignore[arg-type]  # the slip
            "`upgrades[0].gives` must be a tuple; write `('label',)`, with a comma after the only member",
        ),
    ],
)
def test_a_missing_comma_of_an_entity_is_reported(changes: dict[str, Any], said: str) -> None:
    assert fault(thing(**changes)) == f"entity Thing: {said}"


def test_a_missing_comma_of_a_pattern_is_reported() -> None:
    wrong = Listing(name="things", entity="Thing", description="", where="email")  # type: ignore[arg-type]  # the slip
    said = "`where` must be a tuple; write `('email',)`, with a comma after the only member"
    assert faults(thing(), patterns=(wrong,)) == (f"pattern things: {said}",)


def test_a_missing_comma_of_a_domain_is_reported() -> None:
    wrong = Domain(name="test", description="", entities=thing(), patterns=())  # type: ignore[arg-type]  # the slip
    with pytest.raises(ModelError) as caught:
        Model(domains=(wrong,))
    assert caught.value.faults == ("domain test: `entities` must be a tuple; put a comma after its only member",)


def test_what_is_unique_is_declared() -> None:
    said = "entity Thing: `unique` names the unknown attribute `mail`: did you mean `email`?"
    assert fault(thing(unique=("email", "mail"))) == said


def test_text_is_still_a_type() -> None:
    assert fault(thing(attributes=(*ATTRIBUTES, Attribute("id", Text(), "")))).endswith("a field of every entity")
