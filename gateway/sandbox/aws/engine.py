"""The DynamoDB engine behind the sandbox: the interface that it needs, and a client for an engine elsewhere."""

import asyncio
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError
from botocore.httpsession import URLLib3Session

from gateway.errors import Internal
from gateway.sandbox.aws.responses import AwsFault

API = "DynamoDB_20120810"
STREAMS_API = "DynamoDBStreams_20120810"


@dataclass(frozen=True, slots=True)
class EngineResponse:
    status: int
    body: bytes = field(repr=False)

    @property
    def ok(self) -> bool:
        return self.status == 200


class Engine(Protocol):
    async def call(self, target: str, body: bytes) -> EngineResponse:
        """Runs the operation that `X-Amz-Target` names. The request is already authorized."""
        ...

    async def close(self) -> None: ...


class EngineRefused(Internal):
    """The engine refused a request of the sandbox itself; `name` is DynamoDB's name of the error."""

    def __init__(self, operation: str, name: str, message: str) -> None:
        super().__init__(f"{operation}: {name}: {message}")
        self.name = name


async def call_engine(engine: Engine, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Sends a request of the sandbox itself, to create and fill the table."""
    answer = await engine.call(f"{API}.{operation}", json.dumps(body).encode())
    try:
        content = json.loads(answer.body)
    except ValueError as error:
        raise EngineRefused(operation, "NotDynamoDB", f"status {answer.status} and no JSON") from error
    if not answer.ok or not isinstance(content, dict):
        name = str(content.get("__type", "")) if isinstance(content, dict) else ""
        message = content.get("message") or content.get("Message") or "" if isinstance(content, dict) else ""
        raise EngineRefused(operation, name.rpartition("#")[2], str(message))
    return content


_CONNECTIONS = 16
_SECONDS = 30


class Forwarded:
    """Another engine, such as DynamoDB Local or MiniStack: requests are signed again and sent there."""

    def __init__(self, url: str, region: str) -> None:
        self._url = url.rstrip("/") + "/"
        # always the same key: without -sharedDb, DynamoDB Local keeps one database per key
        self._signer = SigV4Auth(Credentials("sandbox", "sandbox"), "dynamodb", region)
        self._http = URLLib3Session(timeout=_SECONDS, max_pool_connections=_CONNECTIONS)
        self._threads = ThreadPoolExecutor(_CONNECTIONS, "engine")

    async def call(self, target: str, body: bytes) -> EngineResponse:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._send, target, body)

    async def close(self) -> None:
        self._threads.shutdown()
        self._http.close()

    def _send(self, target: str, body: bytes) -> EngineResponse:
        headers = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.0"}
        request = AWSRequest("POST", self._url, headers, body)
        self._signer.add_auth(request)
        try:
            answer = self._http.send(request.prepare())
        except BotoCoreError as error:
            message = f"the engine at {self._url} does not respond"
            raise AwsFault("ServiceUnavailable", message, status=503) from error
        return EngineResponse(answer.status_code, answer.content)
