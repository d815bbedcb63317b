"""What every type says about itself: its documentation, and a sample that is valid."""

from decimal import Decimal

import pytest

from gateway.model.entity import Attribute
from gateway.model.types import (
    AttributeType,
    Blob,
    Boolean,
    Currency,
    Date,
    DecimalNumber,
    Email,
    EnumOf,
    Field,
    Id,
    Integer,
    KeyString,
    KeyType,
    ListOf,
    Money,
    SetOf,
    Struct,
    Text,
    Timestamp,
)
from tests.model.build import ATTRIBUTES, Colour, faults, thing


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Text(200), "text, up to 200 characters"),
        (Id(), "id"),
        (KeyString(), "text without `#`"),
        (Integer(), "whole number"),
        (DecimalNumber(), "decimal"),
        (Boolean(), "true or false"),
        (Timestamp(), "timestamp (UTC)"),
        (EnumOf(Colour), "Colour: RED, GREEN"),
        (Blob(1_000), "up to 1,000 bytes"),
        (SetOf(Id()), "set of: id"),
        (ListOf(Id(), 5), "list of at most 5: id"),
        (Struct("Size", (Field("x", Id(), ""), Field("y", Id(), "", required=False))), "Size: x, y?"),
    ],
)
def test_every_type_documents_itself(kind: AttributeType, words: str) -> None:
    assert kind.documentation == words


ADDRESS = Struct("Address", (Field("city", Text(), "The city."), Field("code", KeyString(), "Post code.")))


@pytest.mark.parametrize(
    "kind",
    [
        Text(3),
        Id(),
        KeyString(),
        Integer(),
        DecimalNumber(),
        Boolean(),
        Timestamp(),
        Date(),
        Email(),
        Money(),
        Currency(),
        EnumOf(Colour),
        Blob(3),
        SetOf(Id()),
        ListOf(ADDRESS),
        ADDRESS,
    ],
)
def test_a_sample_is_a_valid_value(kind: AttributeType) -> None:
    assert kind.decoder()(kind.encode("a", kind.sample)) == kind.sample


@pytest.mark.parametrize(
    "kind", [Id(), KeyString(), Integer(), DecimalNumber(), Boolean(), Timestamp(), Date(), Email(), EnumOf(Colour)]
)
def test_a_sample_fills_a_key_and_is_read_back_from_it(kind: KeyType) -> None:
    text = kind.key_text("a", kind.sample, 5, 2)
    assert kind.key_pattern.fullmatch(text)
    assert kind.key_value(text) == kind.sample
    assert len(text.encode()) <= kind.key_length(5, 2)
    assert kind.key_value("#") is None


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Integer(min=0), "whole number, at least 0"),
        (Integer(max=5_000), "whole number, at most 5,000"),
        (DecimalNumber(min=0, max=1), "decimal, 0 to 1"),
        (DecimalNumber(min=0, places=2), "decimal with 2 digits after the point, at least 0"),
    ],
)
def test_a_number_documents_its_bounds(kind: AttributeType, words: str) -> None:
    assert kind.documentation == words
    assert [*kind.faults("a", kind.sample)] == []


@pytest.mark.parametrize(("kind", "wrong"), [(Integer(), 2**31), (Integer(), -(2**31) - 1), (DecimalNumber(max=1), 2)])
def test_a_number_outside_of_its_bounds_is_a_fault(kind: AttributeType, wrong: int) -> None:
    """INVARIANT: nothing can be stored that GraphQL cannot return."""
    [fault] = kind.faults("a", wrong)
    assert fault.field == "a"


@pytest.mark.parametrize(
    ("given", "shown"), [(0, "0.00"), (Decimal("0.1"), "0.10"), (Decimal("-2.50"), "-2.50"), (10**36, f"{10**36}.00")]
)
def test_a_decimal_is_shown_with_its_places(given: int | Decimal, shown: str) -> None:
    kind = DecimalNumber(places=2)
    value = kind.normalised(given)
    assert [*kind.faults("price", value)] == []
    assert f"{value:f}" == shown
    assert f"{kind.decoder()(kind.encode('price', value)):f}" == shown


def test_more_digits_than_places_are_a_fault_and_what_is_stored_with_more_is_shown_as_it_is() -> None:
    kind = DecimalNumber(places=2)
    [fault] = kind.faults("price", kind.normalised(Decimal("0.123")))
    assert fault.message == "`price` is 0.123, at most 2 digits after the point are allowed"
    assert kind.decoder()({"N": "0.123"}) == Decimal("0.123")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Integer(max=2**31), "32 bits"),
        (Integer(min=2, max=1), "its minimum 2 is above its maximum 1"),
        (DecimalNumber(places=-1), "its `places` are -1"),
        (DecimalNumber(places=39), "its `places` are 39"),
        (DecimalNumber(min=0.5), "its bound 0.5 is not a whole number or a Decimal"),  # type: ignore[arg-type]  # wrong
    ],
)
def test_wrong_bounds_are_a_fault_of_the_declaration(kind: AttributeType, words: str) -> None:
    [fault] = kind.declaration_faults()
    assert words in fault
    assert any(words in each for each in faults(thing(attributes=(*ATTRIBUTES, Attribute("n", kind, "A number.")))))
