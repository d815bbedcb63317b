"""Another engine, such as DynamoDB Local or MiniStack: requests are signed anew and sent there."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError
from botocore.httpsession import URLLib3Session

from gateway.sandbox.aws.engine import EngineResponse
from gateway.sandbox.aws.responses import AwsFault

_CONNECTIONS = 16
_SECONDS = 30


class Forwarded:
    def __init__(self, url: str, region: str) -> None:
        self._url = url.rstrip("/") + "/"
        # always the same key: DynamoDB Local without -sharedDb keeps one database for each
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
            message = f"the engine at {self._url} does not answer"
            raise AwsFault("ServiceUnavailable", message, status=503) from error
        return EngineResponse(answer.status_code, answer.content)
