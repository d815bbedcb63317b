"""Tests of single keys."""

import math
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from gateway.identity.errors import TokenRefused
from gateway.identity.keys import read_key, signed_payload
from gateway.identity.strict_json import base64url
from gateway.identity.token import read_token
from tests.identity.fixtures import b64, claims, ec_key, good_token, header, number, public_jwk, rsa_key, sign

ALL = ("RS256", "RS384", "RS512", "ES256")


def test_an_rsa_key_serves_the_allowed_rsa_algorithms() -> None:
    assert read_key(public_jwk(rsa_key(), "k"), ("RS256", "RS512", "ES256")).algorithms == {"RS256", "RS512"}


def test_an_elliptic_key_serves_es256_only() -> None:
    assert read_key(public_jwk(ec_key(), "k"), ALL).algorithms == {"ES256"}


def test_a_key_that_names_its_algorithm_serves_no_other() -> None:
    key = read_key(public_jwk(rsa_key(), "k", alg="RS384"), ALL)
    assert key.algorithms == {"RS384"}
    with pytest.raises(TokenRefused) as caught:
        signed_payload(good_token(), key, "RS256")
    assert caught.value.reason == "the key is not for this algorithm"


def test_the_same_key_fetched_twice_is_equal_and_its_use_for_another_algorithm_is_not() -> None:
    jwk = public_jwk(rsa_key(), "k")
    assert read_key(jwk, ALL) == read_key({**jwk, "use": "sig"}, ALL)
    assert read_key(jwk, ALL) != read_key({**jwk, "alg": "RS512"}, ALL)
    assert read_key(jwk, ALL) != read_key(public_jwk(rsa_key("other"), "k"), ALL)


def test_the_thumbprint_is_that_of_rfc_7638() -> None:
    modulus = (
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj"
        "hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQ"
        "vRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzK"
        "nqDKgw"
    )
    key = read_key({"kty": "RSA", "n": modulus, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}, ALL)
    assert b64(bytes.fromhex(key.thumbprint)) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


def roca_number(bits: int, multiple: int) -> int:
    """As Infineon's library made its primes: a power of 65537 modulo the product of the first primes, of this size."""
    primes = [each for each in range(2, 702) if all(each % other for other in range(2, each))]
    product = math.prod(primes[:126])
    return (multiple + (1 << (bits - product.bit_length()))) * product + pow(65_537, 1_234_567, product)


def test_a_key_that_can_be_factored_by_its_form_is_refused() -> None:
    modulus = roca_number(1_025, 3) * roca_number(1_025, 5)
    weak = {**public_jwk(rsa_key(), "k"), "n": number(modulus)}
    with pytest.raises(ValueError, match="ROCA"):
        read_key(weak, ALL)


def test_a_signature_of_es256_has_two_spellings_of_one_token() -> None:
    """Issuers send either, so neither is refused; both say the same, and each is verified."""
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    text = sign(header(alg="ES256"), claims(), ec_key(), "ES256")
    head, payload, signature = text.split(".")
    raw = base64url(signature)
    other = raw[:32] + (order - int.from_bytes(raw[32:], "big")).to_bytes(32, "big")
    mirrored = f"{head}.{payload}.{b64(other)}"
    key = read_key(public_jwk(ec_key(), "k"), ALL)
    assert signed_payload(mirrored, key, "ES256") == signed_payload(text, key, "ES256")
    assert read_token(mirrored) != read_token(text)
    with pytest.raises(TokenRefused):
        signed_payload(f"{head}.{payload}.{b64(other[:-1] + bytes([other[-1] ^ 1]))}", key, "ES256")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kid": None}, "`kid` missing"),
        ({"kid": "k" * 200}, "`kid` missing"),
        ({"kty": None}, "neither RSA nor EC"),
        ({"kty": ["RSA"]}, "neither RSA nor EC"),
        ({"kty": "oct"}, "neither RSA nor EC"),
        ({"kty": "OKP"}, "neither RSA nor EC"),
        ({"kty": "EC"}, "curve is not P-256"),
        ({"use": "enc"}, "`use` is not `sig`"),
        ({"use": None}, "`use` is not `sig`"),
        ({"key_ops": ["encrypt"]}, "`key_ops` lacks"),
        ({"key_ops": []}, "`key_ops` lacks"),
        ({"key_ops": "verify"}, "`key_ops` lacks"),
        ({"alg": "HS256"}, "no allowed algorithm"),
        ({"alg": "PS256"}, "no allowed algorithm"),
        ({"alg": "ES256"}, "no allowed algorithm"),
        ({"alg": {}}, "no allowed algorithm"),
        ({"alg": None}, "no allowed algorithm"),
        ({"d": "AQAB"}, "private or symmetric"),
        ({"k": "AQAB"}, "private or symmetric"),
        ({"n": None}, "not a string"),
        ({"n": 17}, "not a string"),
        ({"n": "AQAB="}, "not canonical"),
        ({"n": "AQAB"}, "too short or too long"),
        ({"n": number(2**8192 + 1)}, "too short or too long"),
        ({"e": "AQ"}, "exponent"),
        ({"e": "Aw"}, "exponent"),
        ({"e": "AQAA"}, "exponent"),
        ({"e": number(2**64 + 1)}, "exponent"),
        ({"e": ""}, "exponent"),
    ],
)
def test_an_rsa_key_that_must_not_verify_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_key({**public_jwk(rsa_key(), "k"), **changes}, ALL)


def test_an_rsa_key_below_2048_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        read_key(public_jwk(rsa_key("weak", 1024), "k"), ALL)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"crv": "P-384"}, "curve is not P-256"),
        ({"crv": "secp256k1"}, "curve is not P-256"),
        ({"x": number(1, 31)}, "not 32 bytes"),
        ({"x": number(1, 33)}, "not 32 bytes"),
        ({"x": number(5, 32), "y": number(7, 32)}, "not a key"),
        ({"y": None}, "not a string"),
    ],
)
def test_an_elliptic_key_that_must_not_verify_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_key({**public_jwk(ec_key(), "k"), **changes}, ALL)


def test_a_point_of_another_curve_is_refused_under_the_name_of_ours() -> None:
    point = ec.generate_private_key(ec.SECP256K1()).public_key().public_numbers()
    with pytest.raises(ValueError, match="not a key"):
        read_key({**public_jwk(ec_key(), "k"), "x": number(point.x, 32), "y": number(point.y, 32)}, ALL)


def test_a_key_verifies_what_its_owner_signed_and_nothing_else() -> None:
    mine, other = (read_key(public_jwk(rsa_key(name), "k"), ALL) for name in ("ours", "other"))
    assert b"user-1" in signed_payload(good_token(), mine, "RS256")
    with pytest.raises(TokenRefused, match="signature does not match"):
        signed_payload(good_token(), other, "RS256")
