"""Amounts of money."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import Decode, Field, Wire
from gateway.model.types.containers import Struct
from gateway.model.types.currency import DIGITS, Currency
from gateway.model.types.numbers import DecimalNumber, as_stored, decimals, with_places


def with_digits(amount: Decimal, currency: str) -> Decimal:
    """The amount with as many decimals as its currency has, or more if it has more."""
    digits = DIGITS.get(currency)
    return amount if digits is None else with_places(amount, digits)


@final
@dataclass(frozen=True, slots=True)
class Money(Struct):
    """An amount in a currency of ISO 4217: stored exactly, and shown with as many decimals as the currency has."""

    name: str = "Money"
    fields: tuple[Field, ...] = (
        Field("amount", DecimalNumber(), "The amount, with as many decimals as its currency has."),
        Field("currency", Currency(), "The currency, as an ISO 4217 code."),
    )
    description: str = "An amount of money."

    @property
    def documentation(self) -> str:
        return "amount and currency (ISO 4217)"

    @property
    def sample(self) -> dict[str, Any]:
        return {"amount": Decimal("1.00"), "currency": "EUR"}

    def normalised(self, value: Any) -> Any:
        if not isinstance(value, Mapping) or not isinstance(value.get("currency"), str):
            return value
        currency, amount = value["currency"].strip().upper(), value.get("amount")
        exact = Decimal(amount) if isinstance(amount, int) and not isinstance(amount, bool) else amount
        shown = with_digits(exact, currency) if isinstance(exact, Decimal) else exact
        return {**value, "currency": currency, "amount": shown}

    def faults(self, path: str, value: Any) -> Iterator[BadUserInput]:
        faults = [*Struct.faults(self, path, value)]
        yield from faults or self.broken_rules(path, value)

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        digits = DIGITS.get(value["currency"])
        # an invalid currency is a fault of that field
        if digits is not None and decimals(Decimal(value["amount"])) > digits:
            message = f"`{path}.amount` has more decimals than {value['currency']}, which has {digits}"
            yield BadUserInput(message, f"{path}.amount")

    def encode(self, name: str, value: Any) -> Wire:
        amount = value.get("amount") if isinstance(value, Mapping) else None
        stored = {**value, "amount": as_stored(amount)} if isinstance(amount, Decimal) else value
        return Struct.encode(self, name, stored)

    def decoder(self) -> Decode:
        decode = Struct.decoder(self)

        def read(wire: Any) -> dict[str, Any]:
            value: dict[str, Any] = decode(wire)
            if "amount" in value and "currency" in value:
                value["amount"] = with_digits(value["amount"], value["currency"])
            return value

        return read
