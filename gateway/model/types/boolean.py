"""True or false."""

import re
from dataclasses import dataclass
from typing import Any, final

from gateway.model.types.base import Decode, KeyType, ScalarSpec, Wire, expect


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
        return _decode

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        return "true" if expect(name, value, bool, "true or false") else "false"

    def key_value(self, text: str) -> bool | None:
        return text == "true" if text in self.key_values else None

    def key_length(self, width: int, scale: int) -> int:
        return len("false")


def _decode(wire: Wire) -> bool:
    value: bool = wire["BOOL"]
    return value
