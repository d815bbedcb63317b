"""Points in time, and days of the calendar."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import Decode, KeyType, ScalarSpec, Wire

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_RFC_3339 = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:\.(?P<fraction>[0-9]+))?(?P<zone>[Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_DIGITS = 6  # after the point of the seconds
_FINER = re.compile(r"\.[0-9]{6}([0-9])")


def utc(name: str, value: Any) -> datetime:
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise BadUserInput(f"`{name}` needs a date and time with a time zone", name)
    try:
        return value.astimezone(UTC)
    except OverflowError as error:
        raise BadUserInput(f"`{name}` is outside the years 1 to 9999", name) from error


def timestamp_text(name: str, value: Any) -> str:
    """The timestamp as it is stored and as it appears in a key."""
    # always six decimals, so that texts sort in the order of their timestamps
    return utc(name, value).isoformat(timespec="microseconds")[:-6] + "Z"


def _serialize(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _parse(text: Any) -> datetime:
    parts = _RFC_3339.fullmatch(text) if isinstance(text, str) else None
    if parts is None:
        raise BadUserInput("a DateTime is written like `2026-01-31T12:00:00Z`")
    if parts["zone"] is None:
        raise BadUserInput("a DateTime needs a time zone, such as the `Z` of `2026-01-31T12:00:00Z`")
    if len(parts["fraction"] or "") > _DIGITS:
        raise BadUserInput(f"a DateTime has at most {_DIGITS} digits after the point of its seconds")
    try:
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    except ValueError as error:
        raise BadUserInput("a DateTime is written like `2026-01-31T12:00:00Z`") from error
    except OverflowError as error:
        raise BadUserInput("a DateTime must be between the years 1 and 9999") from error


@final
@dataclass(frozen=True, slots=True)
class Timestamp(KeyType):
    """A point in time, in UTC and to the microsecond."""

    tag = "S"
    scalar = ScalarSpec(
        "DateTime",
        datetime,
        "A timestamp of RFC 3339, such as `2026-01-31T12:00:00Z`, to the microsecond; always returned in UTC.",
        "https://scalars.graphql.org/andimarek/date-time",
        _serialize,
        _parse,
    )
    ordered = True
    shardable = True
    documentation = "timestamp (UTC)"
    sample = datetime(2026, 1, 31, 12, tzinfo=UTC)
    key_pattern = _MOMENT

    def decoder(self) -> Decode:
        return _decode

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        return timestamp_text(name, value)

    def key_value(self, text: str) -> datetime | None:
        try:
            return datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else None
        except ValueError:
            return None

    def key_length(self, width: int, scale: int) -> int:
        return len("2026-01-31T23:59:59.999999Z")


def _decode(wire: Wire) -> datetime:
    text = wire["S"]
    value = datetime.fromisoformat(text)
    # Python truncates beyond microseconds; lanes round. The gateway itself never writes such a text.
    finer = _FINER.search(text) if len(text) > len("2026-01-31T23:59:59.999999Z") else None
    return value + timedelta(microseconds=1) if finer and finer[1] >= "5" else value


_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _parse_day(text: Any) -> date:
    value = _read_day(text) if isinstance(text, str) else None
    if value is None:
        raise BadUserInput("a Date is written like `2026-01-31`")
    return value


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


@final
@dataclass(frozen=True, slots=True)
class Date(KeyType):
    """A day without a time of day and without a time zone, such as a birthday."""

    tag = "S"
    scalar = ScalarSpec(
        "Date",
        date,
        "A day, such as `2026-01-31`.",
        "https://scalars.graphql.org/andimarek/local-date",
        date.isoformat,
        _parse_day,
    )
    ordered = True
    shardable = True
    documentation = "date"
    sample = date(2026, 1, 31)
    key_pattern = _DAY

    def decoder(self) -> Decode:
        return lambda wire: date.fromisoformat(wire["S"])

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        if not isinstance(value, date) or isinstance(value, datetime):
            raise BadUserInput(f"`{name}` needs a date", name)
        return value.isoformat()

    def key_value(self, text: str) -> date | None:
        return _read_day(text)

    def key_length(self, width: int, scale: int) -> int:
        return len("2026-01-31")
