"""The rules of the model on what is written: every fault of one input, each with its path."""

import pytest

from gateway.errors import BadUserInput
from gateway.model.entity import Attribute
from gateway.model.types import DecimalNumber, Field, Id, Integer, ListOf, Struct, Text
from gateway.store.write.rules import changed_values, checked_input, new_values
from tests.model.build import thing

LINE = Struct("Line", (Field("productId", Id(), "The product."), Field("quantity", Integer(min=1, max=9), "Many.")))
ENTITY = thing(
    attributes=(
        Attribute("thingId", Id(), "Its id."),
        Attribute("lines", ListOf(LINE, max_items=3), "Its lines.", required=False),
        Attribute("price", DecimalNumber(min=0), "Its price."),
        Attribute("label", Text(5), "Its label.", required=False),
    )
)


def paths(error: BadUserInput) -> dict[str | None, str]:
    return {each.field: each.message for each in (error, *error.others)}


def test_every_fault_of_a_new_item_has_its_path() -> None:
    lines = [{"productId": "a", "quantity": 1}, {"productId": "a#b", "quantity": 0}, {"quantity": 10}]
    with pytest.raises(BadUserInput) as refused:
        new_values(ENTITY, {"thingId": "t", "lines": lines, "label": "too long"})
    assert paths(refused.value) == {
        "lines.1.productId": (
            "`lines.1.productId` is not a valid id: "
            "1 to 128 letters, digits and `._:@+-`, starting with a letter or digit"
        ),
        "lines.1.quantity": "`lines.1.quantity` is 0, at least 1 is allowed",
        "lines.2.productId": "`lines.2.productId` is required",
        "lines.2.quantity": "`lines.2.quantity` is 10, at most 9 is allowed",
        "label": "`label` has 8 characters, at most 5 are allowed",
        "price": "`price` of Thing is required",
    }


def test_every_fault_of_a_change_has_its_path() -> None:
    with pytest.raises(BadUserInput) as refused:
        changed_values(
            ENTITY,
            {"price": 1, "label": "a"},
            {"price": None, "label": "too long", "lines": [{}, {}, {}, {}], "size": 1},
        )
    assert [*paths(refused.value)] == ["price", "label", "lines", None]
    assert paths(refused.value)[None] == "Thing has no attribute `size`"


def test_the_input_of_a_mutation_is_checked_by_its_fields() -> None:
    lines, note = Field("lines", ListOf(LINE), "The lines."), Field("note", Text(), "A note.", required=False)
    fields = {"lines": lines, "note": note}
    values = {"lines": [{"productId": "a", "quantity": 9}], "note": None}
    assert checked_input(fields, values) == values
    with pytest.raises(BadUserInput) as refused:
        checked_input(fields, {"lines": [{"productId": "a", "quantity": 99}], "note": "x" * 5_000})
    assert [*paths(refused.value)] == ["lines.0.quantity", "note"]
