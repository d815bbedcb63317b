"""Tests of the strict readers."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.identity.strict_json import base64url, base64url_text, json_object


@given(st.binary(max_size=80))
def test_every_value_has_a_spelling_that_is_read_back(value: bytes) -> None:
    assert base64url(base64url_text(value).decode()) == value


@given(st.text(alphabet=st.sampled_from("AQgw_-+/= \n\té."), max_size=12))
def test_a_text_is_read_only_when_it_is_the_canonical_spelling(text: str) -> None:
    try:
        value = base64url(text)
    except ValueError:
        return
    assert base64.urlsafe_b64encode(value).decode().rstrip("=") == text


@pytest.mark.parametrize(
    "text", ["QR", "QUJ", "QQ==", "QQ=", "Q", "Q Q", " QQ", "QQ\n", "Q+Q_", "Q/Q_", "QQ.", "é", None, 7, b"QQ", ["QQ"]]
)
def test_other_spellings_and_types_are_refused(text: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        base64url(text)


def test_the_canonical_spelling_of_a_refused_one_is_read() -> None:
    assert base64url("QQ") == b"A"
    assert base64url("QUI") == b"AB"


def test_a_json_object_is_read() -> None:
    assert json_object(b' {"a": [1, {"b": null}]} ') == {"a": [1, {"b": None}]}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"1",
        b'"text"',
        b"null",
        b"{",
        b"{}{}",
        b"{'a':1}",
        b'{"a":1,}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'{"a":1,"a":1}',
        b'{"a":1,"\\u0061":2}',
        b'{"x":{"a":1,"a":2}}',
        b'{"a":"\xff"}',
        b"\xef\xbb\xbf{}",
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-32"),
        b'{"a":"\n"}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":' + b"[" * 600 + b"]" * 600 + b"}",
        b"[" * 100_000,
    ],
)
def test_what_is_not_one_plain_json_object_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_object(raw)


def test_nesting_beyond_the_interpreters_patience_is_a_value_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.identity.strict_json._MAX_BRACKETS", 10**6)
    with pytest.raises(ValueError, match="nested too deeply"):
        json_object(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}")
