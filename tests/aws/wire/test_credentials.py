"""Credentials show no secret and cannot smuggle a header."""

from math import inf

import pytest

from gateway.aws.wire.credentials import Credentials
from gateway.errors import Internal


def test_credentials_do_not_show_their_secrets() -> None:
    shown = repr(Credentials("AKIDEXAMPLE", "the-secret", "the-token", 1.0))
    assert "AKIDEXAMPLE" in shown
    assert "the-secret" not in shown
    assert "the-token" not in shown


def test_static_credentials_never_expire() -> None:
    assert Credentials("AKIDEXAMPLE", "the-secret").expires_at == inf


@pytest.mark.parametrize("odd", ["a\r\nX-Evil: 1", "a\nb", "a\x00", "é", "a\u2028b", "\t"])
def test_key_and_token_are_printable_ascii(odd: str) -> None:
    with pytest.raises(Internal):
        Credentials(odd, "secret")
    with pytest.raises(Internal):
        Credentials("AKIDEXAMPLE", "secret", odd)
