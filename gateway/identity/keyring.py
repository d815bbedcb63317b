"""The keys of one issuer, refreshed by at most one fetch at a time and per cool-down."""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable

from gateway.identity.errors import KeysUnavailable, TokenRefused
from gateway.identity.issuer import Issuer
from gateway.identity.keys import KeySet, VerificationKey, read_key_set
from gateway.single_flight import SingleFlight

Fetch = Callable[[str], Awaitable[bytes]]
Clock = Callable[[], float]

_AHEAD = 0.75  # the share of the ttl after which keys are refreshed in the background
_log = logging.getLogger("gateway.issuers")


class Keyring:
    def __init__(
        self, issuer: Issuer, fetch: Fetch, clock: Clock, on_change: Callable[[], None] = lambda: None
    ) -> None:
        """`on_change` is called when the issuer publishes other keys than before."""
        self.issuer = issuer
        self._on_change = on_change
        self._fetch = fetch
        self._clock = clock
        self._set = KeySet()
        self._fetched_at = -math.inf
        self._attempted_at = -math.inf
        self._failed_at = -math.inf
        self._single_flight: SingleFlight[str, None, None] = SingleFlight()
        self._failure: Exception | None = None

    async def find(self, key_id: str) -> VerificationKey:
        """The key with this id; raises `TokenRefused`, or `KeysUnavailable` if the issuer does not respond.

        Fetches if the keys are old or the id is unknown.
        """
        is_known = key_id in self._set.keys
        if is_known and self._since(self._fetched_at) < self.issuer.freshness.ttl * _AHEAD:
            return self._set.keys[key_id]
        fetching = self._refresh()
        if fetching is not None and not (is_known and self._may_serve_meanwhile()):
            await asyncio.wait((fetching,))
        return self._served(key_id)

    @property
    def fresh_until(self) -> float:
        """Until then `find` needs no fetch."""
        return self._fetched_at + self.issuer.freshness.ttl * _AHEAD

    async def close(self) -> None:
        await self._single_flight.close()

    def _may_serve_meanwhile(self) -> bool:
        freshness = self.issuer.freshness
        just_failed = self._since(self._failed_at) < 2 * freshness.cooldown
        return just_failed or self._since(self._fetched_at) < freshness.ttl

    def _served(self, key_id: str) -> VerificationKey:
        freshness = self.issuer.freshness
        # INVARIANT: keys older than ttl + stale verify nothing, whatever the reason that the issuer does not respond.
        if self._since(self._fetched_at) >= freshness.ttl + freshness.stale:
            raise KeysUnavailable from self._failure
        key = self._set.keys.get(key_id)
        if key is None and self._failure is not None and key_id not in self._set.skipped:
            # it may be a new key that could not be fetched
            raise KeysUnavailable from self._failure
        if key is None:
            raise TokenRefused("unknown signing key", self._set.skipped.get(key_id, "no key with this `kid`"))
        return key

    def _refresh(self) -> asyncio.Task[None] | None:
        """The running fetch, or a new one, or none during the cool-down."""
        url = self.issuer.jwks_url
        if (flight := self._single_flight.find(url)) is not None:
            return flight.task
        if self._single_flight.closed or self._since(self._attempted_at) < self.issuer.freshness.cooldown:
            return None
        self._attempted_at = self._clock()
        return self._single_flight.start((url,), self._fetch_keys(self._attempted_at), None).task

    async def _fetch_keys(self, started_at: float) -> None:
        try:
            async with asyncio.timeout(self.issuer.freshness.timeout):
                raw = await self._fetch(self.issuer.jwks_url)
            fetched = read_key_set(raw, self.issuer.algorithms)
        except Exception as error:
            self._failure, self._failed_at = error, self._clock()
            _log.warning("keys of issuer `%s` could not be fetched: %r", self.issuer.issuer, error)
        else:
            self._fetched_at = started_at
            self._failure, self._failed_at = None, -math.inf
            before, self._set = self._set, fetched
            if fetched.keys != before.keys:
                self._on_change()

    def _since(self, timestamp: float) -> float:
        elapsed = self._clock() - timestamp
        # A clock that is set back must not extend the life of keys.
        return elapsed if elapsed >= 0 else math.inf
