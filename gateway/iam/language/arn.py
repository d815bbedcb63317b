"""ARNs, compared segment by segment."""

from gateway.iam.language.glob import Pattern, Test, Wild, compiled
from gateway.iam.language.variables import Template

SEGMENTS = 6


def segments(text: str) -> list[str] | None:
    """The six parts of an ARN, or None; the last one may hold colons."""
    found = text.split(":", SEGMENTS - 1)
    return found if len(found) == SEGMENTS and found[0] == "arn" else None


def account(text: str) -> str | None:
    found = segments(text)
    return found[4] if found else None


def split(parts: Template) -> tuple[Template, ...] | None:
    """A template cut at its first five colons: those of the text, never those of a variable's value."""
    cut: list[list[object]] = [[]]
    for part in parts:
        if part == ":" and len(cut) < SEGMENTS:
            cut.append([])
        else:
            cut[-1].append(part)
    if len(cut) != SEGMENTS or cut[0] != ["a", "r", "n"]:
        return None
    return tuple(tuple(segment) for segment in cut)  # type: ignore[arg-type]  # the parts of a template, regrouped


def is_any(parts: Template) -> bool:
    return parts == (Wild.MANY,)


def test(patterns: tuple[Pattern, ...]) -> Test:
    """Compares six patterns with the six segments of a text; what is not an ARN does not match."""
    tests = tuple(compiled(pattern) for pattern in patterns)

    def matches(text: str) -> bool:
        found = segments(text)
        return found is not None and all(check(segment) for check, segment in zip(tests, found, strict=True))

    return matches
