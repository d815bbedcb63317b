"""Rules of text: length, pattern, how it is normalised, and what is wrong with their declaration; e-mail addresses."""

import pytest

from gateway.errors import BadUserInput
from gateway.model.types import AttributeType, Email, KeyString, ListOf, Text
from gateway.model.types.text import Normalise, apply, normalise_faults

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


@pytest.mark.parametrize("text", ["a@b.org", "first.last+tag@mail.example.com", "jürgen@müller.de", "o'neil@x-y.co.uk"])
def test_an_address_is_accepted(text: str) -> None:
    assert [*Email().faults("email", text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "not an email",
        "a@b",
        "@b.org",
        "a@",
        "a@@b.org",
        "a b@c.org",
        "a#b@c.org",
        "a@-b.org",
        "a@b..org",
        "x" * 65 + "@b.org",
        "",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    [fault] = Email().faults("email", text)
    assert fault.field == "email"
    with pytest.raises(BadUserInput):
        Email().key_text("email", text)


def test_case_and_spaces_around_it_do_not_matter() -> None:
    assert Email().normalised(" Case@X.Org ") == "case@x.org"
    assert Email().key_text("email", "Case@X.org") == Email().key_text("email", "case@x.org") == "case@x.org"


@pytest.mark.parametrize(
    ("declared", "text", "stored"),
    [
        (None, " A ", " A "),
        ("strip", " A ", "A"),
        ("casefold", "Straße", "strasse"),
        ("nfc", "e\u0301", "é"),
        ("spaces", " a \n b ", "a b"),
        (("strip", str.upper), " a ", "A"),
    ],
)
def test_steps_are_applied_in_their_order(declared: Normalise, text: str, stored: str) -> None:
    assert apply(declared, text) == stored
    assert apply(declared, stored) == stored
    assert Text(normalise=declared).normalised(text) == stored


def test_an_unknown_name_is_a_fault() -> None:
    assert normalise_faults(("strip", "lower")) == [
        "`normalise` has 'lower'; it takes a function or one of strip, casefold, nfc, spaces"
    ]


def test_a_key_is_looked_up_in_the_spelling_that_is_stored() -> None:
    kind = KeyString(normalise="casefold")
    assert kind.key_text("a", "MiXed") == kind.key_text("a", "mixed") == kind.normalised("MIXED") == "mixed"
    assert ListOf(Email()).normalised([" A@X.org"]) == ["a@x.org"]
