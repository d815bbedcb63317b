"""The one way to DynamoDB: a call with somebody's credentials, answered or raised."""

import ssl
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

import orjson

from gateway.aws.answer import body_of, content_of
from gateway.aws.client import AwsClient, Retried
from gateway.aws.credentials import Credentials
from gateway.aws.limits import WireLimits
from gateway.aws.request import draft, payload
from gateway.aws.retry import RetryRules
from gateway.aws.target import Target

_LIMITS = WireLimits()
_RETRY = RetryRules()


class DynamoDB(Protocol):
    """The seam that tests and other engines replace."""

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        """Body and answer are DynamoDB JSON; `deadline` is a moment of the loop's clock."""
        ...

    async def send(
        self,
        operation: str,
        content: bytes,
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> bytes:
        """The same with texts: for whoever has the request written already and decodes the answer alone."""
        body = orjson.loads(content)
        answer = await self.call(operation, body, credentials=credentials, target=target, deadline=deadline)
        return orjson.dumps(answer)


class DynamoDBClient(DynamoDB):
    """One for all tenants of a process; belongs to the event loop it is first used in."""

    def __init__(
        self,
        limits: WireLimits = _LIMITS,
        retry: RetryRules = _RETRY,
        *,
        tls: ssl.SSLContext | None = None,
        on_retry: Callable[[Retried], None] = lambda retried: None,
    ) -> None:
        self._client = AwsClient("dynamodb", draft, limits, retry, tls=tls, on_retry=on_retry)

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        content = payload(operation, body)
        return await self._client.call(content_of, operation, content, credentials, target, deadline)

    async def send(
        self,
        operation: str,
        content: bytes,
        *,
        credentials: Credentials,
        target: Target,
        deadline: float | None = None,
    ) -> bytes:
        return await self._client.call(body_of, operation, content, credentials, target, deadline)

    async def close(self) -> None:
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
