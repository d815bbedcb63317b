"""Days of the calendar."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import Decode, KeyType, ScalarSpec, Wire

_KEY_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def _parse(text: Any) -> date:
    value = _day(text) if isinstance(text, str) else None
    if value is None:
        raise BadUserInput("a Date is written like `2026-01-31`")
    return value


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _KEY_FORM.fullmatch(text) else None
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
        _parse,
    )
    ordered = True
    shardable = True
    documentation = "date"
    sample = date(2026, 1, 31)
    key_pattern = _KEY_FORM

    def encode(self, name: str, value: Any) -> Wire:
        return {"S": self.key_text(name, value)}

    def decoder(self) -> Decode:
        return _decode

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        if not isinstance(value, date) or isinstance(value, datetime):
            raise BadUserInput(f"`{name}` needs a date", name)
        return value.isoformat()

    def key_value(self, text: str) -> date | None:
        return _day(text)

    def key_length(self, width: int, scale: int) -> int:
        return len("2026-01-31")


def _decode(wire: Wire) -> date:
    return date.fromisoformat(wire["S"])
