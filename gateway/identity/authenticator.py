"""Verifies the Authorization header; every failure is a refusal."""

import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from gateway.errors import ConfigurationError, Unauthenticated
from gateway.identity.claims import expires, read_principal, roles_missing
from gateway.identity.errors import KeysUnavailable, TokenRefused
from gateway.identity.fetch import fetch as fetch_keys
from gateway.identity.issuer import Issuer
from gateway.identity.keyring import Clock, Fetch, Keyring
from gateway.identity.keys import VerificationKey, signed_payload
from gateway.identity.principal import Principal
from gateway.identity.revocations import Revocations
from gateway.identity.strict_json import json_object
from gateway.identity.token import Header, claimed_issuer, read_header, read_token

_SCHEME_AND_TOKEN = 2
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """The principal of a token, and the key that verified it; the token itself is not kept."""

    principal: Principal
    key: VerificationKey
    keyring: Keyring

    @property
    def good_until(self) -> float:
        """The token need not be checked again before this time, unless the issuer publishes other keys."""
        return min(expires(self.principal, self.keyring.issuer), self.keyring.fresh_until)

    @property
    def roles_missing(self) -> str:
        """Why the token has no role, for the log."""
        return roles_missing(self.principal, self.keyring.issuer)


class Authenticator:
    """Remembers no token: `gateway.aws.sts.callers` does. `epoch` increases whenever an issuer publishes other keys.

    INVARIANT: its methods raise only `Unauthenticated`, or `Unavailable` if the issuer's keys cannot be fetched.
    """

    def __init__(
        self,
        issuers: Iterable[Issuer],
        *,
        fetch: Fetch = fetch_keys,
        clock: Clock = time.time,
        revocations: Revocations | None = None,
    ) -> None:
        self.epoch = 0
        self._clock = clock
        self._revocations = revocations or Revocations()
        self._keyrings: dict[str, Keyring] = {}
        for issuer in issuers:
            if issuer.issuer in self._keyrings:
                raise ConfigurationError([f"issuer `{issuer.issuer}` is listed twice"])
            self._keyrings[issuer.issuer] = Keyring(issuer, fetch, clock, self._keys_changed)

    async def verify(self, authorization: str | None) -> VerifiedToken:
        return await _refusing(self._verify(authorization))

    async def still_holds(self, token: VerifiedToken) -> bool:
        """Checks key, expiry and revocation again, but not the signature."""
        return await _refusing(self._still_holds(token))

    async def close(self) -> None:
        for keyring in self._keyrings.values():
            await keyring.close()

    def _keys_changed(self) -> None:
        self.epoch += 1

    async def _verify(self, authorization: str | None) -> VerifiedToken:
        token = read_token(_bearer(authorization))
        header = read_header(token)
        keyring = self._keyrings.get(claimed_issuer(token))
        if keyring is None:
            raise TokenRefused("unknown issuer")
        _check_header(header, keyring.issuer)
        key = await keyring.find(header.key_id)
        claims = json_object(signed_payload(token.text, key, header.algorithm))
        principal = read_principal(claims, keyring.issuer, self._clock())
        if principal.support is not None:
            await self._revocations.check(principal.support)
        return VerifiedToken(principal, key, keyring)

    async def _still_holds(self, token: VerifiedToken) -> bool:
        # INVARIANT: a remembered token passes only while its own key is still published and it has not expired. Expiry
        # is checked first, because it is known even while the issuer cannot be reached.
        expiry = expires(token.principal, token.keyring.issuer)
        if self._clock() >= expiry:
            return False
        key = await token.keyring.find(token.key.key_id)
        if token.principal.support is not None:
            await self._revocations.check(token.principal.support)
        return key == token.key and self._clock() < expiry


async def _refusing(work: Awaitable[T]) -> T:
    try:
        return await work
    except (Unauthenticated, KeysUnavailable):
        raise
    except Exception as error:
        raise TokenRefused("invalid token", "unforeseen failure") from error


def _check_header(header: Header, issuer: Issuer) -> None:
    if header.algorithm not in issuer.algorithms:
        raise TokenRefused("token algorithm not allowed", "the issuer does not sign with this algorithm")
    if header.type not in issuer.types:
        raise TokenRefused("token type not allowed")


def _bearer(authorization: str | None) -> str:
    if authorization is None:
        raise TokenRefused("authorization header missing")
    words = authorization.split(" ")
    if len(words) != _SCHEME_AND_TOKEN or words[0].lower() != "bearer" or not words[1]:
        raise TokenRefused("authorization header is not `Bearer <token>`")
    return words[1]
