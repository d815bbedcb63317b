"""Resolves variables in policy texts: `${key}`, `${key, 'default'}` and the escapes `${*}`, `${?}`, `${$}`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeVar

from gateway.iam.language.glob import Wild

Value = str | tuple[str, ...]
Context = Mapping[str, Value]
# The value of a variable: its text, None if it has none, or False if the key has several values.
Found = str | None | Literal[False]

Made = TypeVar("Made")
Text = TypeVar("Text")

# small, because entries belong to one tenant, and most requests use permissions prepared for all tenants
_KEPT: Final = 64
_VARIABLE = re.compile(r"\$\{(?:([*?$])|([^{}$*?,']+)(?:,\s*'([^']*)')?\s*)\}")


@dataclass(frozen=True, slots=True)
class Variable:
    """`key` is lower-case, like the keys of a context in this package."""

    key: str
    default: str | None


Template = tuple[str | Wild | Variable, ...]


def template(text: str, *, wildcards: bool, variables: bool) -> Template:
    """Splits the text into parts; a malformed variable stays literal, and `fault` reports it."""
    parts: list[str | Wild | Variable] = []
    at = 0
    while at < len(text):
        match = _VARIABLE.match(text, at) if variables else None
        if match:
            escape, key, default = match.groups()
            parts.append(escape or Variable(key.strip().lower(), default))
            at = match.end()
            continue
        char = text[at]
        parts.append(Wild(char) if wildcards and char in "*?" else char)
        at += 1
    return tuple(parts)


def fault(text: str) -> str | None:
    """Returns what is wrong with the variables of a text; AWS takes unterminated and malformed ones literally."""
    rest = _VARIABLE.sub("", text)
    if "${" not in rest:
        return None
    return "malformed variable" if "}" in rest[rest.index("${") :] else "unterminated variable"


def keys(templates: tuple[Template, ...]) -> tuple[str, ...]:
    """Returns the context keys that the templates need, without duplicates."""
    return tuple(dict.fromkeys(part.key for parts in templates for part in parts if isinstance(part, Variable)))


def found(context: Context, key: str) -> Found:
    value = context.get(key)
    if isinstance(value, str):
        # a tag can be empty; AWS then treats the variable as null
        return value or None
    return False if value else None


def resolved(
    parts: Template, values: Mapping[str, Text | Literal[False] | None]
) -> tuple[str | Wild | Text, ...] | None:
    """Replaces variables by their values; returns None if one has no value and no default."""
    pattern: list[str | Wild | Text] = []
    for part in parts:
        if isinstance(part, Variable):
            value = values[part.key]
            text = part.default if value is None else value
            if text is None or text is False:
                return None
            # INVARIANT: a substituted value is literal text, so a wildcard in it is not a wildcard.
            pattern.append(text)
        else:
            pattern.append(part)
    return tuple(pattern)


def bound(templates: tuple[Template, ...], make: Callable[[Mapping[str, Found]], Made]) -> Callable[[Context], Made]:
    """Returns a function that calls `make` with the values that the templates need and caches the result."""
    needed = keys(templates)
    if not needed:
        fixed = make({})
        return lambda context: fixed
    if len(needed) == 1:
        only = needed[0]
        kept_one = lru_cache(maxsize=_KEPT)(lambda value: make({only: value}))
        return lambda context: kept_one(found(context, only))
    kept = lru_cache(maxsize=_KEPT)(lambda values: make(dict(zip(needed, values, strict=True))))
    return lambda context: kept(tuple(found(context, key) for key in needed))
