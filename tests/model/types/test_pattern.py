"""Patterns match what Python's own would, in linear time."""

import re

import pytest

from gateway.model.types.pattern import LinearPattern, UnsafePattern, compiled, pattern_faults

PATTERNS = [
    "[a-z0-9]+(-[a-z0-9]+)*",
    r"\d{3,5}",
    r"(a|bc){2}d?",
    "[^#]*x.y",
    r"\w+@\w+(\.\w+)+",
    "(?:ab|a)(?:bc|c)?",
    r"[\s\D]{1,2}",
    "a{0}b",
    "(a*)*",
    "",
]
TEXTS = [
    "",
    "a",
    "ab",
    "abc",
    "abcd",
    "bcad",
    "aad",
    "123",
    "123456",
    "x-y-1",
    "x--y",
    "a@b.c",
    "a@b",
    "  ",
    "x\ny",
    "b",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_matches_as_python_does(pattern: str, text: str) -> None:
    assert compiled(pattern).matches(text) is (re.fullmatch(pattern, text) is not None)


def test_what_python_would_take_hours_for_is_matched_at_once() -> None:
    assert not LinearPattern("(a+)+b").matches("a" * 2_000)
    assert LinearPattern("(a|a)*(a|aa)*").matches("a" * 2_000)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "does not compile"),
        (r"(a)\1", "uses groupref"),
        ("(?=a)a", "uses assert"),
        ("^a", "uses at"),
        ("(?i)a", "has flags"),
        ("(?i:a)", "has flags"),
        ("((a{100}){100}){100}", "repeats too much"),
        ("a*?", "uses min repeat"),
    ],
)
def test_what_cannot_be_matched_so_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(UnsafePattern, match=words):
        LinearPattern(pattern)
    assert words in pattern_faults(pattern)[0]
