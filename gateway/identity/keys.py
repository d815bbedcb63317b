"""One public key of an issuer; the only module that calls python-jose."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from jose import jwk, jws
from jose.backends.base import Key
from jose.exceptions import JOSEError

from gateway.identity.errors import TokenRefused
from gateway.identity.strict_json import base64url, json_object
from gateway.identity.token import is_key_id

_ALGORITHMS = {"RSA": ("RS256", "RS384", "RS512"), "EC": ("ES256",)}
_RSA_BITS = range(2048, 8193)  # shorter keys are weak, longer ones take milliseconds to verify
_P256_BYTES = 32
_ROCA_PRIMES = (11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157)
# for each prime, the remainders of powers of 65537
_ROCA = {prime: frozenset(pow(65_537, power, prime) for power in range(prime)) for prime in _ROCA_PRIMES}


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """Equal if it is the same key for the same algorithms, even if fetched again."""

    key_id: str
    thumbprint: str
    algorithms: frozenset[str]
    verifiers: Mapping[str, Key] = field(repr=False, compare=False)


def read_key(members: Mapping[str, Any], allowed: Collection[str]) -> VerificationKey:
    """A JWK prepared for the allowed algorithms; `ValueError` if it must not verify tokens."""
    if not is_key_id(members.get("kid")):
        raise ValueError("`kid` missing or malformed")
    if not {"d", "k"}.isdisjoint(members):
        raise ValueError("a private or symmetric key was published")
    if members.get("use", "sig") != "sig":
        raise ValueError("`use` is not `sig`")
    operations = members.get("key_ops", ["verify"])
    if not isinstance(operations, list) or "verify" not in operations:
        raise ValueError("`key_ops` lacks `verify`")
    algorithms = _algorithms(members, allowed)
    public = _rsa(members) if members["kty"] == "RSA" else _p256(members)
    verifiers = {algorithm: _verifier(public, algorithm) for algorithm in algorithms}
    return VerificationKey(members["kid"], _thumbprint(public), algorithms, MappingProxyType(verifiers))


def signed_payload(text: str, key: VerificationKey, algorithm: str) -> bytes:
    """The payload of a token that this key signed with this algorithm; otherwise `TokenRefused`."""
    if algorithm not in key.algorithms:
        raise TokenRefused("token algorithm not allowed", "the key is not for this algorithm")
    try:
        # A tuple, because python-jose would search a string for the algorithm as a substring.
        return jws.verify(text, key.verifiers[algorithm], algorithms=(algorithm,))
    except JOSEError as error:
        raise TokenRefused("token signature does not match") from error


def _algorithms(members: Mapping[str, Any], allowed: Collection[str]) -> frozenset[str]:
    kind = members.get("kty")
    if not isinstance(kind, str) or kind not in _ALGORITHMS:
        raise ValueError("`kty` is neither RSA nor EC")
    algorithms = frozenset(_ALGORITHMS[kind]).intersection(allowed)
    if "alg" in members:
        algorithms = frozenset(algorithm for algorithm in algorithms if algorithm == members["alg"])
    if not algorithms:
        raise ValueError("for no allowed algorithm")
    return algorithms


def _rsa(members: Mapping[str, Any]) -> dict[str, str]:
    modulus, exponent = (int.from_bytes(base64url(members.get(name)), "big") for name in ("n", "e"))
    if modulus.bit_length() not in _RSA_BITS:
        raise ValueError("RSA key is too short or too long")
    if not 65_537 <= exponent < 2**64 or exponent % 2 == 0:
        raise ValueError("RSA exponent is not an odd number from 65537")
    if _is_roca(modulus):
        raise ValueError("RSA key is vulnerable to ROCA (CVE-2017-15361): it can be factored")
    return {"e": members["e"], "kty": "RSA", "n": members["n"]}


def _is_roca(modulus: int) -> bool:
    """Infineon's library generated primes that are powers of 65537 modulo many small primes, and so is their product.

    Of other keys, about one in two hundred million looks like that too.
    """
    return all(modulus % prime in remainders for prime, remainders in _ROCA.items())


def _p256(members: Mapping[str, Any]) -> dict[str, str]:
    if members.get("crv") != "P-256":
        raise ValueError("curve is not P-256")
    if any(len(base64url(members.get(name))) != _P256_BYTES for name in ("x", "y")):
        raise ValueError("coordinates are not 32 bytes")
    return {"crv": "P-256", "kty": "EC", "x": members["x"], "y": members["y"]}


def _verifier(public: dict[str, str], algorithm: str) -> Key:
    try:
        return jwk.construct(public, algorithm)
    except Exception as error:
        raise ValueError("not a key") from error


def _thumbprint(public: dict[str, str]) -> str:
    """RFC 7638."""
    return hashlib.sha256(json.dumps(public, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# The key set of an issuer, parsed so that a bad key affects only itself.

MAX_BYTES = 256 * 1024
_MAX_KEYS = 100


@dataclass(frozen=True, slots=True)
class KeySet:
    keys: Mapping[str, VerificationKey] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Key id -> the reason why that key verifies nothing."""


def read_key_set(raw: bytes, allowed: Collection[str]) -> KeySet:
    """`ValueError` if it is not a key set at all; unusable keys are skipped with their reason."""
    if len(raw) > MAX_BYTES:
        raise ValueError("key set is too large")
    listed = json_object(raw).get("keys")
    if not isinstance(listed, list) or len(listed) > _MAX_KEYS:
        raise ValueError("`keys` is not a list of at most 100 keys")
    named = [member for member in listed if isinstance(member, dict) and isinstance(member.get("kid"), str)]
    uses = Counter(member["kid"] for member in named)
    keys: dict[str, VerificationKey] = {}
    # INVARIANT: a key id names exactly one key; if two share it, neither verifies anything.
    skipped = {key_id: "two keys share this `kid`" for key_id, count in uses.items() if count > 1}
    for member in (member for member in named if uses[member["kid"]] == 1):
        try:
            keys[member["kid"]] = read_key(member, allowed)
        except ValueError as error:
            skipped[member["kid"]] = str(error)
    return KeySet(keys, skipped)
