"""Currencies, by their codes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import STRING, AttributeType, Decode, Wire, expect

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


def _decode(wire: Wire) -> str:
    code: str = wire["S"]
    return code


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
            has = f"{value} has {DIGITS[value]} digits after the point"
            yield BadUserInput(f"`{path}` needs a currency with {self.digits}; {has}", path)

    def decoder(self) -> Decode:
        return _decode
