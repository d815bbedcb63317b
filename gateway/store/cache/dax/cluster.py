"""One DAX cluster as a way to the table: Amazon's client, which blocks, in a few threads with a time limit.

The client is made when it is first needed: making it already talks to the cluster. It signs with a session of its
own, in a role that reads from the cluster and nothing else, not with a tenant's: a cluster answers everybody who
reaches it with the rights of its own role.
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
    """The cluster did not answer; callers never see it, since the table is asked instead."""


class DaxBusy(DaxFailed):
    """Every thread waits for the cluster."""


@dataclass(frozen=True, slots=True)
class DaxRules:
    threads: int = 16
    seconds: float = 1.0  # for a call; the table is asked when it takes longer
    breaker: BreakerRules = field(default_factory=BreakerRules)


def connector(endpoint: str, region: str, session: boto3.Session, rules: DaxRules) -> Connect:
    """How to make the client; raises where the optional dependency is not installed."""
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
        """`credentials` and `target` are not used: see above."""
        # INVARIANT: only eventual reads go through a cluster.
        method = _METHODS[operation]
        now = asyncio.get_running_loop().time()
        seconds = self._rules.seconds if deadline is None else min(self._rules.seconds, deadline - now)
        asked = self._submit(method, orjson.dumps(body))
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.wrap_future(asked)
        except TimeoutError as error:
            raise DaxFailed(f"{self.name} did not answer within {seconds:g} seconds") from error
        except Exception as error:
            raise DaxFailed(f"{self.name} failed: {type(error).__name__}") from error

    async def close(self) -> None:
        """What is under way has a time limit of its own, so this ends."""
        await asyncio.to_thread(self._close)

    def _submit(self, method: str, body: bytes) -> "Future[dict[str, Any]]":
        with self._counting:
            if self._busy >= self._rules.threads:
                # a queue behind threads that wait for a slow cluster would only make everybody late
                raise DaxBusy(f"{self.name} is busy")
            self._busy += 1
        asked = self._threads.submit(self._ask, method, body)
        asked.add_done_callback(self._freed)
        return asked

    def _freed(self, asked: "Future[dict[str, Any]]") -> None:
        with self._counting:
            self._busy -= 1

    def _ask(self, method: str, body: bytes) -> dict[str, Any]:
        with self._connecting:
            if self._client is None:
                self._client = self._connect()
            client = self._client
        # a copy, since what is sent is shared with other requests and the client writes notes into it
        answer: dict[str, Any] = _as_json(getattr(client, method)(**orjson.loads(body)))
        return answer

    def _close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        if self._client is not None:
            self._client.close()


def _as_json(value: Any) -> Any:
    """The client's answer in the form that DynamoDB's own has: bytes as base64, capacity as a number."""
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
