"""Wildcard patterns: `*` is any run of characters, `?` exactly one, nothing else is special."""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeVar

Test = Callable[[str], bool]
T = TypeVar("T")


class Wild(Enum):
    ONE = "?"
    MANY = "*"


Pattern = tuple[str | Wild, ...]


def parts(text: str) -> Pattern:
    """Parses a text with wildcards."""
    wild = {"*": Wild.MANY, "?": Wild.ONE}
    return tuple(wild.get(char, char) for char in text)


def compiled(pattern: Pattern) -> Test:
    """Returns a test for a whole text; common patterns need only one call of the standard library."""
    pattern = merged(pattern)
    match pattern:
        case ():
            return lambda text: text == ""
        case (Wild.MANY,):
            return lambda text: True
        case (str() as exact,):
            return lambda text: text == exact
        case (str() as prefix, Wild.MANY):
            return lambda text: text.startswith(prefix)
    tokens = [token for part in pattern for token in ([part] if isinstance(part, Wild) else part)]
    return lambda text: _matches(tokens, text)


def any_of(patterns: Iterable[Pattern]) -> Test:
    """Returns a test whether any pattern matches: exact texts and prefixes are looked up together."""
    exact: set[str] = set()
    prefixes: list[str] = []
    others: list[Test] = []
    for pattern in map(merged, patterns):
        match pattern:
            case (str() as text,):
                exact.add(text)
            case (str() as prefix, Wild.MANY):
                prefixes.append(prefix)
            case _:
                others.append(compiled(pattern))
    # a batch tests hundreds of keys: each takes two C calls, and a Python call only if a pattern needs it
    frozen, starts = frozenset(exact), tuple(prefixes)
    if others:
        return lambda text: text in frozen or text.startswith(starts) or any(test(text) for test in others)
    if not starts:
        return frozen.__contains__
    return lambda text: text in frozen or text.startswith(starts)


def merged(pattern: tuple[str | Wild | T, ...]) -> tuple[str | Wild | T, ...]:
    """Returns the same pattern in as few parts as possible: adjacent texts are joined, and `**` becomes `*`."""
    parts: list[str | Wild | T] = []
    for part in pattern:
        last = parts[-1] if parts else None
        if isinstance(part, str) and isinstance(last, str):
            parts[-1] = last + part
        elif part != "" and not (part is Wild.MANY and last is Wild.MANY):
            parts.append(part)
    return tuple(parts)


def _matches(tokens: list[str | Wild], text: str) -> bool:
    # two pointers with one backtracking point: never exponential; a newline is a character like any other
    here = at = 0
    star, resume = -1, 0
    while at < len(text):
        token = tokens[here] if here < len(tokens) else None
        if token is Wild.MANY:
            star, resume = here, at
            here += 1
        elif token is Wild.ONE or token == text[at]:
            here += 1
            at += 1
        elif star >= 0:
            resume += 1
            here, at = star + 1, resume
        else:
            return False
    return all(token is Wild.MANY for token in tokens[here:])
