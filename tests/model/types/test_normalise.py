"""Named and own ways to normalise text."""

import pytest

from gateway.model.types import Email, KeyString, ListOf, Text
from gateway.model.types.normalise import Normalise, apply, normalise_faults


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
