"""Whole numbers and decimals."""

import re
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import Decode, KeyType, ScalarSpec, Wire

MAX_DIGITS = 38
_SMALLEST, _LARGEST = -130, 125  # powers of ten that DynamoDB can hold
_KEY_DIGITS = re.compile(r"[0-9]+(\.[0-9]+)?")
_DECIMAL = re.compile(r"-?\d{1,38}(\.\d{1,38})?", re.ASCII)


class _Number(KeyType):
    __slots__ = ()

    tag = "N"
    ordered = True
    padded = True
    key_pattern = _KEY_DIGITS

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        """Zero-padded, so that key texts sort in the order of their numbers."""
        number = exact(name, value)
        if 0 <= number < Decimal(f"1e{width}"):
            text = f"{number:.{scale}f}"
            if Decimal(text) == number:
                return text.zfill(width + scale + bool(scale))
        raise BadUserInput(f"`{name}` must be 0 or more, below 1e{width}, with at most {scale} decimals", name)

    def key_value(self, text: str) -> Decimal | None:
        return Decimal(text) if _KEY_DIGITS.fullmatch(text) else None

    def key_length(self, width: int, scale: int) -> int:
        return width + scale + 1


@final
@dataclass(frozen=True, slots=True)
class Integer(_Number):
    """A whole number of up to 38 digits; GraphQL shows 32 bits of it."""

    scalar = ScalarSpec("Int", int)
    documentation = "whole number"
    sample = 1

    def encode(self, name: str, value: Any) -> Wire:
        number = exact(name, value)
        if number != int(number):
            raise BadUserInput(f"`{name}` needs a whole number", name)
        return {"N": str(int(number))}

    def decoder(self) -> Decode:
        return _decode_integer


def _decode_integer(wire: Wire) -> int:
    text: str = wire["N"]
    return int(text) if text.lstrip("-").isdigit() else int(Decimal(text))


def _parse(value: Any) -> Decimal:
    text = str(value) if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)) else ""
    if not _DECIMAL.fullmatch(text):
        raise BadUserInput('a Decimal is a string such as "12.50" or a whole number; a float would lose precision')
    return Decimal(text)


@final
@dataclass(frozen=True, slots=True)
class DecimalNumber(_Number):
    """A decimal of up to 38 digits; never a float.

    It is not called `Decimal`, since files that declare one also compute with Python's own `Decimal`.
    """

    scalar = ScalarSpec(
        "Decimal",
        Decimal,
        'A decimal number as a string, such as "12.50"; it keeps every digit.',
        "https://en.wikipedia.org/wiki/Decimal_data_type",
        "{:f}".format,
        _parse,
    )
    documentation = "decimal"
    sample = Decimal(1)

    def encode(self, name: str, value: Any) -> Wire:
        return {"N": str(exact(name, value))}

    def decoder(self) -> Decode:
        return _decode_decimal


def _decode_decimal(wire: Wire) -> Decimal:
    return Decimal(wire["N"])


def exact(name: str, value: Any) -> Decimal:
    """The value with all of its digits; Decimal's own arithmetic would round it to 28."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise BadUserInput(f"`{name}` needs a whole number or a decimal", name)
    number = Decimal(value)
    if not number.is_finite():
        raise BadUserInput(f"`{name}` needs a finite number", name)
    if len("".join(map(str, number.as_tuple().digits)).strip("0")) > MAX_DIGITS:
        raise BadUserInput(f"`{name}` has more than {MAX_DIGITS} significant digits", name)
    if number and not _SMALLEST <= number.adjusted() <= _LARGEST:
        raise BadUserInput(f"`{name}` is larger or smaller than the table can store", name)
    if len(number.as_tuple().digits) > MAX_DIGITS:
        # trailing zeros; the table drops them, but engines count them
        number = number.normalize(Context(prec=MAX_DIGITS))
    return number or Decimal()  # one zero: -0 would be a second text for it
