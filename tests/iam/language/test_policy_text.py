"""The text rules of policies."""

import pytest

from gateway.iam.language.errors import PolicyError
from gateway.iam.language.policy_text import (
    SESSION_LIMIT,
    canonical,
    check_characters,
    check_session_length,
    session_length,
)


def test_the_session_limit_counts_all_policies_together_and_every_character() -> None:
    assert session_length(["ab ", "c"]) == 4
    check_session_length(" " * SESSION_LIMIT)
    check_session_length("a" * 2_000, "b" * 48)
    with pytest.raises(PolicyError, match="at most 2048 characters together, these have 2049"):
        check_session_length("a" * 2_000, "b" * 49)


@pytest.mark.parametrize("text", ["a\tb\nc\rd", " ~", "\u00a0\u00ff", ""])
def test_characters_that_aws_takes(text: str) -> None:
    check_characters(text)


@pytest.mark.parametrize("text", ["\x00", "\x0b", "\x1f", "\u0100", "\u2028", "\ud800", "\U0001f512"])
def test_characters_that_aws_refuses(text: str) -> None:
    with pytest.raises(PolicyError, match=f"U\\+{ord(text):04X}"):
        check_characters(f"a{text}b")


def test_one_meaning_has_one_text() -> None:
    assert canonical({"b": 1, "a": [True, "\u00e9"]}) == '{"a":[true,"\u00e9"],"b":1}'
    with pytest.raises(PolicyError, match="not JSON"):
        canonical({"a": object()})
    with pytest.raises(PolicyError, match="not JSON"):
        canonical({"a": float("nan")})
