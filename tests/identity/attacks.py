"""The attack corpus against tokens: each entry makes one token that must be refused, and names the reason."""

import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jose import jwe

from gateway.identity.strict_json import base64url
from tests.identity.fixtures import (
    AUDIENCE,
    NOW,
    b64,
    claims,
    ec_key,
    good_token,
    header,
    public_jwk,
    rsa_key,
    sign,
)

ALGORITHM = "token algorithm not allowed"
HEADER = "a forbidden header parameter is present"
PARTS = "not three parts of canonical base64url"
SIGNATURE = "token signature does not match"
AUDIENCES = "token is for another audience"


def unsigned(algorithm: str, signature: str = "") -> str:
    head, payload, _ = sign(header(alg=algorithm), claims(), rsa_key(), "RS256").split(".")
    return f"{head}.{payload}.{signature}"


def with_secret(secret: bytes, algorithm: str = "HS256", **extra: Any) -> str:
    signed = f"{b64(json.dumps(header(alg=algorithm, **extra)).encode())}.{b64(json.dumps(claims()).encode())}"
    return f"{signed}.{b64(hmac.digest(secret, signed.encode(), hashlib.sha256))}"


def public(encoding: Encoding, form: PublicFormat = PublicFormat.SubjectPublicKeyInfo) -> bytes:
    return rsa_key().public_key().public_bytes(encoding, form)


def with_header(**changes: Any) -> str:
    return sign(header(**changes), claims(), rsa_key(), "RS256")


def with_own_key(**extra: Any) -> str:
    """Signed by the attacker, who offers the key as well."""
    return sign(header(**extra), claims(), rsa_key("attacker"), "RS256")


def encrypted() -> str:
    secret = b"0" * 32
    return jwe.encrypt(good_token(), secret, algorithm="dir", encryption="A256GCM", kid="key-1").decode()


def json_serialised() -> str:
    head, payload, signature = good_token().split(".")
    return json.dumps({"protected": head, "payload": payload, "signature": signature}, separators=(",", ":"))


def tampered(**changes: Any) -> str:
    head, _, signature = good_token().split(".")
    return f"{head}.{b64(json.dumps(claims(**changes)).encode())}.{signature}"


def with_tail(part: int, tail: Callable[[str], str]) -> str:
    parts = good_token().split(".")
    parts[part] = tail(parts[part])
    return ".".join(parts)


def stray_bits(text: str) -> str:
    """Another last character that lax decoders read as the same bytes."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert len(text) % 4, "this part has no spare bits"
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


def raw_payload(raw: str) -> str:
    return sign(header(), raw.encode(), rsa_key(), "RS256")


def with_literal(name: str, literal: str) -> str:
    """A payload in which a claim is spelled as no JSON writer of ours would."""
    return raw_payload(json.dumps(claims(**{name: "@"})).replace('"@"', literal))


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


ATTACKS: dict[str, tuple[Callable[[], str], str]] = {
    "alg none": (lambda: unsigned("none"), ALGORITHM),
    "alg None": (lambda: unsigned("None"), ALGORITHM),
    "alg nOnE": (lambda: unsigned("nOnE"), ALGORITHM),
    "alg NONE with a signature": (lambda: unsigned("NONE", "QUJD"), ALGORITHM),
    "alg empty": (lambda: unsigned(""), ALGORITHM),
    "no signature": (lambda: unsigned("RS256"), SIGNATURE),
    "two parts": (lambda: unsigned("none").rstrip("."), PARTS),
    "HS256 with the PEM": (lambda: with_secret(public(Encoding.PEM)), ALGORITHM),
    "HS256 with the PKCS1 PEM": (lambda: with_secret(public(Encoding.PEM, PublicFormat.PKCS1)), ALGORITHM),
    "HS256 with the DER": (lambda: with_secret(public(Encoding.DER)), ALGORITHM),
    "HS256 with the JWK": (lambda: with_secret(json.dumps(public_jwk(rsa_key(), "key-1")).encode()), ALGORITHM),
    "HS256 with the modulus": (lambda: with_secret(public_jwk(rsa_key(), "key-1")["n"].encode()), ALGORITHM),
    "HS256 called RS256": (lambda: with_secret(public(Encoding.PEM), "RS256"), SIGNATURE),
    "RS to PS": (lambda: sign(header(alg="PS256"), claims(), rsa_key(), "PS256"), ALGORITHM),
    "PS called RS": (lambda: sign(header(), claims(), rsa_key(), "PS256"), SIGNATURE),
    "RS to ES": (lambda: with_header(alg="ES256"), "the key is not for this algorithm"),
    "ES to RS": (lambda: sign(header(kid="key-2"), claims(), ec_key(), "ES256"), "the key is not for this algorithm"),
    "RS to another RS": (
        lambda: sign(header(alg="RS512"), claims(), rsa_key(), "RS512"),
        "the issuer does not sign with this algorithm",
    ),
    "jku": (lambda: with_own_key(jku="https://attacker.example/jwks"), HEADER),
    "x5u": (lambda: with_own_key(x5u="https://attacker.example/cert"), HEADER),
    "jwk": (lambda: with_own_key(jwk=public_jwk(rsa_key("attacker"), "key-1")), HEADER),
    "x5c": (lambda: with_own_key(x5c=[b64(b"certificate")]), HEADER),
    "own key, no kid": (lambda: with_own_key(kid=...), "header `kid` missing or malformed"),
    "own key, known kid": (with_own_key, SIGNATURE),
    "kid as a path": (lambda: with_own_key(kid="../../dev/null"), "no key with this `kid`"),
    "kid as SQL": (lambda: with_own_key(kid="x' UNION SELECT 'k"), "no key with this `kid`"),
    "crit": (lambda: with_header(crit=["exp"]), HEADER),
    "crit unknown": (lambda: with_header(crit=["x"], x=True), HEADER),
    "b64 false": (lambda: with_header(b64=False, crit=["b64"]), HEADER),
    "zip": (lambda: with_header(zip="DEF"), HEADER),
    "alg twice": (
        lambda: sign(b'{"alg":"none","alg":"RS256","kid":"key-1"}', claims(), rsa_key(), "RS256"),
        "the header is not a plain JSON object",
    ),
    "typ of another kind": (lambda: with_header(typ="logout+jwt"), "token type not allowed"),
    "typ of a proof": (lambda: with_header(typ="dpop+jwt"), "token type not allowed"),
    "missing iss": (lambda: good_token(iss=...), "claim `iss` missing or malformed"),
    "iss list": (lambda: good_token(iss=["https://issuer.example/"]), "claim `iss` missing or malformed"),
    "iss without its slash": (lambda: good_token(iss="https://issuer.example"), "unknown issuer"),
    "iss twice": (
        lambda: raw_payload(json.dumps(claims())[:-1] + ',"iss":"https://issuer.example/"}'),
        "the payload is not a plain JSON object",
    ),
    "missing aud": (lambda: good_token(aud=...), "claim `aud` missing or malformed"),
    "aud null": (lambda: good_token(aud=None), "claim `aud` missing or malformed"),
    "aud of others too": (lambda: good_token(aud=[AUDIENCE, "https://attacker.example"]), AUDIENCES),
    "aud of mixed types": (lambda: good_token(aud=[AUDIENCE, 1]), "claim `aud` missing or malformed"),
    "ID token as access token": (lambda: good_token(aud="client-1", nonce="n", at_hash="h"), AUDIENCES),
    "missing sub": (lambda: good_token(sub=...), "claim `sub` missing or malformed"),
    "missing exp": (lambda: good_token(exp=...), "claim `exp` missing or malformed"),
    "missing iat": (lambda: good_token(iat=...), "claim `iat` missing or malformed"),
    "expired": (lambda: good_token(exp=NOW - 31), "token expired"),
    "exp true": (lambda: good_token(exp=True), "claim `exp` missing or malformed"),
    "exp as a string": (lambda: good_token(exp=str(NOW + 60)), "claim `exp` missing or malformed"),
    "exp as a float": (lambda: good_token(exp=NOW + 60.5), "claim `exp` missing or malformed"),
    "exp with an exponent": (lambda: with_literal("exp", "18e8"), "claim `exp` missing or malformed"),
    "exp infinite by overflow": (lambda: with_literal("exp", "1e999"), "claim `exp` missing or malformed"),
    "exp Infinity": (lambda: with_literal("exp", "Infinity"), "the payload is not a plain JSON object"),
    "exp NaN": (lambda: with_literal("exp", "NaN"), "the payload is not a plain JSON object"),
    "exp huge": (lambda: with_literal("exp", "9" * 400), "claim `exp` missing or malformed"),
    "exp beyond int parsing": (lambda: with_literal("exp", "9" * 4400), "the payload is not a plain JSON object"),
    "exp twice": (
        lambda: raw_payload(json.dumps(claims(exp=NOW - 99))[:-1] + f',"exp":{NOW + 60}}}'),
        "the payload is not a plain JSON object",
    ),
    "a year of life": (
        lambda: good_token(exp=NOW + 31_536_000),
        "from `iat` to `exp` is negative or above the maximum life",
    ),
    "iat NaN": (lambda: with_literal("iat", "NaN"), "the payload is not a plain JSON object"),
    "nbf in the future": (lambda: good_token(nbf=NOW + 60), "token not valid yet"),
    "nbf false": (lambda: good_token(nbf=False), "claim `nbf` missing or malformed"),
    "JWE": (encrypted, PARTS),
    "JSON serialisation": (json_serialised, PARTS),
    "nested JWT": (
        lambda: sign(header(cty="JWT"), good_token().encode(), rsa_key(), "RS256"),
        HEADER,
    ),
    "nested JWT without cty": (
        lambda: sign(header(), good_token().encode(), rsa_key(), "RS256"),
        "the payload is not a plain JSON object",
    ),
    "payload a list": (lambda: raw_payload(json.dumps([claims()])), "the payload is not a plain JSON object"),
    "payload in UTF-16": (
        lambda: sign(header(), json.dumps(claims()).encode("utf-16"), rsa_key(), "RS256"),
        "the payload is not a plain JSON object",
    ),
    "oversized": (lambda: good_token(padding="x" * 8192), "token too long"),
    "deep payload": (lambda: with_literal("x", nested(2500)), "the payload is not a plain JSON object"),
    "deep header": (
        lambda: sign(b'{"x":' + nested(2000).encode() + b"}", claims(), rsa_key(), "RS256"),
        "the header is not a plain JSON object",
    ),
    "tenant swapped": (lambda: tampered(tenant="globex"), SIGNATURE),
    "role raised": (lambda: tampered(roles=["admin"]), SIGNATURE),
    "padding on the header": (lambda: with_tail(0, lambda part: part + "="), PARTS),
    "padding on the payload": (lambda: with_tail(1, lambda part: part + "=="), PARTS),
    "padding on the signature": (lambda: with_tail(2, lambda part: part + "=="), PARTS),
    "stray bits in the signature": (lambda: with_tail(2, stray_bits), PARTS),
    "newline at the end": (lambda: good_token() + "\n", PARTS),
    "tab inside": (lambda: with_tail(1, lambda part: part[:8] + "\t" + part[8:]), PARTS),
    "fourth part": (lambda: good_token() + ".QUJD", PARTS),
    "signature cut": (lambda: with_tail(2, lambda part: b64(base64url(part)[:-1])), SIGNATURE),
    "signature longer": (lambda: with_tail(2, lambda part: b64(base64url(part) + b"\0")), SIGNATURE),
    "signature with leading zeros": (lambda: with_tail(2, lambda part: "AAAA" + part), SIGNATURE),
}
