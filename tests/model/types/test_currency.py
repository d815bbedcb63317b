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
def test_what_is_no_currency_is_a_fault_of_its_field(value: Any) -> None:
    assert [fault.field for fault in Currency().faults("currency", Currency().normalised(value))] == ["currency"]


def test_a_stored_code_from_before_is_shown_as_it_is() -> None:
    assert Currency().decoder()(Currency().encode("currency", "OLD")) == "OLD"
