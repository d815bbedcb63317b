"""One DAX cluster: runs Amazon's blocking client in a few threads, with a time limit.

The client is created on first use, because creating it already connects to the cluster. It does not use a tenant's
session, but one of its own, in a role that only reads from the cluster: a cluster serves everyone who reaches it with
the permissions of its own role.
"""

import asyncio
import base64
import importlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import boto3
import orjson
from botocore.config import Config

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.errors import ConfigurationError, Unavailable
from gateway.store.cache.dax.breaker import Breaker, BreakerRules

_METHODS = {"GetItem": "get_item", "BatchGetItem": "batch_get_item", "Query": "query"}

Connect = Callable[[], Any]


class DaxFailed(Unavailable):
    """The cluster did not respond; callers never see this error, because the table is read instead."""


class DaxBusy(DaxFailed):
    """All threads are waiting for the cluster."""


@dataclass(frozen=True, slots=True)
class DaxRules:
    threads: int = 16
    seconds: float = 1.0  # for a call; after that, the table is read instead
    breaker: BreakerRules = field(default_factory=BreakerRules)


def connector(endpoint: str, region: str, session: boto3.Session, rules: DaxRules) -> Connect:
    """Returns the function that creates the client; raises if the optional dependency is not installed."""
    try:
        client = importlib.import_module("amazondax").AmazonDaxClient
    except ImportError as error:
        raise ConfigurationError(["cache: `dax` needs the package amazon-dax-client, the extra `dax`"]) from error
    config = Config(connect_timeout=rules.seconds, read_timeout=rules.seconds, retries={"max_attempts": 1})
    return lambda: client(session, region_name=region, endpoint_url=endpoint, config=config)


class DaxCluster(DynamoDB):
    def __init__(self, name: str, connect: Connect, rules: DaxRules) -> None:
        self.name = name
        self.breaker = Breaker(rules.breaker)
        self._connect = connect
        self._rules = rules
        self._threads = ThreadPoolExecutor(rules.threads, thread_name_prefix="dax")
        self._client: Any = None
        self._connecting = threading.Lock()
        self._counting = threading.Lock()
        self._busy = 0

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        """`credentials` and `target` are not used, see the docstring of the module."""
        # INVARIANT: only eventual reads go through a cluster.
        method = _METHODS[operation]
        now = asyncio.get_running_loop().time()
        seconds = self._rules.seconds if deadline is None else min(self._rules.seconds, deadline - now)
        sent = self._submit(method, orjson.dumps(body))
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(sent)
        except TimeoutError as error:
            raise DaxFailed(f"{self.name} did not answer within {seconds:g} seconds") from error
        except Exception as error:
            raise DaxFailed(f"{self.name} failed: {type(error).__name__}") from error

    async def close(self) -> None:
        """Waits for running calls, which have a time limit of their own."""
        await asyncio.to_thread(self._close)

    def _submit(self, method: str, body: bytes) -> "Future[dict[str, Any]]":
        with self._counting:
            if self._busy >= self._rules.threads:
                # a queue behind threads that wait for a slow cluster would only delay all requests
                raise DaxBusy(f"{self.name} is busy")
            self._busy += 1
        sent = self._threads.submit(self._call, method, body)
        sent.add_done_callback(self._freed)
        return sent

    def _freed(self, sent: "Future[dict[str, Any]]") -> None:
        with self._counting:
            self._busy -= 1

    def _call(self, method: str, body: bytes) -> dict[str, Any]:
        with self._connecting:
            if self._client is None:
                self._client = self._connect()
            client = self._client
        # a copy, because the body is shared with other requests and the client modifies it
        answer: dict[str, Any] = _as_json(getattr(client, method)(**orjson.loads(body)))
        return answer

    def _close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        if self._client is not None:
            self._client.close()


def _as_json(value: Any) -> Any:
    """Converts the client's response to the form of DynamoDB's own: bytes as base64, capacity as a number."""
    match value:
        case dict():
            return {name: _as_json(part) for name, part in value.items()}
        case list():
            return [_as_json(part) for part in value]
        case bytes() | bytearray():
            return base64.b64encode(value).decode()
        case Decimal():
            return float(value)
    return value
