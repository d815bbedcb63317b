"""The DynamoDB client: every call is made with the credentials of one session, and returns a response or raises."""

import re
import ssl
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self
from uuid import uuid4

import orjson

from gateway.aws.wire.client import AwsClient, Retried, Service
from gateway.aws.wire.connection import WireLimits
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget, endpoint
from gateway.aws.wire.errors import InvalidRequest
from gateway.aws.wire.response import body_of, decoded
from gateway.aws.wire.retry import RetryRules
from gateway.aws.wire.signer import Form

_LIMITS = WireLimits()
_RETRY = RetryRules()
_CONTENT_TYPE = "application/x-amz-json-1.0"
_OPERATION = re.compile(r"[A-Z][A-Za-z]{1,60}")
# the member that makes a retried request idempotent; filled in if it is missing, as the SDKs do
_CLIENT_TOKENS = {
    "TransactWriteItems": "ClientRequestToken",
    "ExecuteTransaction": "ClientRequestToken",
    "ExportTableToPointInTime": "ClientToken",
    "ImportTable": "ClientToken",
    "StartBulkPutItems": "ClientToken",
}


class DynamoDB(Protocol):
    """Calls DynamoDB; tests and other engines replace it."""

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        """Takes and returns DynamoDB JSON; `deadline` is a time on the clock of the event loop."""
        ...

    async def send(
        self,
        operation: str,
        content: bytes,
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> bytes:
        """Does the same with bytes, for callers that encode the request and decode the response themselves."""
        body = orjson.loads(content)
        answer = await self.call(operation, body, credentials=credentials, target=target, deadline=deadline)
        return orjson.dumps(answer)


class DynamoDBClient(AwsClient, DynamoDB):
    """One for all tenants of a process; bound to the event loop in which it is first used."""

    api = "DynamoDB_20120810"

    def __init__(
        self,
        limits: WireLimits = _LIMITS,
        retry: RetryRules = _RETRY,
        *,
        tls: ssl.SSLContext | None = None,
        on_retry: Callable[[Retried], None] = lambda retried: None,
    ) -> None:
        super().__init__(
            Service("dynamodb", partial(form, api=self.api), body_of), limits, retry, tls=tls, on_retry=on_retry
        )

    def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        return self.ask(decoded, operation, payload(operation, body), credentials, target, deadline)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class DynamoDBStreamsClient(DynamoDBClient):
    """The client for DynamoDB Streams: the same protocol at a different endpoint."""

    api = "DynamoDBStreams_20120810"


def form(target: AwsTarget, operation: str, api: str = DynamoDBClient.api) -> Form:
    # INVARIANT: an operation is letters only, so that its header cannot be followed by another.
    if not _OPERATION.fullmatch(operation):
        raise InvalidRequest(f"not an operation: `{operation}`")
    return Form(endpoint(target).authority, _CONTENT_TYPE, f"{api}.{operation}")


def payload(operation: str, body: Mapping[str, Any]) -> bytes:
    token = _CLIENT_TOKENS.get(operation)
    if token is not None and token not in body:
        body = {**body, token: str(uuid4())}
    try:
        return orjson.dumps(body, default=_plain)
    except orjson.JSONEncodeError as error:
        raise InvalidRequest("a request that cannot be written as json") from error


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
