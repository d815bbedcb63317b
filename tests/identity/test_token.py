"""Tests of the shape of a token."""

import json
from typing import Any

import pytest

from gateway.identity.errors import TokenRefused
from gateway.identity.token import (
    MAX_CHARACTERS,
    MAX_KEY_ID,
    Header,
    Token,
    claimed_issuer,
    is_key_id,
    read_header,
    read_token,
)
from tests.identity.fixtures import ISSUER, b64, claims, good_token, header


def token_with(head: Any = None, payload: Any = None) -> Token:
    parts = (header() if head is None else head, claims() if payload is None else payload)
    raw = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in parts]
    return read_token(f"{b64(raw[0])}.{b64(raw[1])}.{b64(b'signature')}")


def test_a_good_token_shows_its_header_and_its_claimed_issuer() -> None:
    token = read_token(good_token())
    assert read_header(token) == Header("RS256", "jwt", "key-1")
    assert claimed_issuer(token) == ISSUER


def test_a_token_never_shows_its_text() -> None:
    text = good_token()
    assert text.split(".")[2] not in repr(read_token(text))


def test_a_token_of_the_greatest_length_is_read_and_a_longer_one_is_not() -> None:
    tail = ".QUJD.QQ"
    longest = "QUJD" * ((MAX_CHARACTERS - len(tail)) // 4) + tail
    assert len(longest) == MAX_CHARACTERS
    assert read_token(longest).text == longest
    with pytest.raises(TokenRefused, match="too long"):
        read_token("QUJD" * (MAX_CHARACTERS // 4) + tail)


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "QQ", "QQ.QQ", "QQ.QQ.QQ.QQ", "QQ.QQ.QQ.QQ.QQ", "Q.QQ.QQ", "QQ.QR.QQ", "é.QQ.QQ", "." * 8000],
)
def test_what_is_not_three_canonical_parts_is_malformed(text: str) -> None:
    with pytest.raises(TokenRefused, match="malformed token"):
        read_header(read_token(text))


@pytest.mark.parametrize(
    "alg", [..., None, "", "none", "None", "nOnE", "HS256", "PS256", "ES384", "EdDSA", "rs256", 1, ["RS256"]]
)
def test_only_asymmetric_algorithms_are_allowed(alg: object) -> None:
    with pytest.raises(TokenRefused, match="token algorithm not allowed"):
        read_header(token_with(header(alg=alg)))


@pytest.mark.parametrize("name", ["crit", "b64", "jku", "jwk", "x5u", "x5c", "cty", "zip", "enc", "epk", "apu", "p2c"])
@pytest.mark.parametrize("value", [None, "", "https://attacker.example/", ["exp"], {}])
def test_a_header_that_asks_for_more_is_refused(name: str, value: object) -> None:
    with pytest.raises(TokenRefused, match="token header not allowed"):
        read_header(token_with(header(**{name: value})))


def test_header_parameters_without_meaning_to_us_are_ignored() -> None:
    assert read_header(token_with(header(x5t="abc", cat="x"))).key_id == "key-1"


@pytest.mark.parametrize(
    "kid", [..., None, "", 1, ["key-1"], {"a": 1}, "k" * (MAX_KEY_ID + 1), "key\n", "key\x00", "\ud800"]
)
def test_a_key_id_is_a_short_printable_string(kid: object) -> None:
    with pytest.raises(TokenRefused, match="token names no signing key"):
        read_header(token_with(header(kid=kid)))


def test_a_key_id_of_the_greatest_length_is_one() -> None:
    assert is_key_id("k" * MAX_KEY_ID)


@pytest.mark.parametrize(
    ("typ", "kind"),
    [
        (..., None),
        ("JWT", "jwt"),
        ("jwt", "jwt"),
        ("at+jwt", "at+jwt"),
        ("application/at+JWT", "at+jwt"),
        ("JOSE", "jose"),
    ],
)
def test_a_type_is_a_media_type(typ: object, kind: str | None) -> None:
    assert read_header(token_with(header(typ=typ))).type == kind


@pytest.mark.parametrize("typ", [None, 1, ["JWT"]])
def test_a_type_that_is_not_a_string_is_refused(typ: object) -> None:
    with pytest.raises(TokenRefused, match="token type not allowed"):
        read_header(token_with(header(typ=typ)))


@pytest.mark.parametrize(
    "raw", [b"[]", b'{"alg":"RS256","alg":"none","kid":"key-1"}', b'{"alg":"RS256","kid":NaN}', b"\xff"]
)
def test_a_header_that_is_not_a_plain_object_is_malformed(raw: bytes) -> None:
    with pytest.raises(TokenRefused, match="malformed token") as caught:
        read_header(token_with(raw))
    assert caught.value.reason == "the header is not a plain JSON object"


@pytest.mark.parametrize("iss", [..., None, 1, True, [ISSUER], {"a": ISSUER}])
def test_a_claimed_issuer_is_a_string(iss: object) -> None:
    with pytest.raises(TokenRefused, match="claim `iss` missing or malformed"):
        claimed_issuer(token_with(payload=claims(iss=iss)))


def test_a_payload_that_names_two_issuers_is_malformed() -> None:
    with pytest.raises(TokenRefused, match="malformed token"):
        claimed_issuer(token_with(payload=b'{"iss":"a","iss":"b"}'))
