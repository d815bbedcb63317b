"""Keys that sign, an issuer that publishes them, a verifier that trusts it, and a clock that stands still."""

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from gateway.identity.authenticator import Authenticator
from gateway.identity.errors import TokenRefused
from gateway.identity.issuer import Issuer
from gateway.identity.principal import Principal
from gateway.identity.strict_json import base64url_text

NOW = 1_800_000_000
ISSUER = "https://issuer.example/"
AUDIENCE = "https://gateway.example"
JWKS_URL = "https://issuer.example/jwks.json"
_HASHES: dict[str, Callable[[], hashes.HashAlgorithm]] = {"256": hashes.SHA256, "512": hashes.SHA512}

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def b64(value: bytes) -> str:
    return base64url_text(value).decode()


def number(value: int, size: int | None = None) -> str:
    return b64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


@cache
def named_key(name: str, bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65_537, bits)


def rsa_key(name: str = "ours", bits: int = 2048) -> rsa.RSAPrivateKey:
    """One key per name and size: making them is slow."""
    return named_key(name, bits)


@cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def public_jwk(key: PrivateKey, kid: str, **members: Any) -> dict[str, Any]:
    if isinstance(key, rsa.RSAPrivateKey):
        numbers = key.public_key().public_numbers()
        return {"kty": "RSA", "kid": kid, "n": number(numbers.n), "e": number(numbers.e), **members}
    point = key.public_key().public_numbers()
    return {"kty": "EC", "crv": "P-256", "kid": kid, "x": number(point.x, 32), "y": number(point.y, 32), **members}


def raw_signature(key: PrivateKey, algorithm: str, signed: bytes) -> bytes:
    digest = _HASHES[algorithm[2:]]()
    if isinstance(key, ec.EllipticCurvePrivateKey):
        r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(digest)))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    if algorithm.startswith("PS"):
        return key.sign(signed, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
    return key.sign(signed, padding.PKCS1v15(), digest)


def sign(header: bytes | Mapping[str, Any], payload: bytes | Mapping[str, Any], key: PrivateKey, algorithm: str) -> str:
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in (header, payload)]
    signed = ".".join(b64(part) for part in parts)
    return f"{signed}.{b64(raw_signature(key, algorithm, signed.encode()))}"


def claims(**changes: Any) -> dict[str, Any]:
    """Good claims; a change to `...` leaves the claim out."""
    good = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "user-1",
        "exp": NOW + 600,
        "iat": NOW - 10,
        "tenant": "acme",
        "roles": ["viewer"],
    }
    return {name: value for name, value in {**good, **changes}.items() if value is not ...}


def header(**changes: Any) -> dict[str, Any]:
    good = {"alg": "RS256", "typ": "JWT", "kid": "key-1"}
    return {name: value for name, value in {**good, **changes}.items() if value is not ...}


def good_token(**changes: Any) -> str:
    return sign(header(), claims(**changes), rsa_key(), "RS256")


def issuer(**changes: Any) -> Issuer:
    return Issuer(**{"issuer": ISSUER, "audience": (AUDIENCE,), "jwks_url": JWKS_URL, **changes})


@dataclass
class Clock:
    now: float = NOW

    def __call__(self) -> float:
        return self.now


@dataclass
class Publisher:
    """The JWKS address of an issuer; it counts how often it is asked."""

    keys: list[Any] = field(default_factory=lambda: [public_jwk(rsa_key(), "key-1"), public_jwk(ec_key(), "key-2")])
    fetches: int = 0
    failure: Exception | None = None
    gate: asyncio.Event | None = None

    async def __call__(self, url: str) -> bytes:
        self.fetches += 1
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return json.dumps({"keys": self.keys}).encode()


@dataclass
class TokenVerifier:
    publisher: Publisher = field(default_factory=Publisher)
    clock: Clock = field(default_factory=Clock)
    issuers: tuple[Issuer, ...] = field(default_factory=lambda: (issuer(),))

    def __post_init__(self) -> None:
        self.authenticator = Authenticator(self.issuers, fetch=self.publisher, clock=self.clock)

    async def principal(self, token: str) -> Principal:
        return (await self.authenticator.verify(f"Bearer {token}")).principal

    async def accepts(self, token: str) -> bool:
        try:
            return (await self.principal(token)).issuer in {one.issuer for one in self.issuers}
        except TokenRefused:
            return False

    async def refusal(self, token: str) -> TokenRefused:
        """Why the token is refused; fails when it is not."""
        try:
            principal = await self.principal(token)
        except TokenRefused as refused:
            return refused
        raise AssertionError(f"accepted as {principal}")


async def settle() -> None:
    """Lets background tasks run that wait for nothing."""
    for _ in range(10):
        await asyncio.sleep(0)
