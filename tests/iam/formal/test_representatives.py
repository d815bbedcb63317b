"""Patterns with wildcards inside: a few texts stand for all others, and banned characters are in none of them."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.iam.formal.formula import ACTION, ARN, Filled, Present, Ref, both, is_text, negated
from gateway.iam.formal.representatives import text_classes
from gateway.iam.formal.solver.solver import solve
from gateway.iam.formal.string_patterns import matches
from gateway.iam.language.glob import Pattern, Wild, compiled

patterns = st.lists(st.lists(st.sampled_from(["a", "T", "#", "T#", *Wild]), max_size=5).map(tuple), max_size=4)


@given(patterns, st.text("aT#xy", max_size=8))
def test_the_texts_stand_for_every_text(drawn: list[Pattern], text: str) -> None:
    classes = text_classes(tuple(drawn))
    assert classes is not None
    answers = {tuple(compiled(pattern)(each) for pattern in drawn) for each in classes}
    assert tuple(compiled(pattern)(text) for pattern in drawn) in answers


@given(patterns, st.text("aTxy", max_size=8))
def test_the_texts_without_a_character_stand_for_every_such_text(drawn: list[Pattern], text: str) -> None:
    classes = text_classes(tuple(drawn), "#")
    assert classes is not None
    assert not any("#" in each for each in classes)
    answers = {tuple(compiled(pattern)(each) for pattern in drawn) for each in classes}
    assert tuple(compiled(pattern)(text) for pattern in drawn) in answers


def test_a_tag_or_too_many_combinations_are_left_to_the_theory_of_strings() -> None:
    assert text_classes(((Wild.MANY, Ref("t")),)) is None
    assert text_classes(tuple((Wild.MANY, letter, Wild.MANY) for letter in "abcdefghijklm")) is None


def test_an_empty_text_is_told_from_others() -> None:
    """`Filled` is no pattern, and still one of the questions that are asked of a text."""
    name = ARN[-1]
    index = matches(name, (Wild.MANY, "/index/", Wild.MANY))
    asked = both(is_text(ACTION, "a:b"), Present(name), negated(index))
    assert solve(both(asked, Filled(name)), {}).facts[name]
    assert solve(both(asked, negated(Filled(name))), {}).facts[name] == ""


def test_a_wildcard_on_both_sides_is_decided_without_a_search() -> None:
    inside, end = (Wild.MANY, "#x", Wild.MANY), (Wild.MANY, "#x")
    known = is_text(ACTION, "a:b")
    assert solve(both(known, matches("k", end), negated(matches("k", inside))), {}, work=50_000).answer == "impossible"
    assert solve(both(known, matches("k", inside), negated(matches("k", end))), {}, work=50_000).answer == "possible"
