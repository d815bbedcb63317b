"""From the Authorization header to a Principal; whatever goes wrong on the way is a refusal."""

import time
from collections.abc import Iterable
from dataclasses import dataclass

from cachetools import TTLCache

from gateway.errors import ConfigurationError, Unauthenticated
from gateway.identity.claims import is_expired, read_principal
from gateway.identity.fetch import fetch as fetch_keys
from gateway.identity.issuer import Issuer
from gateway.identity.keyring import Clock, Fetch, Keyring
from gateway.identity.keys import VerificationKey, signed_payload
from gateway.identity.principal import Principal
from gateway.identity.refused import KeysUnavailable, Refused
from gateway.identity.strict import json_object
from gateway.identity.token import Header, Token, claimed_issuer, read_header, read_token

_SCHEME_AND_TOKEN = 2


@dataclass(frozen=True, slots=True)
class _Verified:
    """A verified token: what it said and what that rests on."""

    principal: Principal
    key: VerificationKey
    keyring: Keyring


class Authenticator:
    """Verified tokens are remembered for `remember_seconds`; 0 remembers none."""

    def __init__(
        self,
        issuers: Iterable[Issuer],
        *,
        fetch: Fetch = fetch_keys,
        clock: Clock = time.time,
        remember_seconds: float = 60,
        remember_tokens: int = 10_000,
    ) -> None:
        self._clock = clock
        self._keyrings: dict[str, Keyring] = {}
        for issuer in issuers:
            if issuer.issuer in self._keyrings:
                raise ConfigurationError([f"issuer `{issuer.issuer}` is listed twice"])
            self._keyrings[issuer.issuer] = Keyring(issuer, fetch, clock)
        self._remembered: TTLCache[bytes, _Verified] = TTLCache(remember_tokens, remember_seconds, timer=clock)

    async def authenticate(self, authorization: str | None) -> Principal:
        """INVARIANT: raises `Unauthenticated`, or `Unavailable` where the issuer's keys cannot be had; nothing else."""
        try:
            token = read_token(_bearer(authorization))
            known = self._remembered.get(token.digest)
            if known is not None and await self._still_holds(known):
                return known.principal
            verified = await self._verify(token)
            self._remembered[token.digest] = verified
            return verified.principal
        except (Unauthenticated, KeysUnavailable):
            raise
        except Exception as error:
            raise Refused("invalid token", "unforeseen failure") from error

    async def close(self) -> None:
        for keyring in self._keyrings.values():
            await keyring.close()

    async def _verify(self, token: Token) -> _Verified:
        header = read_header(token)
        keyring = self._keyrings.get(claimed_issuer(token))
        if keyring is None:
            raise Refused("unknown issuer")
        _check_header(header, keyring.issuer)
        key = await keyring.find(header.key_id)
        claims = json_object(signed_payload(token.text, key, header.algorithm))
        return _Verified(read_principal(claims, keyring.issuer, self._clock()), key, keyring)

    async def _still_holds(self, known: _Verified) -> bool:
        # INVARIANT: a remembered token passes only while its very key is still published and it has not expired.
        key = await known.keyring.find(known.key.key_id)
        return key == known.key and not is_expired(known.principal.expires_at, known.keyring.issuer, self._clock())


def _check_header(header: Header, issuer: Issuer) -> None:
    if header.algorithm not in issuer.algorithms:
        raise Refused("token algorithm not allowed", "the issuer does not sign with this algorithm")
    if header.type not in issuer.types:
        raise Refused("token type not allowed")


def _bearer(authorization: str | None) -> str:
    if authorization is None:
        raise Refused("authorization header missing")
    words = authorization.split(" ")
    if len(words) != _SCHEME_AND_TOKEN or words[0].lower() != "bearer" or not words[1]:
        raise Refused("authorization header is not `Bearer <token>`")
    return words[1]
