"""Whole numbers and decimals."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import Decode, KeyType, ScalarSpec, Wire

MAX_DIGITS = 38
MIN_INT, MAX_INT = -(2**31), 2**31 - 1  # what GraphQL's Int can hold
_SMALLEST, _LARGEST = -130, 125  # powers of ten that DynamoDB can hold
_EXACT = Context(prec=2 * MAX_DIGITS)
_KEY_DIGITS = re.compile(r"[0-9]+(\.[0-9]+)?")
_DECIMAL = re.compile(r"-?\d{1,38}(\.\d{1,38})?", re.ASCII)
_LONGER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)


class _Number(KeyType):
    """A subclass declares `min` and `max`; None means no bound."""

    __slots__ = ()

    min: int | Decimal | None
    max: int | Decimal | None

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

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        if self.min is not None and value < self.min:
            yield BadUserInput(f"`{path}` is {value}, at least {self.min} is allowed", path)
        if self.max is not None and value > self.max:
            yield BadUserInput(f"`{path}` is {value}, at most {self.max} is allowed", path)

    def declaration_faults(self) -> Iterator[str]:
        ends = [bound for bound in (self.min, self.max) if bound is not None]
        strange = [bound for bound in ends if isinstance(bound, bool) or not isinstance(bound, int | Decimal)]
        if strange:
            yield f"its bound {strange[0]!r} is not a whole number or a Decimal"
        elif len(ends) > 1 and ends[0] > ends[1]:
            yield f"its minimum {ends[0]} is above its maximum {ends[1]}"

    def _bounds(self, low: int | Decimal | None, high: int | Decimal | None) -> str:
        """The declared bounds in words, without those that every number of its kind has."""
        least = f"{self.min:,}" if self.min is not None and self.min != low else None
        most = f"{self.max:,}" if self.max is not None and self.max != high else None
        if least is not None and most is not None:
            return f", {least} to {most}"
        return f", at least {least}" if least is not None else f", at most {most}" if most is not None else ""

    def key_value(self, text: str) -> Decimal | None:
        return Decimal(text) if _KEY_DIGITS.fullmatch(text) else None

    def key_length(self, width: int, scale: int) -> int:
        return width + scale + 1


@final
@dataclass(frozen=True, slots=True)
class Integer(_Number):
    """A whole number between `min` and `max`: by default what GraphQL's `Int` can return, which is 32 bits."""

    min: int = MIN_INT
    max: int = MAX_INT

    scalar = ScalarSpec("Int", int)

    @property
    def documentation(self) -> str:
        return f"whole number{self._bounds(MIN_INT, MAX_INT)}"

    @property
    def sample(self) -> int:
        return min(max(1, self.min), self.max)

    def declaration_faults(self) -> Iterator[str]:
        faults = [*_Number.declaration_faults(self)]
        yield from faults
        # INVARIANT: nothing can be stored that GraphQL cannot return.
        if not faults and not MIN_INT <= self.min <= self.max <= MAX_INT:
            yield f"GraphQL's Int has 32 bits: its bounds must be between {MIN_INT} and {MAX_INT}; use DecimalNumber()"

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
        if _LONGER.fullmatch(text):
            raise BadUserInput("a Decimal has at most 38 digits before the point and 38 after it")
        raise BadUserInput('a Decimal is a string such as "12.50" or a whole number; a float would lose precision')
    return Decimal(text)


@final
@dataclass(frozen=True, slots=True)
class DecimalNumber(_Number):
    """A decimal of up to 38 digits; never a float. `places` is how many digits after the point it may have, and has
    whenever it is shown, such as the 2 of a price.

    It is not called `Decimal`, because files that declare one also use Python's `Decimal`.
    """

    min: int | Decimal | None = None
    max: int | Decimal | None = None
    places: int | None = None

    scalar = ScalarSpec(
        "Decimal",
        Decimal,
        'A decimal number as a string, such as "12.50"; it keeps every digit.',
        "https://en.wikipedia.org/wiki/Decimal_data_type",
        "{:f}".format,
        _parse,
    )

    @property
    def documentation(self) -> str:
        places = "" if self.places is None else f" with {self.places} digits after the point"
        return f"decimal{places}{self._bounds(None, None)}"

    @property
    def sample(self) -> Decimal:
        low = Decimal(1) if self.min is None else max(Decimal(1), Decimal(self.min))
        return self.shown(low if self.max is None else min(low, Decimal(self.max)))

    def shown(self, value: Decimal) -> Decimal:
        """DynamoDB drops zeros at the end of a number."""
        return value if self.places is None else with_places(value, self.places)

    def normalised(self, value: Any) -> Any:
        is_number = isinstance(value, int | Decimal) and not isinstance(value, bool)
        return self.shown(Decimal(value)) if is_number and self.places is not None else value

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        yield from _Number.broken_rules(self, path, value)
        if self.places is not None and decimals(Decimal(value)) > self.places:
            yield BadUserInput(f"`{path}` is {value}, at most {self.places} digits after the point are allowed", path)

    def declaration_faults(self) -> Iterator[str]:
        yield from _Number.declaration_faults(self)
        if self.places is not None and not 0 <= self.places <= MAX_DIGITS:
            yield f"its `places` are {self.places}; a number has 0 to {MAX_DIGITS} digits after the point"

    def encode(self, name: str, value: Any) -> Wire:
        number = exact(name, value)
        return {"N": str(number if self.places is None else as_stored(number))}

    def decoder(self) -> Decode:
        if self.places is None:
            return lambda wire: Decimal(wire["N"])
        return lambda wire: self.shown(Decimal(wire["N"]))


def with_places(value: Decimal, places: int) -> Decimal:
    """The value with as many digits after the point, unless it has more of its own."""
    if not value.is_finite() or value.adjusted() >= MAX_DIGITS:
        return value
    shown = value.quantize(Decimal(1).scaleb(-places), context=_EXACT)
    return shown if shown == value else value


def as_stored(value: Decimal) -> Decimal:
    """Returns the value as DynamoDB returns it, without zeros at the end, so that an unchanged item stays the same."""
    return with_places(value, decimals(value))


def decimals(value: Decimal) -> int:
    """How many digits after the point it has without trailing zeros."""
    return len(f"{value:f}".partition(".")[2].rstrip("0"))


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
    return number or Decimal()  # one zero: -0 would be a second spelling of it
