"""Amounts of money, and currencies by their codes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import STRING, AttributeType, Decode, Field, Wire, expect
from gateway.model.types.containers import Struct
from gateway.model.types.numbers import DecimalNumber, as_stored, decimals, with_places

# ISO 4217: the active currencies, by the number of digits after the decimal point
_CURRENCIES = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF "
        "CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG "
        "HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR "
        "MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD "
        "SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG "
        "YER ZAR ZMW ZWG"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
DIGITS: Mapping[str, int] = {code: digits for digits, codes in _CURRENCIES.items() for code in codes.split()}


@final
@dataclass(frozen=True, slots=True)
class Currency(AttributeType):
    """A currency of ISO 4217, such as `EUR`; it is stored in capitals.

    With `digits`, one whose amounts have as many digits after the point, such as a `DecimalNumber(places=2)` beside it.
    """

    digits: int | None = None

    tag = "S"
    scalar = STRING

    @property
    def documentation(self) -> str:
        return "ISO 4217 currency" + ("" if self.digits is None else f" with {self.digits} digits after the point")

    @property
    def sample(self) -> str:
        return "EUR" if self.digits is None else _CURRENCIES[self.digits].split()[-1]

    def declaration_faults(self) -> Iterator[str]:
        if self.digits is not None and self.digits not in _CURRENCIES:
            yield f"no currency has {self.digits} digits after the point; they have {', '.join(map(str, _CURRENCIES))}"

    def normalised(self, value: Any) -> Any:
        return value.strip().upper() if isinstance(value, str) else value

    def encode(self, name: str, value: Any) -> Wire:
        # being a currency is a rule for new values; an older stored value is kept
        return {"S": expect(name, value, str, "a string")}

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        if value not in DIGITS:
            yield BadUserInput(f"`{path}` is not a currency of ISO 4217: `{value}`", path)
        elif self.digits is not None and DIGITS[value] != self.digits:
            needs = f"`{path}` needs a currency with {self.digits} digits after the point"
            yield BadUserInput(f"{needs}; {value} has {DIGITS[value]}", path)

    def decoder(self) -> Decode:
        return itemgetter("S")


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
