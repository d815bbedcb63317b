"""E-mail addresses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import STRING, Wire
from gateway.model.types.normalise import apply
from gateway.model.types.text import MAX_KEY_STRING, KeyText, key_string

_MAX = 254  # the limit of RFC 5321
_SPELLING = ("strip", "nfc", "casefold")
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_ADDRESS = re.compile(rf"[^\s@\"(),:;<>\[\]\\#]{{1,64}}@(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL}){{1,9}}")
_KEY = re.compile(r"[^#\x00-\x1f\x7f-\x9f\ud800-\udfff\U0010ffff]{1,254}")


@final
@dataclass(frozen=True, slots=True)
class Email(KeyText):
    """An e-mail address, case-insensitive: it is stored and looked up in folded form."""

    scalar = STRING
    documentation = "e-mail address, case folded"
    sample = "sample@example.com"
    key_pattern = _KEY
    plain = False

    def normalised(self, value: Any) -> Any:
        return apply(_SPELLING, value) if isinstance(value, str) else value

    def encode(self, name: str, value: Any) -> Wire:
        return {"S": key_string(name, value)}

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        if len(value) > _MAX or not _ADDRESS.fullmatch(value):
            yield BadUserInput(f"`{path}` is not an e-mail address such as `name@example.com`", path)

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        text = key_string(name, self.normalised(value))
        for fault in self.broken_rules(name, text):
            raise fault
        return text

    def key_length(self, width: int, scale: int) -> int:
        return MAX_KEY_STRING
