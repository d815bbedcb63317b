"""Text, ids and strings for keys."""

import base64
import re
from dataclasses import dataclass
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import STRING, AttributeType, Decode, KeyType, ScalarSpec, Wire, expect
from gateway.model.types.compression import TEXT_MAGIC, inflated

MAX_ID = 128
MAX_KEY_STRING = 256  # bytes, as DynamoDB counts the length of keys

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}")
# INVARIANT: what fills a key part has no '#' and no control character, so one entity cannot imitate another's key.
# Nor does it contain the last code point, which marks the upper end of a range of keys.
_KEY_STRING = re.compile(r"[^#\x00-\x1f\x7f-\x9f\ud800-\udfff\U0010ffff]{1,256}")


@final
@dataclass(frozen=True, slots=True)
class Text(AttributeType):
    """Free text; it may contain anything and so never fills a key."""

    max_length: int = 4_096

    tag = "S"
    scalar = STRING

    @property
    def documentation(self) -> str:
        return f"text, up to {self.max_length:,} characters"

    @property
    def sample(self) -> str:
        return "sample-1"[: self.max_length]

    def encode(self, name: str, value: Any) -> Wire:
        text: str = value if type(value) is str else expect(name, value, str, "a string")
        if len(text) > self.max_length:
            raise BadUserInput(f"`{name}` has {len(text)} characters, at most {self.max_length} are allowed", name)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise BadUserInput(f"`{name}` is not valid Unicode text", name) from error
        return {"S": text}

    def decoder(self) -> Decode:
        return _decode


def _decode(wire: Wire) -> str:
    plain: str | None = wire.get("S")
    return plain if plain is not None else inflated(base64.b64decode(wire["B"]), TEXT_MAGIC).decode()


class _KeyText(KeyType):
    """A string that stands in a key as it is."""

    __slots__ = ()

    tag = "S"
    shardable = True

    @property
    def sample(self) -> str:
        return "sample-1"

    def encode(self, name: str, value: Any) -> Wire:
        return {"S": self.key_text(name, value)}

    def decoder(self) -> Decode:
        return _decode

    def key_value(self, text: str) -> str | None:
        return text if self.key_pattern.fullmatch(text) else None


@final
@dataclass(frozen=True, slots=True)
class Id(_KeyText):
    """A natural id: letters, digits and `._:@+-`, at most 128 characters."""

    scalar = ScalarSpec("ID", str)
    documentation = "id"
    key_pattern = _ID

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        if isinstance(value, str) and _ID.fullmatch(value):
            return value
        rule = f"1 to {MAX_ID} letters, digits and `._:@+-`, starting with a letter or digit"
        raise BadUserInput(f"`{name}` is not a valid id: {rule}", name)

    def key_length(self, width: int, scale: int) -> int:
        return MAX_ID


@final
@dataclass(frozen=True, slots=True)
class KeyString(_KeyText):
    """Text that may fill a key, such as an e-mail address: no `#`, no control characters, at most 256 bytes."""

    scalar = STRING
    documentation = "text without `#`"
    key_pattern = _KEY_STRING

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        if isinstance(value, str) and _KEY_STRING.fullmatch(value) and len(value.encode()) <= MAX_KEY_STRING:
            return value
        rule = f"1 to {MAX_KEY_STRING} bytes of text without `#` and control characters"
        raise BadUserInput(f"`{name}` is not a valid key: {rule}", name)

    def key_length(self, width: int, scale: int) -> int:
        return MAX_KEY_STRING
