"""The types an attribute can have: what is a valid value, and how it reads inside a key."""

import decimal
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Context
from enum import Enum as PythonEnum
from typing import Any

from gateway.errors import BadUserInput

KEY_SEPARATOR = "#"

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}")
# INVARIANT: what fills a key part has no '#' and no control character, so one entity cannot imitate another's key.
# Nor does it hold the last code point, which marks the upper end of a range of keys.
_KEY_TEXT = re.compile(r"[^#\x00-\x1f\x7f-\x9f\ud800-\udfff\U0010ffff]{1,256}")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_DIGITS = re.compile(r"[0-9]+(\.[0-9]+)?")

MAX_ID = 128
MAX_KEY_STRING = 256  # bytes, as DynamoDB counts the length of keys
MAX_DIGITS = 38
_SMALLEST, _LARGEST = -130, 125  # powers of ten that DynamoDB can hold


@dataclass(frozen=True, slots=True)
class Text:
    """Free text; it may hold anything and so never fills a key."""

    max_length: int = 4_096


@dataclass(frozen=True, slots=True)
class Id:
    """A natural id: letters, digits and `._:@+-`, at most 128 characters."""


@dataclass(frozen=True, slots=True)
class KeyString:
    """Text that may fill a key, such as an e-mail address: no `#`, no control characters, at most 256 bytes."""


@dataclass(frozen=True, slots=True)
class Integer:
    pass


@dataclass(frozen=True, slots=True)
class Decimal:
    """A decimal of up to 38 digits; never a float."""


@dataclass(frozen=True, slots=True)
class Boolean:
    pass


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A moment in UTC, to the microsecond."""


@dataclass(frozen=True, slots=True)
class Enum:
    """One of an enum's members, stored by name."""

    enum: type[PythonEnum]


@dataclass(frozen=True, slots=True)
class Blob:
    max_length: int = 300_000


@dataclass(frozen=True, slots=True)
class SetOf:
    """A set of texts, ids or numbers, without order and never empty in the table."""

    of: "Text | Id | KeyString | Integer | Decimal"


@dataclass(frozen=True, slots=True)
class ListOf:
    of: "AttributeType"
    max_items: int = 100


@dataclass(frozen=True, slots=True)
class Struct:
    """A nested record, such as an address; `fields` are declared like attributes."""

    name: str
    fields: "tuple[Field, ...]"
    description: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    type: "AttributeType"
    description: str
    required: bool = True
    # why clients should not use it any more and what they use instead: docs/schema-policy.md
    deprecated: str | None = field(default=None, kw_only=True)


AttributeType = Text | Id | KeyString | Integer | Decimal | Boolean | Timestamp | Enum | Blob | SetOf | ListOf | Struct
KeyType = Id | KeyString | Integer | Decimal | Boolean | Timestamp | Enum


def key_pattern(kind: KeyType) -> re.Pattern[str]:
    """What a value of this type can look like inside a key."""
    match kind:
        case Id():
            return _ID
        case KeyString():
            return _KEY_TEXT
        case Timestamp():
            return _TIMESTAMP
        case Integer() | Decimal():
            return _DIGITS
        case Boolean():
            return re.compile("true|false")
        case Enum(enum):
            return re.compile("|".join(re.escape(member.name) for member in enum))


def key_text(name: str, kind: KeyType, value: Any, width: int = 0, scale: int = 0) -> str:
    """The value as one part of a key, or `BadUserInput` naming the attribute."""
    if type(kind) is Id and isinstance(value, str) and _ID.fullmatch(value):
        return value  # most keys are made of ids, and of many of them
    match kind:
        case Id() | KeyString():
            if isinstance(value, str) and key_pattern(kind).fullmatch(value) and len(value.encode()) <= MAX_KEY_STRING:
                return value
            raise BadUserInput(f"`{name}` is not a valid {_KEY_RULES[type(kind)]}", name)
        case Timestamp():
            return timestamp_text(name, value)
        case Integer() | Decimal():
            return _padded(name, value, width, scale)
        case Boolean():
            if not isinstance(value, bool):
                raise BadUserInput(f"`{name}` needs true or false", name)
            return "true" if value else "false"
        case Enum(enum):
            return _member(name, enum, value).name


def key_value(kind: KeyType, text: str) -> Any:
    """The value that such a part of a key stands for, or None where it stands for none."""
    if not key_pattern(kind).fullmatch(text):
        return None
    match kind:
        case Timestamp():
            return _moment(text)
        case Integer() | Decimal():
            return decimal.Decimal(text)
        case Boolean():
            return text == "true"
        case Enum(enum):
            return enum[text]
    return text


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


_KEY_RULES: dict[type, str] = {
    Id: "id: 1 to 128 letters, digits and `._:@+-`, starting with a letter or digit",
    KeyString: "key: 1 to 256 bytes of text without `#` and control characters",
}


def timestamp_text(name: str, value: Any) -> str:
    # always six decimals, so that texts sort as their moments do
    return utc(name, value).isoformat(timespec="microseconds")[:-6] + "Z"


def utc(name: str, value: Any) -> datetime:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise BadUserInput(f"`{name}` needs a date and time with a time zone", name)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise BadUserInput(f"`{name}` is outside the years 1 to 9999", name) from error


def _member(name: str, enum: type[PythonEnum], value: Any) -> PythonEnum:
    if isinstance(value, enum):
        return value
    try:
        return enum[value]
    except (KeyError, TypeError) as error:
        raise BadUserInput(f"`{name}` is not one of {', '.join(member.name for member in enum)}", name) from error


def _padded(name: str, value: Any, width: int, scale: int) -> str:
    """Zero-padded, so that texts sort as their numbers do."""
    number = number_of(name, value)
    if 0 <= number < decimal.Decimal(f"1e{width}"):
        text = f"{number:.{scale}f}"
        if decimal.Decimal(text) == number:
            return text.zfill(width + scale + bool(scale))
    raise BadUserInput(f"`{name}` must be 0 or more, below 1e{width}, with at most {scale} decimals", name)


def number_of(name: str, value: Any) -> decimal.Decimal:
    """The value exactly as it is; Decimal's own arithmetic would round it to 28 digits."""
    if isinstance(value, bool) or not isinstance(value, int | decimal.Decimal):
        raise BadUserInput(f"`{name}` needs a whole number or a decimal", name)
    number = decimal.Decimal(value)
    if not number.is_finite():
        raise BadUserInput(f"`{name}` needs a finite number", name)
    if len("".join(map(str, number.as_tuple().digits)).strip("0")) > MAX_DIGITS:
        raise BadUserInput(f"`{name}` has more than {MAX_DIGITS} significant digits", name)
    if number and not _SMALLEST <= number.adjusted() <= _LARGEST:
        raise BadUserInput(f"`{name}` is larger or smaller than the table can hold", name)
    if len(number.as_tuple().digits) > MAX_DIGITS:
        # zeros at the end; the table drops them, but engines count them
        number = number.normalize(Context(prec=MAX_DIGITS))
    return number or decimal.Decimal()  # one zero: -0 would be a second text for it
