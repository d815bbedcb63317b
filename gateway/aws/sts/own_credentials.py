"""The gateway's own credentials, from where boto3 finds them; refreshed by boto3, read in a thread."""

import asyncio
import time
from collections.abc import Callable

import boto3

from gateway.aws.sts.error_codes import own_missing
from gateway.aws.wire.credentials import Credentials

# boto3 refreshes credentials ten minutes before their end: to ask it once a minute is soon enough
_SECONDS = 60.0


class OwnCredentials:
    def __init__(self, session: boto3.Session, clock: Callable[[], float] = time.monotonic) -> None:
        self._session = session
        self._clock = clock
        self._kept: Credentials | None = None
        self._read_at = 0.0
        self._reading: asyncio.Task[Credentials] | None = None

    async def get(self) -> Credentials:
        """Raises an error of ours where there are none."""
        kept = self._kept
        if kept is not None and self._clock() < self._read_at + _SECONDS:
            return kept
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(self._ended)
        # Who is cancelled leaves the reading to the others: the metadata service is asked once, however slow it is.
        return await asyncio.shield(self._reading)

    def forget(self) -> None:
        """AWS did not accept them: they are read again before the next call."""
        self._kept = None

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait((self._reading,))

    async def _read(self) -> Credentials:
        try:
            kept = await asyncio.to_thread(_frozen, self._session)
        except Exception as error:  # botocore and its plugins raise what they like
            raise own_missing(error) from error
        self._kept, self._read_at = kept, self._clock()
        return kept

    def _ended(self, reading: asyncio.Task[Credentials]) -> None:
        self._reading = None
        if not reading.cancelled():
            # nobody may be left to hear it
            reading.exception()


def _frozen(session: boto3.Session) -> Credentials:
    found = session.get_credentials()
    if found is None:
        raise LookupError("boto3 finds no credentials")
    frozen = found.get_frozen_credentials()
    if not (frozen.access_key and frozen.secret_key):
        raise LookupError("the credentials are incomplete")
    return Credentials(frozen.access_key, frozen.secret_key, frozen.token)
