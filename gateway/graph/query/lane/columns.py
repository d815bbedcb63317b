"""Columns: how each type of attribute is decoded from DynamoDB's JSON and encoded into the response."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from re import compile as pattern
from typing import Any, Literal

import msgspec

from gateway.errors import GatewayError
from gateway.graph.query.lane.fallback import FallBack, Reason
from gateway.graph.query.tree import StructFields, Typename
from gateway.model.entity import Attribute
from gateway.model.types import (
    AttributeType,
    Boolean,
    Currency,
    DecimalNumber,
    EnumOf,
    Integer,
    KeyText,
    ListOf,
    SetOf,
    Struct,
    Text,
    Timestamp,
)

Write = Callable[[Any], Any]
ANY_VALUE: Any = dict[str, Any]  # a type that has parts, which the codec decodes
_INT = 2**31
# a number whose text is already what GraphQL shows: no exponent, no leading zeros
plain_decimal = pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?").fullmatch
# an integer that fits a GraphQL Int
plain_integer = pattern(r"-?[0-9]{1,9}").fullmatch
_plain_decimals = pattern(r"(?:-?+(?:[1-9][0-9]*+|0)(?:\.[0-9]++)?+\n)*+").fullmatch
_plain_integers = pattern(r"(?:-?+[0-9]{1,9}+\n)*+").fullmatch


class StringValue(msgspec.Struct, gc=False):
    S: str


class NumberValue(msgspec.Struct, gc=False):
    N: str


class BooleanValue(msgspec.Struct, gc=False):
    BOOL: bool


class TimestampValue(msgspec.Struct, gc=False):
    S: datetime


class StringListValue(msgspec.Struct, gc=False):
    L: list[StringValue]


@lru_cache(maxsize=1_024)
def one_of(*texts: str) -> type[msgspec.Struct]:
    """Returns the type of a string that is one of these texts."""
    return msgspec.defstruct("EnumValue", [("S", Literal[texts])], gc=False)


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is read and written.

    `wire` is the type of the stored value. `write` is an expression that contains `{}` for it and may use `names`: it
    encodes common values without a function call, and calls a function only for unusual ones. `numbers` encodes the
    values of all rows together, if every row has one.
    """

    wire: Any
    write: str
    names: dict[str, Any] = field(default_factory=dict)
    numbers: "Numbers | None" = None


@dataclass(frozen=True, slots=True)
class Numbers:
    """Encodes the numbers of many rows.

    If one match shows that all are plain, the expression `write`, which may use `names`, encodes the list `{}`;
    otherwise `odd` encodes each number. One match for all rows takes a fifth of the time of one match per row.
    """

    plain: Callable[[str], Any]  # matches all numbers, each on its own line
    write: str
    odd: Callable[[str], Any]
    names: dict[str, Any] = field(default_factory=dict)

    def odd_ones(self, texts: list[str]) -> list[Any]:
        """Does the same as `write` if not all numbers are plain."""
        return [self.odd(text) for text in texts]


def integer(text: str) -> int:
    try:
        value = int(text) if text.lstrip("-").isdigit() else int(Decimal(text))
    except (ValueError, OverflowError, InvalidOperation) as error:
        raise FallBack(Reason.ROW) from error
    if not -_INT <= value < _INT:
        raise FallBack(Reason.ROW)
    return value


def decimal(text: str) -> str:
    try:
        return f"{Decimal(text):f}"
    except (ValueError, InvalidOperation) as error:
        raise FallBack(Reason.ROW) from error


def utc_only(value: datetime) -> datetime:
    if value.tzinfo is not UTC:
        raise FallBack(Reason.ROW)
    return value


_INTEGER = {"plain_integer": plain_integer, "integer": integer}
_DECIMAL = {"plain_decimal": plain_decimal, "decimal": decimal}
_TIMESTAMP = {"UTC": UTC, "utc_only": utc_only}
_INTEGERS = Numbers(_plain_integers, "list(map(int, {}))", integer)
_DECIMALS = Numbers(_plain_decimals, "{}", lambda text: text if plain_decimal(text) else decimal(text))


def column(attribute: Attribute, below: StructFields) -> Column:
    """Returns how an attribute is encoded; `below` are the selected fields of a struct."""
    match attribute.type:
        case Text() | KeyText() | Currency() if not attribute.compressed:
            return Column(StringValue, "{}.S")
        case Integer():
            return Column(NumberValue, "int(n) if plain_integer(n := {}.N) else integer(n)", _INTEGER, _INTEGERS)
        case DecimalNumber(places=int(places)):
            return _with_places(attribute.type, places)
        case DecimalNumber():
            return Column(NumberValue, "n if plain_decimal(n := {}.N) else decimal(n)", _DECIMAL, _DECIMALS)
        case Boolean():
            return Column(BooleanValue, "{}.BOOL")
        case Timestamp():
            return Column(TimestampValue, "m if (m := {}.S).tzinfo is UTC else utc_only(m)", _TIMESTAMP)
        case EnumOf(enum):
            return Column(one_of(*(member.name for member in enum)), "{}.S")
        case ListOf(Text() | KeyText()):
            return Column(StringListValue, "[each.S for each in {}.L]")
    name = f"write_{attribute.name}"
    return Column(ANY_VALUE, f"{name}({{}})", {name: _decoded(attribute.type, below)})


@lru_cache(maxsize=64)
def _with_places(kind: DecimalNumber, places: int) -> Column:
    """Encodes decimals with a fixed number of fraction digits; restores the zeros at the end, which DynamoDB drops."""
    after = rf"(?:\.[0-9]{{1,{places}}}+)?+" if places else ""

    def odd(text: str) -> str:
        try:
            return f"{kind.shown(Decimal(text)):f}"
        except (ValueError, InvalidOperation) as error:
            raise FallBack(Reason.ROW) from error

    one = pattern(rf"-?(?:0|[1-9][0-9]{{0,30}}){after}").fullmatch
    several = pattern(rf"(?:-?+(?:[1-9][0-9]{{0,30}}+|0){after}\n)*+").fullmatch
    # by the number of fraction digits that are there
    zeros = tuple(("." if places and not there else "") + "0" * (places - there) for there in range(places + 1))
    names = {f"plain_decimal_{places}": one, f"decimal_{places}": odd, f"zeros_{places}": zeros}
    padded = f'n + zeros_{places}[len(n.partition(".")[2])]'
    numbers = Numbers(several, f"[{padded} for n in {{}}]", odd, {f"zeros_{places}": zeros})
    write = f"{padded} if plain_decimal_{places}(n := {{}}.N) else decimal_{places}(n)"
    return Column(NumberValue, write, names, numbers)


def versions(odd: Callable[[str], int]) -> Numbers:
    return Numbers(_plain_integers, "list(map(int, {}))", odd)


def _decoded(kind: AttributeType, below: StructFields) -> Write:
    """Encodes a type that has parts: decodes it with the codec first."""
    decode, write = kind.decoder(), writer(kind, below)

    def written(wire: Any) -> Any:
        try:
            value = decode(wire)
            return value if write is None else write(value)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError, GatewayError) as error:
            raise FallBack(Reason.ROW) from error

    return written


def writer(kind: AttributeType, below: StructFields) -> Write | None:
    """Returns the function that encodes a value of this type; None if the value is already JSON."""
    match kind:
        case Integer():
            return int32
        case SetOf(of):
            return _list_writer(writer(of, below), ordered=True)
        case ListOf(of):
            return _list_writer(writer(of, below))
        case Struct():
            return _struct_writer(below)
    return kind.json()


def _struct_writer(below: StructFields) -> Write:
    parts: list[tuple[str, str | None, Any, bool]] = []
    for part in below:
        if isinstance(part, Typename):
            parts.append((part.key, None, part.value, False))
        else:
            parts.append((part.key, part.field.name, writer(part.field.type, part.below), part.field.required))

    def write(value: dict[str, Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, name, inner, required in parts:
            if name is None:
                out[key] = inner
                continue
            part = value.get(name)
            if part is None and required:
                raise FallBack(Reason.ROW)
            out[key] = part if inner is None or part is None else inner(part)
        return out

    return write


def int32(value: int) -> int:
    if not -_INT <= value < _INT:
        raise FallBack(Reason.ROW)
    return value


def _list_writer(inner: Write | None, *, ordered: bool = False) -> Write:
    def write(values: Any) -> list[Any]:
        members = sorted(values) if ordered else values
        return list(members) if inner is None else [inner(member) for member in members]

    return write
