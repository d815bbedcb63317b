"""Wildcards against a naive reference."""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.iam.language.glob import Wild, any_of, compiled, parts

patterns = st.text(alphabet="ab*?\n", max_size=12)
texts = st.text(alphabet="ab*?\n", max_size=12)


def naive(pattern: str, text: str) -> bool:
    """By definition, with every way to share the text out among the wildcards."""

    @cache
    def from_here(here: int, at: int) -> bool:
        if here == len(pattern):
            return at == len(text)
        if pattern[here] == "*":
            return any(from_here(here + 1, end) for end in range(at, len(text) + 1))
        return at < len(text) and pattern[here] in ("?", text[at]) and from_here(here + 1, at + 1)

    return from_here(0, 0)


@settings(deadline=None)
@given(patterns, texts)
def test_a_compiled_pattern_equals_the_definition(pattern: str, text: str) -> None:
    assert compiled(parts(pattern))(text) is naive(pattern, text)


@settings(deadline=None)
@given(st.lists(patterns, max_size=4), texts)
def test_a_set_of_patterns_matches_when_one_does(several: list[str], text: str) -> None:
    assert any_of(map(parts, several))(text) is any(naive(pattern, text) for pattern in several)


def test_literal_parts_have_no_wildcards() -> None:
    assert compiled(("a", "*"))("a*")
    assert not compiled(("a", "*"))("ab")
    assert compiled(("a", Wild.ONE, ""))("ab")


@pytest.mark.parametrize("size", [2_000])
def test_many_asterisks_do_not_explode(size: int) -> None:
    # A backtracking matcher would not end within the life of the sun.
    assert not compiled(parts("*a" * 30 + "*c"))("a" * size + "b")
