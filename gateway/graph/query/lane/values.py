"""Converts values of a row to the model's values, for uses that need them: keys that are not plain texts, and sums."""

import decimal
from collections.abc import Callable
from decimal import InvalidOperation
from typing import Any

from gateway.graph.query.lane.columns import utc_only
from gateway.graph.query.lane.fallback import FallBack, Reason
from gateway.model.entity import Attribute
from gateway.model.types import Boolean, DecimalNumber, EnumOf, Integer, KeyText, ListOf, Text, Timestamp

Read = Callable[[Any], Any]


def value_reader(attribute: Attribute) -> Read:
    """Returns the function that converts the typed value in a row to the model's value."""
    match attribute.type:
        case Text() | KeyText() if not attribute.compressed:
            return lambda wire: wire.S
        case Boolean():
            return lambda wire: wire.BOOL
        case Timestamp():
            return lambda wire: utc_only(wire.S)
        case EnumOf(enum):
            return lambda wire: enum[wire.S]
        case ListOf(Text() | KeyText()):
            return lambda wire: [member.S for member in wire.L]
        case Integer():
            return _number_reader(lambda text: int(decimal.Decimal(text)))
        case DecimalNumber(places=None):
            return _number_reader(decimal.Decimal)
        case DecimalNumber() as kind:
            return _number_reader(lambda text: kind.shown(decimal.Decimal(text)))
    return _checked(attribute.type.decoder())


def _number_reader(parse: Callable[[str], int | decimal.Decimal]) -> Read:
    def read(wire: Any) -> int | decimal.Decimal:
        try:
            return parse(wire.N)
        except (ValueError, OverflowError, InvalidOperation) as error:
            raise FallBack(Reason.ROW) from error

    return read


def _checked(decode: Read) -> Read:
    def read(wire: Any) -> Any:
        try:
            return decode(wire)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise FallBack(Reason.ROW) from error

    return read
