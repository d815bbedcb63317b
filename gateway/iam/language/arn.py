"""Compares ARNs segment by segment."""

from collections.abc import Iterable
from typing import TypeVar

from gateway.iam.language.glob import Pattern, Test, Wild, compiled

T = TypeVar("T")

SEGMENTS = 6


def segments(text: str) -> list[str] | None:
    """Returns the six segments of an ARN, or None if the text is not an ARN; the last segment may contain colons."""
    parts = text.split(":", SEGMENTS - 1)
    return parts if len(parts) == SEGMENTS and parts[0] == "arn" else None


def account(text: str) -> str | None:
    parts = segments(text)
    return parts[4] if parts else None


def split(parts: Iterable[T]) -> tuple[tuple[T, ...], ...] | None:
    """Splits a pattern into six segments at the first five colons of its text, never at those of a variable's value."""
    cut: list[list[T]] = [[]]
    for part in parts:
        if part == ":" and len(cut) < SEGMENTS:
            cut.append([])
        else:
            cut[-1].append(part)
    if len(cut) != SEGMENTS or cut[0] != ["a", "r", "n"]:
        return None
    return tuple(map(tuple, cut))


def is_any(parts: tuple[object, ...]) -> bool:
    return parts == (Wild.MANY,)


def test(patterns: tuple[Pattern, ...]) -> Test:
    """Matches the six segments of an ARN with six patterns; a text that is not an ARN does not match."""
    tests = tuple(compiled(pattern) for pattern in patterns)

    def matches(text: str) -> bool:
        parts = segments(text)
        return parts is not None and all(check(segment) for check, segment in zip(tests, parts, strict=True))

    return matches
