"""The connection to NATS JetStream, and the stream that holds the change notes of a table."""

import asyncio
import logging
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import nats
from nats.aio.client import Client
from nats.js import JetStreamContext
from nats.js.api import DiscardPolicy, StorageType, StreamConfig, StreamInfo
from nats.js.errors import NotFoundError

from gateway.stream.bus import RETENTION_SECONDS

# errors of a connection or a call; the caller retries
NATS_ERRORS: Final = (nats.errors.Error, OSError, TimeoutError)
CALL_SECONDS: Final = 5.0
_CONNECT_SECONDS: Final = 3

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class BusAddress:
    servers: tuple[str, ...]
    stream: str
    user: str | None = None
    password: str | None = None
    ca: Path | None = None
    replicas: int = 3

    def notes_subject(self, shard: str, tenant: str) -> str:
        """Shard ids and tenant ids contain no dot, so that each is one token of the subject."""
        return f"{self.stream}.notes.{shard}.{tenant}"

    @property
    def gap_subject(self) -> str:
        return f"{self.stream}.gap"

    def tenant_in(self, subject: str) -> str | None:
        """Returns the tenant of a notes subject; None for any other subject."""
        tokens = subject.split(".")
        return tokens[3] if len(tokens) == 4 and tokens[:2] == [self.stream, "notes"] else None


class JetStreamLink:
    """A lazily opened connection; a failed call closes it, and the next call opens a new one."""

    def __init__(self, address: BusAddress, *, creates: bool) -> None:
        self.address = address
        self._creates = creates
        self._client: Client | None = None
        self._opening = asyncio.Lock()

    @property
    def connected(self) -> bool:
        return self._client is not None and self._client.is_connected

    async def jetstream(self) -> JetStreamContext:
        async with self._opening:
            if self._client is not None and self._client.is_connected:
                return self._client.jetstream(timeout=CALL_SECONDS)
            await self.close()
            # one timeout for all of it: callers that wait for the lock must not hang on a silent server
            opened = await asyncio.wait_for(nats.connect(**self._options()), CALL_SECONDS)
            self._client = opened
            if self._creates:
                await self._create(opened.jetstream(timeout=CALL_SECONDS))
            return opened.jetstream(timeout=CALL_SECONDS)

    async def info(self) -> StreamInfo:
        return await (await self.jetstream()).stream_info(self.address.stream)

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with suppress(*NATS_ERRORS):
                await asyncio.wait_for(client.close(), CALL_SECONDS)

    def _options(self) -> Mapping[str, Any]:
        address = self.address
        tls = None
        if any(server.startswith("tls://") for server in address.servers):
            tls = ssl.create_default_context(cafile=address.ca)
        return {
            "servers": list(address.servers),
            "name": "gateway",
            "user": address.user,
            "password": address.password,
            "tls": tls,
            # we reconnect ourselves, because the consumer must be created again
            "allow_reconnect": False,
            "connect_timeout": _CONNECT_SECONDS,
            "ping_interval": 5,
            "error_cb": _noted,
        }

    async def _create(self, js: JetStreamContext) -> None:
        """Creates the stream if it is missing; an existing one is left unchanged, even if its limits differ."""
        stream = self.address.stream
        try:
            await js.stream_info(stream)
        except NotFoundError:
            config = StreamConfig(
                name=stream,
                subjects=[f"{stream}.>"],
                storage=StorageType.FILE,
                discard=DiscardPolicy.OLD,
                max_age=RETENTION_SECONDS,
                num_replicas=self.address.replicas,
            )
            await js.add_stream(config)
            _log.info("the stream of change notes was made", extra={"fields": {"stream": stream}})


async def _noted(error: Exception) -> None:
    """Logs at debug level only, because the call that fails reports the error."""
    _log.debug("the connection to NATS: %s", error)
