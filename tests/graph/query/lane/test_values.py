"""The values of a row as the model has them; what cannot be read is left to the reference executor."""

import enum
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.graph.query.lane.fallback import FallBack
from gateway.graph.query.lane.values import value_reader
from gateway.model.entity import Attribute
from gateway.model.types import AttributeType, Boolean, Date, DecimalNumber, EnumOf, Id, Integer, ListOf, Text


class Colour(enum.Enum):
    RED = "red"


def read(kind: AttributeType, **wire: Any) -> Any:
    return value_reader(Attribute("value", kind, "A value."))(SimpleNamespace(**wire))


def test_plain_values_are_read_from_their_wire_form() -> None:
    assert read(Text(), S="a") == "a"
    assert read(Boolean(), BOOL=True) is True
    assert read(EnumOf(Colour), S="RED") is Colour.RED
    assert read(ListOf(Id()), L=[SimpleNamespace(S="a"), SimpleNamespace(S="b")]) == ["a", "b"]
    assert read(Integer(), N="1E+2") == 100
    assert read(DecimalNumber(), N="1.50") == Decimal("1.50")
    assert str(read(DecimalNumber(places=2), N="1.5")) == "1.50"


@pytest.mark.parametrize("kind", [Integer(), DecimalNumber()])
def test_an_invalid_number_falls_back(kind: AttributeType) -> None:
    with pytest.raises(FallBack):
        read(kind, N="x")


def test_what_the_type_refuses_falls_back() -> None:
    reader = value_reader(Attribute("value", Date(), "A value."))
    assert reader({"S": "2026-11-17"}).year == 2026
    for wrong in ({"S": "yesterday"}, {"N": "1"}, None):
        with pytest.raises(FallBack):
            reader(wrong)
