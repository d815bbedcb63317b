"""Currencies, by their codes."""

from typing import Any

import pytest

from gateway.model.types import Currency


@pytest.mark.parametrize("value", ["EUR", "eur", " jpy "])
def test_a_currency_is_stored_in_capitals(value: str) -> None:
    code = Currency().normalised(value)
    assert [*Currency().faults("currency", code)] == []
    assert Currency().decoder()(Currency().encode("currency", code)) == value.strip().upper()


@pytest.mark.parametrize("value", ["ZZZ", "", "EURO", "€", 978, None])
def test_an_invalid_currency_is_a_fault_of_its_field(value: Any) -> None:
    assert [fault.field for fault in Currency().faults("currency", Currency().normalised(value))] == ["currency"]


def test_one_with_digits_refuses_currencies_with_others() -> None:
    kind = Currency(digits=2)
    assert [*kind.faults("currency", kind.sample)] == []
    [fault] = kind.faults("currency", "JPY")
    assert fault.message == "`currency` needs a currency with 2; JPY has 0 digits after the point"
    [fault] = kind.faults("currency", "ZZZ")
    assert "is not a currency" in fault.message
    assert [*kind.declaration_faults()] == []
    assert [*Currency(digits=9).declaration_faults()] == [
        "no currency has 9 digits after the point; they have 0, 2, 3, 4"
    ]


def test_a_stored_code_from_before_is_shown_as_it_is() -> None:
    assert Currency().decoder()(Currency().encode("currency", "OLD")) == "OLD"
