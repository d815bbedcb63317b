"""Types with few values: true or false, and the members of a Python enum."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from operator import attrgetter, itemgetter
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import Decode, KeyType, ScalarSpec, Wire, expect


@final
@dataclass(frozen=True, slots=True)
class EnumOf(KeyType):
    """One of an enum's members, stored by name.

    It is named like `SetOf` and `ListOf`, since a file that declares one also imports Python's own `Enum`.
    """

    enum: type[Enum]

    tag = "S"
    many_values = False

    @property
    def documentation(self) -> str:
        return f"{self.enum.__name__}: {', '.join(self.key_values)}"

    @property
    def sample(self) -> Enum:
        return next(iter(self.enum))

    def decoder(self) -> Decode:
        members = {member.name: member for member in self.enum}
        return lambda wire: members[wire["S"]]

    def json(self) -> Callable[[Any], Any]:
        return attrgetter("name")

    @property
    def key_pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.key_values)))

    @property
    def key_values(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.enum)

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        if isinstance(value, self.enum):
            return value.name
        try:
            return self.enum[value].name
        except (KeyError, TypeError) as error:
            raise BadUserInput(f"`{name}` is not one of {', '.join(self.key_values)}", name) from error

    def key_value(self, text: str) -> Enum | None:
        return self.enum[text] if text in self.key_values else None

    def key_length(self, width: int, scale: int) -> int:
        return max(map(len, self.key_values), default=0)


@final
@dataclass(frozen=True, slots=True)
class Boolean(KeyType):
    """True or false."""

    tag = "BOOL"
    scalar = ScalarSpec("Boolean", bool)
    documentation = "true or false"
    sample = True
    many_values = False
    key_pattern = re.compile("true|false")
    key_values = ("true", "false")

    def encode(self, name: str, value: Any) -> Wire:
        return {"BOOL": expect(name, value, bool, "true or false")}

    def decoder(self) -> Decode:
        return itemgetter("BOOL")

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        return "true" if expect(name, value, bool, "true or false") else "false"

    def key_value(self, text: str) -> bool | None:
        return text == "true" if text in self.key_values else None

    def key_length(self, width: int, scale: int) -> int:
        return len("false")
