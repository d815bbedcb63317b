"""The gateway's own credentials, found and refreshed by boto3 in a thread."""

import asyncio
import time
from collections.abc import Callable

import boto3

from gateway.aws.sts.error_codes import own_missing
from gateway.aws.wire.credentials import Credentials
from gateway.single_flight import SingleFlight

# boto3 refreshes credentials ten minutes before they expire, so asking it once a minute is enough
_SECONDS = 60.0
_OWN = "own"  # the only key


class OwnCredentials:
    def __init__(self, session: boto3.Session, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._clock = clock
        self._kept: Credentials | None = None
        self._read_at = 0.0
        self._single_flight: SingleFlight[str, Credentials, None] = SingleFlight()

    async def get(self) -> Credentials:
        """Raises a gateway error if there are none."""
        kept = self._kept
        if kept is not None and self._clock() < self._read_at + _SECONDS:
            return kept
        # concurrent callers share one read, because the metadata service may be slow
        flight = self._single_flight.find(_OWN) or self._single_flight.start((_OWN,), self._read(), None)
        return await asyncio.shield(flight.task)

    def forget(self) -> None:
        """Reads the credentials again before the next call, because AWS has rejected them."""
        self._kept = None

    async def close(self) -> None:
        await self._single_flight.close()

    async def _read(self) -> Credentials:
        try:
            kept = await asyncio.to_thread(_frozen, self._session)
        except Exception as error:  # botocore and its plugins raise many kinds of errors
            raise own_missing(error) from error
        self._kept, self._read_at = kept, self._clock()
        return kept


def _frozen(session: boto3.Session) -> Credentials:
    credentials = session.get_credentials()
    if credentials is None:
        raise LookupError("boto3 finds no credentials")
    frozen = credentials.get_frozen_credentials()
    if not (frozen.access_key and frozen.secret_key):
        raise LookupError("the credentials are incomplete")
    return Credentials(frozen.access_key, frozen.secret_key, frozen.token)
