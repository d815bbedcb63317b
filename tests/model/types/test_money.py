"""Amounts of money, and currencies by their codes."""

from decimal import Decimal
from typing import Any

import pytest

from gateway.model.types import Currency, DecimalNumber, Money
from gateway.model.types.money import DIGITS


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        (Decimal("0.1"), "EUR", "0.10"),
        (10, "USD", "10.00"),
        (Decimal("10.00"), "JPY", "10"),
        (Decimal("1.5"), "KWD", "1.500"),
        (Decimal(-3), "eur", "-3.00"),
        (Decimal("1e37"), "EUR", "1" + "0" * 37 + ".00"),
    ],
)
def test_an_amount_is_shown_with_the_digits_of_its_currency(amount: Any, currency: str, shown: str) -> None:
    value = Money().normalised({"amount": amount, "currency": currency})
    assert [*Money().faults("price", value)] == []
    assert f"{value['amount']:f}" == shown
    read = Money().decoder()(Money().encode("price", value))
    assert (f"{read['amount']:f}", read["currency"]) == (shown, currency.upper())


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"amount": Decimal("0.001"), "currency": "EUR"}, "price.amount"),
        ({"amount": Decimal("0.5"), "currency": "JPY"}, "price.amount"),
        ({"amount": Decimal(1), "currency": "ZZZ"}, "price.currency"),
        ({"amount": Decimal(1)}, "price.currency"),
        ({"currency": "EUR"}, "price.amount"),
        ({"amount": 0.5, "currency": "EUR"}, "price.amount"),
    ],
)
def test_what_is_wrong_has_its_path(value: Any, path: str) -> None:
    assert [fault.field for fault in Money().faults("price", Money().normalised(value))] == [path]


def test_a_stored_amount_of_an_unknown_currency_is_shown_as_it_is() -> None:
    wire = {"M": {"amount": {"N": "1.234"}, "currency": {"S": "OLD"}}}
    assert Money().decoder()(wire) == {"amount": Decimal("1.234"), "currency": "OLD"}
    assert len(DIGITS) > 150


@pytest.mark.parametrize(
    ("kind", "value", "stored"),
    [
        (DecimalNumber(places=2), Decimal("27.00"), {"N": "27"}),
        (DecimalNumber(places=2), Decimal("0.10"), {"N": "0.1"}),
        (DecimalNumber(places=2), Decimal("1E+3"), {"N": "1000"}),
        (
            Money(),
            {"amount": Decimal("10.50"), "currency": "EUR"},
            {"M": {"amount": {"N": "10.5"}, "currency": {"S": "EUR"}}},
        ),
    ],
)
def test_a_number_is_written_as_dynamodb_returns_it(kind: Any, value: Any, stored: dict[str, Any]) -> None:
    """DynamoDB drops zeros at the end; an item that is read and written again must not look changed."""
    assert kind.encode("price", value) == stored
    assert kind.encode("price", kind.decoder()(stored)) == stored


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
    assert fault.message == "`currency` needs a currency with 2 digits after the point; JPY has 0"
    [fault] = kind.faults("currency", "ZZZ")
    assert "is not a currency" in fault.message
    assert [*kind.declaration_faults()] == []
    assert [*Currency(digits=9).declaration_faults()] == [
        "no currency has 9 digits after the point; they have 0, 2, 3, 4"
    ]


def test_a_stored_code_from_before_is_shown_as_it_is() -> None:
    assert Currency().decoder()(Currency().encode("currency", "OLD")) == "OLD"
