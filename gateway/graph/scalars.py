"""The custom scalars of the schema: DateTime, Decimal and Base64, each with one exact text form."""

import base64
import binascii
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import strawberry
from strawberry.types.scalar import ScalarDefinition

from gateway.errors import BadUserInput

_DECIMAL = re.compile(r"-?\d{1,38}(\.\d{1,38})?", re.ASCII)


def datetime_text(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _timestamp(text: Any) -> datetime:
    try:
        timestamp = datetime.fromisoformat(text)
    except (TypeError, ValueError) as error:
        raise BadUserInput("a DateTime must be a string such as `2026-01-31T12:00:00Z`") from error
    if timestamp.tzinfo is None:
        raise BadUserInput("a DateTime must have a time zone, such as the `Z` in `2026-01-31T12:00:00Z`")
    try:
        return timestamp.astimezone(UTC)
    except OverflowError as error:
        raise BadUserInput("a DateTime must be between the years 1 and 9999") from error


def _decimal(value: Any) -> Decimal:
    text = str(value) if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)) else ""
    if not _DECIMAL.fullmatch(text):
        raise BadUserInput('a Decimal must be a string such as "12.50" or a whole number; a float would lose precision')
    return Decimal(text)


def _bytes(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise BadUserInput("a Base64 value must be a string in base64") from error


def _define(name: str, description: str, specified_by: str, serialize: Any, parse: Any) -> ScalarDefinition:
    return strawberry.scalar(
        name=name,
        description=description,
        specified_by_url=specified_by,
        serialize=serialize,
        parse_value=parse,
    )


SCALARS: dict[object, ScalarDefinition] = {
    datetime: _define(
        "DateTime",
        "A date and time in UTC, such as `2026-01-31T12:00:00Z`.",
        "https://scalars.graphql.org/andimarek/date-time",
        datetime_text,
        _timestamp,
    ),
    Decimal: _define(
        "Decimal",
        'A decimal number as a string, such as "12.50"; no digit is lost.',
        "https://en.wikipedia.org/wiki/Decimal_data_type",
        lambda value: f"{value:f}",
        _decimal,
    ),
    bytes: _define(
        "Base64",
        "Binary data, encoded in base64.",
        "https://datatracker.ietf.org/doc/html/rfc4648#section-4",
        lambda value: base64.b64encode(value).decode(),
        _bytes,
    ),
}
