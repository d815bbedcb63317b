from enum import Enum
from typing import Any

import pytest

from gateway.model.entity import Attribute, Copy, Entity, Reference
from gateway.model.types import AttributeType, EnumOf, Field, Id, ListOf, Struct, Text
from tests.model.build import ATTRIBUTES, Colour, fault, on, passes, thing


def enum(name: str, *members: str) -> type[Enum]:
    """Made at run time, as only then a member can have any name."""
    make: Any = Enum
    made: type[Enum] = make(name, {member: number for number, member in enumerate(members)})
    return made


def with_type(kind: AttributeType) -> Entity:
    return thing(attributes=(*ATTRIBUTES, Attribute("extra", kind, "More.")))


@pytest.mark.parametrize(
    "name", ["thing", "orderLine", "Order_Line", "Order Line", "", "__Order", "1Order", "Örder", "A#B"]
)
def test_an_entity_is_named_in_pascal_case(name: str) -> None:
    assert fault(thing(name=name)) == f"entity {name}: `{name}` is not a name such as OrderLine"


@pytest.mark.parametrize("name", ["Query", "Mutation", "Subscription", "Node", "PageInfo", "Int", "ID"])
def test_an_entity_cannot_have_the_name_of_a_graphql_type(name: str) -> None:
    assert fault(thing(name=name)) == f"entity {name}: `{name}` is a type of GraphQL itself"


@pytest.mark.parametrize(
    "name", ["Extra", "ex_tra", "__extra", "_extra", "ex tra", "ex-tra", "ex.tra", "ex#tra", "", "é", "1x"]
)
def test_an_attribute_is_named_in_camel_case(name: str) -> None:
    wrong = thing(attributes=(*ATTRIBUTES, Attribute(name, Text(), "More.")))
    assert fault(wrong) == f"entity Thing: `{name}` is not a name such as placedAt"


@pytest.mark.parametrize("name", ["Owner", "__owner"])
def test_a_relation_is_named_in_camel_case(name: str) -> None:
    wrong = thing(relations=(Reference(name=name, pattern="user", description=""),))
    assert fault(wrong) == f"entity Thing: `{name}` is not a name such as placedAt"


def test_an_attribute_is_declared_once() -> None:
    assert fault(thing(attributes=(*ATTRIBUTES, ATTRIBUTES[0]))) == "entity Thing: `thingId` is declared twice"


def test_a_relation_cannot_have_the_name_of_an_attribute() -> None:
    wrong = thing(relations=(Reference(name="label", pattern="user", description=""),))
    assert fault(wrong) == "entity Thing: `label` is declared twice"


def test_the_names_that_every_entity_has_are_taken() -> None:
    wrong = thing(attributes=(*ATTRIBUTES, Attribute("id", Id(), "Its id.")))
    assert fault(wrong) == "entity Thing: `id` is a field of every entity"


@pytest.mark.parametrize("name", ["shard", "bucket"])
def test_the_names_of_derived_key_parts_are_taken(name: str) -> None:
    wrong = thing(attributes=(*ATTRIBUTES, Attribute(name, Id(), "A part.")))
    assert fault(wrong) == f"entity Thing: `{name}` has another meaning inside a key; choose another name"


def test_two_places_have_two_names() -> None:
    wrong = thing(indexes=(on("GSI1"), on("GSI1", pk="EMAIL#{email}")))
    assert fault(wrong) == "entity Thing: two places are called `GSI1`; give each its own name"


def test_no_place_can_pretend_to_be_the_primary_one() -> None:
    wrong = thing(copies=(Copy(name="primary", pk="OWNER#{ownerId}", sk="{thingId}"),))
    assert fault(wrong) == "entity Thing: two places are called `primary`; give each its own name"


def test_a_place_is_named_in_camel_case() -> None:
    wrong = thing(copies=(Copy(name="By-Owner", pk="OWNER#{ownerId}", sk="{thingId}"),))
    assert fault(wrong) == "entity Thing: the place `By-Owner` does not have a name such as byUser"


@pytest.mark.parametrize("member", ["A#B", "a", "A B", "2026", "é", "_A"])
def test_an_enum_has_words_in_capitals_since_they_stand_in_keys(member: str) -> None:
    strange = Enum("Strange", {"FINE": 1, member: 2})  # type: ignore[misc]  # made at run time on purpose
    assert (
        fault(with_type(EnumOf(strange))) == f"entity Thing: `extra`: `{member}` of Strange is not a word in capitals"
    )


def test_an_enum_hidden_in_a_list_of_records_is_checked_too() -> None:
    nested = ListOf(Struct("Part", (Field("kind", EnumOf(enum("Strange", "a")), "Its kind."),)))
    assert fault(with_type(nested)) == "entity Thing: `extra`: `a` of Strange is not a word in capitals"


def test_an_enum_has_members() -> None:
    assert fault(with_type(EnumOf(enum("Empty")))) == "entity Thing: `extra`: Empty has no members"


@pytest.mark.parametrize(
    ("struct", "said"),
    [
        (Struct("address", (Field("city", Text(), ""),)), "`address` is not a name such as OrderLine"),
        (Struct("Address", (Field("City", Text(), ""),)), "`City` is not a name such as placedAt"),
        (Struct("Address", (Field("city", Text(), ""),) * 2), "`city` is declared twice"),
        (Struct("Address", ()), "Address has no fields"),
    ],
)
def test_a_nested_record_has_proper_names(struct: Struct, said: str) -> None:
    assert fault(with_type(struct)) == f"entity Thing: `extra`: {said}"


def test_one_type_name_has_one_meaning() -> None:
    city, town = (Struct("Address", (Field(name, Text(), ""),)) for name in ("city", "town"))
    wrong = thing(attributes=(*ATTRIBUTES, Attribute("home", city, ""), Attribute("work", town, "")))
    assert fault(wrong) == "entity Thing: the type `Address` is declared elsewhere as something else"


def test_a_nested_record_cannot_have_the_name_of_an_entity() -> None:
    wrong = with_type(Struct("Thing", (Field("city", Text(), ""),)))
    assert fault(wrong) == "entity Thing: the type `Thing` is declared elsewhere as something else"


def test_two_enums_of_one_name_are_told_apart() -> None:
    assert (
        fault(with_type(EnumOf(enum("Colour", "RED"))))
        == "entity Thing: the type `Colour` is declared elsewhere as something else"
    )


def test_one_record_or_enum_may_be_used_many_times() -> None:
    city = Struct("Address", (Field("city", Text(), ""),))
    attributes = (Attribute("home", city, ""), Attribute("work", city, ""), Attribute("second", EnumOf(Colour), ""))
    assert passes(thing(attributes=(*ATTRIBUTES, *attributes)))
