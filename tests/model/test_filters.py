"""Which comparisons an attribute allows."""

import pytest

from gateway.model.entity import Attribute
from gateway.model.filters import operators
from gateway.model.types import (
    AttributeType,
    Blob,
    Boolean,
    DecimalNumber,
    EnumOf,
    Id,
    KeyString,
    ListOf,
    SetOf,
    Text,
    Timestamp,
)
from tests.model.build import Colour

RANGE = ("eq", "gt", "ge", "lt", "le", "between")


@pytest.mark.parametrize(
    ("kind", "allowed"),
    [
        (EnumOf(Colour), ("eq", "in")),
        (Id(), ("eq", "in")),
        (Boolean(), ("eq",)),
        (Text(), ("eq", "in", "beginsWith", "contains")),
        (KeyString(), ("eq", "in", "beginsWith", "contains")),
        (Timestamp(), RANGE),
        (DecimalNumber(), RANGE),
        (SetOf(Text()), ("contains",)),
        (ListOf(Id()), ("contains",)),
        (ListOf(DecimalNumber()), ()),
        (Blob(), ()),
    ],
)
def test_a_type_has_its_comparisons(kind: AttributeType, allowed: tuple[str, ...]) -> None:
    assert operators(Attribute("it", kind, "")) == allowed


def test_what_is_stored_compressed_is_not_compared() -> None:
    assert operators(Attribute("it", Text(), "", compressed=True)) == ()
