"""The embedded engine: moto, called in this process as a WSGI application, one request at a time."""

import asyncio
import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any, NamedTuple

from moto.core.base_backend import BackendDict
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodbstreams.models import dynamodbstreams_backends
from moto.moto_server.werkzeug_app import create_backend_app
from werkzeug.test import create_environ, run_wsgi_app

from gateway.sandbox.aws.embedded_stream import streamed_tables, streams_with_shards
from gateway.sandbox.aws.engine import STREAMS_API, EngineResponse
from gateway.sandbox.aws.faster_moto import copied_once, speed_up
from gateway.sandbox.aws.request_checks import check_start_schema
from gateway.sandbox.aws.responses import AwsFault
from gateway.sandbox.aws.streams import SandboxStreams

# Idempotent transactions, which moto lacks: a client token writes once.

# how long DynamoDB remembers a client token
_SECONDS = 600.0


class _Done(NamedTuple):
    digest: str
    answer: EngineResponse
    until: float


class Replays:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._done: dict[str, _Done] = {}

    def run(self, body: Mapping[str, Any], write: Callable[[], EngineResponse]) -> EngineResponse:
        token = body.get("ClientRequestToken")
        if not isinstance(token, str):
            return write()
        now = self._clock()
        self._done = {name: done for name, done in self._done.items() if done.until > now}
        digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
        previous = self._done.get(token)
        if previous is None:
            answer = write()
            if answer.ok:
                self._done[token] = _Done(digest, answer, now + _SECONDS)
            return answer
        if previous.digest != digest:
            raise AwsFault(
                "IdempotentParameterMismatchException",
                "Request is a replay of a previous request with different parameters",
            )
        return previous.answer


class Embedded:
    """Keeps nothing on disk. Two engines in one process need different accounts, because moto's state is global."""

    def __init__(self, account: str, region: str, clock: Callable[[], float] = monotonic) -> None:
        self._account = account
        self._region = region
        self._replays = Replays(clock)
        # INVARIANT: one thread. moto loses updates when two requests run concurrently.
        self._thread = ThreadPoolExecutor(1, "moto")
        speed_up()
        streams_with_shards()
        self._app = create_backend_app("dynamodb")
        self._streams = SandboxStreams(lambda: streamed_tables(account, region))

    async def call(self, target: str, body: bytes) -> EngineResponse:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, target, body)

    async def close(self) -> None:
        self._thread.shutdown()
        backends: tuple[BackendDict[Any], ...] = (dynamodb_backends, dynamodbstreams_backends)
        for backend in backends:
            backend.pop(self._account, None)

    def _run(self, target: str, body: bytes) -> EngineResponse:
        api, _, operation = target.partition(".")
        if api == STREAMS_API:
            answer = self._streams.run(operation, json.loads(body))
            return EngineResponse(200, json.dumps(answer, default=_base64).encode())
        if operation == "Query":
            self._check_start(json.loads(body))
        if operation != "TransactWriteItems":
            return self._call(target, body)
        with copied_once(dynamodb_backends[self._account][self._region].tables.values()):
            return self._replays.run(json.loads(body), lambda: self._call(target, body))

    def _check_start(self, body: Mapping[str, Any]) -> None:
        """moto does not compare the start of a page with the keys of the table and the index."""
        start, table = body.get("ExclusiveStartKey"), self._table(body.get("TableName"))
        if start is None or table is None:
            return
        index = next((candidate for candidate in table.all_indexes() if candidate.name == body.get("IndexName")), None)
        schema = [*table.schema, *(index.schema if index is not None else ())]
        names = {key["AttributeName"] for key in schema}
        kinds = {key["AttributeName"]: key["AttributeType"] for key in table.attr}
        check_start_schema(start, {name: kinds[name] for name in names})

    def _table(self, name: Any) -> Any:
        """The table of this name or ARN; None if there is none, which moto reports."""
        tables = dynamodb_backends[self._account][self._region].tables
        return tables.get(name.rpartition("/")[2]) if isinstance(name, str) else None

    def _call(self, target: str, body: bytes) -> EngineResponse:
        scope = f"Credential=SANDBOX/20260101/{self._region}/dynamodb/aws4_request"
        headers = {
            # moto reads only the region from the signature
            "Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=none",
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": target,
            "X-Moto-Account-Id": self._account,
        }
        environ = create_environ(method="POST", headers=headers, data=body)
        content, status, _ = run_wsgi_app(self._app, environ, buffered=True)
        return EngineResponse(int(status.split(" ", 1)[0]), b"".join(content))


def _base64(value: bytes) -> str:
    """Encodes a binary value of a record: moto keeps it decoded, DynamoDB sends it encoded."""
    return base64.b64encode(value).decode()
