"""Text, ids, e-mail addresses and strings for keys, and the named ways to normalise text."""

import base64
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import STRING, AttributeType, Decode, KeyType, ScalarSpec, Wire, expect
from gateway.model.types.compression import TEXT_MAGIC, inflated
from gateway.model.types.pattern import compiled, pattern_faults

MAX_ID = 128
MAX_KEY_STRING = 256  # bytes, as DynamoDB counts the length of keys

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,127}")
# INVARIANT: what fills a key part has no '#' and no control character, so one entity cannot imitate another's key. Nor
# does it contain the last code point, which marks the upper end of a range of keys.
_KEY_STRING = re.compile(r"[^#\x00-\x1f\x7f-\x9f\ud800-\udfff\U0010ffff]{1,256}")


Normalise = str | Callable[[str], str] | tuple[str | Callable[[str], str], ...] | None


NAMED: Mapping[str, Callable[[str], str]] = {
    "strip": str.strip,
    "casefold": str.casefold,
    "nfc": lambda text: unicodedata.normalize("NFC", text),
    "spaces": lambda text: " ".join(text.split()),
}


def steps(declared: Normalise) -> tuple[str | Callable[[str], str], ...]:
    if declared is None:
        return ()
    return declared if isinstance(declared, tuple) else (declared,)


def normalise_faults(declared: Normalise) -> list[str]:
    unknown = [step for step in steps(declared) if not callable(step) and step not in NAMED]
    return [f"`normalise` has {step!r}; it takes a function or one of {', '.join(NAMED)}" for step in unknown]


def apply(declared: Normalise, text: str) -> str:
    for step in steps(declared):
        text = step(text) if callable(step) else NAMED[step](text)
    return text


@final
@dataclass(frozen=True, slots=True)
class Text(AttributeType):
    """Free text; it may contain anything and so never fills a key. It is not empty, unless `min` is 0.

    `pattern` is a regular expression that the whole text matches. `normalise` is a function from text to text, the name
    of one (see `NAMED`) or several of them; it is applied before any rule is checked.
    """

    max: int = 4_096
    min: int = 1
    pattern: str | None = None
    normalise: Normalise = None
    example: str = "sample-1"  # a valid text; needed if there is a pattern

    tag = "S"
    scalar = STRING

    @property
    def documentation(self) -> str:
        rule = f", matching `{self.pattern}`" if self.pattern else ""
        return f"text, up to {self.max:,} characters{rule}"

    @property
    def sample(self) -> str:
        return self.example[: self.max]

    def encode(self, name: str, value: Any) -> Wire:
        text: str = value if type(value) is str else expect(name, value, str, "a string")
        if len(text) > self.max:
            raise BadUserInput(f"`{name}` has {len(text)} characters, at most {self.max} are allowed", name)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise BadUserInput(f"`{name}` is not valid Unicode text", name) from error
        return {"S": text}

    def normalised(self, value: Any) -> Any:
        return apply(self.normalise, value) if self.normalise and isinstance(value, str) else value

    def broken_rules(self, path: str, value: Any) -> Iterable[BadUserInput]:
        if not value and self.min:
            return (BadUserInput(f"`{path}` is empty", path),)
        if len(value) < self.min:
            return (BadUserInput(f"`{path}` has {len(value)} characters, at least {self.min} are needed", path),)
        return () if self.pattern is None else _mismatches(path, self.pattern, value)

    def declaration_faults(self) -> Iterator[str]:
        if not 0 <= self.min <= self.max:
            yield f"its length must be between {self.min} and {self.max}, which is impossible"
        yield from _text_faults(self)

    def decoder(self) -> Decode:
        return _decode


def _mismatches(path: str, pattern: str | None, value: str) -> tuple[BadUserInput, ...]:
    if pattern is None or compiled(pattern).matches(value):
        return ()
    return (BadUserInput(f"`{path}` does not match the pattern `{pattern}`", path),)


def _decode(wire: Wire) -> str:
    plain: str | None = wire.get("S")
    return plain if plain is not None else inflated(base64.b64decode(wire["B"]), TEXT_MAGIC).decode()


class KeyText(KeyType):
    """A string that appears in a key unchanged."""

    __slots__ = ()

    tag = "S"
    shardable = True

    @property
    def sample(self) -> str:
        return "sample-1"

    @property
    def plain(self) -> bool:
        """Whether a value appears in a key exactly as passed: no rule and no other spelling is declared for it."""
        return True

    def decoder(self) -> Decode:
        return _decode

    def key_value(self, text: str) -> str | None:
        return text if self.key_pattern.fullmatch(text) else None


@final
@dataclass(frozen=True, slots=True)
class Id(KeyText):
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


class _RuledText(KeyText):
    """Text with rules and a spelling of its own, which also apply to lookups."""

    __slots__ = ()

    scalar = STRING

    def encode(self, name: str, value: Any) -> Wire:
        # the rules are for new values; an older stored value is kept
        return {"S": key_string(name, value)}

    def key_text(self, name: str, value: Any, width: int = 0, scale: int = 0) -> str:
        if self.plain:
            return key_string(name, value)
        text = key_string(name, self.normalised(value))
        for fault in self.broken_rules(name, text):
            raise fault
        return text

    def key_length(self, width: int, scale: int) -> int:
        return MAX_KEY_STRING


@final
@dataclass(frozen=True, slots=True)
class KeyString(_RuledText):
    """Text that may fill a key, such as a phone number: no `#`, no control characters, at most 256 bytes.

    `pattern` and `normalise` work as in `Text`; they also apply to lookups.
    """

    pattern: str | None = None
    normalise: Normalise = None
    example: str = "sample-1"

    key_pattern = _KEY_STRING

    @property
    def documentation(self) -> str:
        return "text without `#`" + (f", matching `{self.pattern}`" if self.pattern else "")

    @property
    def sample(self) -> str:
        return self.example

    @property
    def plain(self) -> bool:
        return self.pattern is None and not steps(self.normalise)

    def normalised(self, value: Any) -> Any:
        return apply(self.normalise, value) if self.normalise and isinstance(value, str) else value

    def broken_rules(self, path: str, value: Any) -> Iterable[BadUserInput]:
        return _mismatches(path, self.pattern, value)

    def declaration_faults(self) -> Iterator[str]:
        yield from _text_faults(self)


def _text_faults(kind: "Text | KeyString") -> Iterator[str]:
    faults = [*pattern_faults(kind.pattern), *normalise_faults(kind.normalise)]
    yield from faults
    if not faults and any(kind.faults("example", kind.normalised(kind.sample))):
        yield f'its example `{kind.sample}` breaks its own rules; give one that does not, such as `example="2026-01"`'


def key_string(name: str, value: Any) -> str:
    """The value, if it is text that may be part of a key."""
    if isinstance(value, str) and _KEY_STRING.fullmatch(value) and len(value.encode()) <= MAX_KEY_STRING:
        return value
    rule = f"1 to {MAX_KEY_STRING} bytes of text without `#` and control characters"
    raise BadUserInput(f"`{name}` is not a valid key: {rule}", name)


_MAX_EMAIL = 254  # the limit of RFC 5321
_SPELLING = ("strip", "nfc", "casefold")
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_ADDRESS = re.compile(rf"[^\s@\"(),:;<>\[\]\\#]{{1,64}}@(?=.{{1,253}}$){_LABEL}(?:\.{_LABEL}){{1,9}}")
_EMAIL_KEY = re.compile(r"[^#\x00-\x1f\x7f-\x9f\ud800-\udfff\U0010ffff]{1,254}")


@final
@dataclass(frozen=True, slots=True)
class Email(_RuledText):
    """An e-mail address, case-insensitive: it is stored and looked up in folded form."""

    documentation = "e-mail address, case folded"
    sample = "sample@example.com"
    key_pattern = _EMAIL_KEY
    plain = False

    def normalised(self, value: Any) -> Any:
        return apply(_SPELLING, value) if isinstance(value, str) else value

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        if len(value) > _MAX_EMAIL or not _ADDRESS.fullmatch(value):
            yield BadUserInput(f"`{path}` is not an e-mail address such as `name@example.com`", path)
