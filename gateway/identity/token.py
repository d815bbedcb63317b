"""Parses the form of a token: three canonical parts and a header without unusual parameters; no key is needed yet."""

from dataclasses import dataclass, field
from typing import Any, TypeGuard

from gateway.identity.errors import TokenRefused
from gateway.identity.issuer import ASYMMETRIC
from gateway.identity.strict_json import base64url, json_object

MAX_CHARACTERS = 8192
MAX_KEY_ID = 128

# Each would let the token choose its key, change how it is signed or packed, or contain another token.
_FORBIDDEN = frozenset(
    {"crit", "b64", "jku", "jwk", "x5u", "x5c", "cty", "zip", "enc", "epk", "apu", "apv", "iv", "tag", "p2s", "p2c"}
)


@dataclass(frozen=True, slots=True)
class Token:
    text: str = field(repr=False)
    header: bytes = field(repr=False)
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Header:
    algorithm: str
    type: str | None
    key_id: str


def read_token(text: str) -> Token:
    if len(text) > MAX_CHARACTERS:
        raise TokenRefused("token too long")
    try:
        header, payload, _ = (base64url(part) for part in text.split("."))
    except ValueError as error:
        raise TokenRefused("malformed token", "not three parts of canonical base64url") from error
    return Token(text, header, payload)


def read_header(token: Token) -> Header:
    members = _members(token.header, "header")
    algorithm, key_id = members.get("alg"), members.get("kid")
    if not isinstance(algorithm, str) or algorithm not in ASYMMETRIC:
        raise TokenRefused("token algorithm not allowed")
    if not _FORBIDDEN.isdisjoint(members):
        raise TokenRefused("token header not allowed", "a forbidden header parameter is present")
    if not is_key_id(key_id):
        raise TokenRefused("token names no signing key", "header `kid` missing or malformed")
    return Header(algorithm, _type(members), key_id)


def claimed_issuer(token: Token) -> str:
    """Selects whose keys are tried. INVARIANT: no other part of the payload is read before the signature is
    verified."""
    claimed = _members(token.payload, "payload").get("iss")
    if not isinstance(claimed, str):
        raise TokenRefused("claim `iss` missing or malformed")
    return claimed


def is_key_id(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= MAX_KEY_ID and value.isprintable()


def _type(members: dict[str, Any]) -> str | None:
    if "typ" not in members:
        return None
    if not isinstance(members["typ"], str):
        raise TokenRefused("token type not allowed", "header `typ` is not a string")
    # A media type: case-insensitive, and `application/` may be left out (RFC 7515, section 4.1.9).
    return members["typ"].lower().removeprefix("application/")


def _members(raw: bytes, part: str) -> dict[str, Any]:
    try:
        return json_object(raw)
    except ValueError as error:
        raise TokenRefused("malformed token", f"the {part} is not a plain JSON object") from error
