"""What one token costs: verified, looked at again, python-jose alone. Run it with `python -m bench.tokens`."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from jose import jwk, jwt

from gateway.identity.authenticator import Authenticator
from gateway.identity.issuer import Issuer

SECONDS = 0.5
ROUNDS = 3
ISSUER, AUDIENCE = "https://issuer.example/", "https://gateway.example"


def signer(algorithm: str) -> Any:
    key = rsa.generate_private_key(65_537, 2048) if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())
    return jwk.construct(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), algorithm)


def token(key: Any, algorithm: str) -> str:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "user-1", "iat": now, "exp": now + 3600}
    return jwt.encode({**claims, "tenant": "acme", "roles": ["viewer"]}, key, algorithm, {"kid": "key-1"})


async def cost(work: Callable[[], Awaitable[object]]) -> float:
    """The best of some rounds, in microseconds of CPU."""
    rounds = []
    for _ in range(ROUNDS):
        runs, started = 0, time.process_time()
        while (spent := time.process_time() - started) < SECONDS / ROUNDS:
            for _ in range(20):
                await work()
            runs += 20
        rounds.append(spent / runs * 1e6)
    return min(rounds)


async def measure(algorithm: str) -> None:
    key = signer(algorithm)
    text = token(key, algorithm)
    jwks = {"keys": [{**key.public_key().to_dict(), "kid": "key-1"}]}
    public = key.public_key()

    async def fetch(_: str) -> bytes:
        return json.dumps(jwks).encode()

    issuer = Issuer(ISSUER, (AUDIENCE,), "https://issuer.example/jwks")
    authenticator = Authenticator([issuer], fetch=fetch)
    verified = await authenticator.verify(f"Bearer {text}")

    async def jose(with_key: Any) -> object:
        return jwt.decode(text, with_key, algorithms=[algorithm], audience=AUDIENCE, issuer=ISSUER)

    results = {
        "python-jose, JWKS dict": await cost(lambda: jose(jwks)),
        "python-jose, key object": await cost(lambda: jose(public)),
        "ours, verified": await cost(lambda: authenticator.verify(f"Bearer {text}")),
        "ours, still holds": await cost(lambda: authenticator.still_holds(verified)),
    }
    plain = results["python-jose, JWKS dict"]
    for name, spent in results.items():
        print(f"{algorithm}  {name:<24} {spent:8.1f} us   {plain / spent:6.1f} x")


async def main() -> None:
    for algorithm in ("RS256", "ES256"):
        await measure(algorithm)


if __name__ == "__main__":
    asyncio.run(main())
