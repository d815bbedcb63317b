"""Rules of text: length, pattern, and what is wrong with their declaration."""

import pytest

from gateway.errors import BadUserInput
from gateway.model.types import AttributeType, KeyString, Text

MONTH = KeyString(pattern="[0-9]{4}-(0[1-9]|1[0-2])", example="2026-01")


def faults_of(kind: AttributeType, value: object) -> list[str]:
    return [fault.message for fault in kind.faults("a", value)]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Text(), "", ["`a` is empty"]),
        (Text(min=0), "", []),
        (Text(min=3), "ab", ["`a` has 2 characters, at least 3 are needed"]),
        (Text(2), "abc", ["`a` has 3 characters, at most 2 are allowed"]),
        (Text(pattern="a+", example="a"), "ab", ["`a` does not match the pattern `a+`"]),
        (MONTH, "2026-13", ["`a` does not match the pattern `[0-9]{4}-(0[1-9]|1[0-2])`"]),
        (MONTH, "2026-12", []),
    ],
)
def test_a_value_that_breaks_a_rule_is_reported(kind: AttributeType, value: str, expected: list[str]) -> None:
    assert faults_of(kind, value) == expected


def test_what_was_stored_before_a_rule_can_be_kept() -> None:
    assert Text().encode("a", "") == {"S": ""}
    assert MONTH.encode("a", "old") == {"S": "old"}


def test_a_pattern_holds_for_what_is_looked_up() -> None:
    with pytest.raises(BadUserInput, match="does not match"):
        MONTH.key_text("month", "garbage")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Text(2, min=3), "its length must be between 3 and 2"),
        (Text(pattern="("), "does not compile"),
        (KeyString(normalise="lower"), "`normalise` has 'lower'"),
        (KeyString(pattern="[0-9]+"), "its example `sample-1` breaks its own rules"),
    ],
)
def test_a_wrong_rule_is_a_fault_of_the_declaration(kind: AttributeType, words: str) -> None:
    assert any(words in fault for fault in kind.declaration_faults())


def test_a_right_rule_is_not() -> None:
    assert [*MONTH.declaration_faults()] == [*Text(1).declaration_faults()] == []
