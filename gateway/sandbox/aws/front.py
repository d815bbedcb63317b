"""DynamoDB and STS at one address: every request is authenticated and authorized before it runs."""

import json
import logging
from collections.abc import Callable, Sequence
from time import time
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.identity.strict_json import DECODER
from gateway.sandbox.aws.account import Account, KeyHolder, Registry, same_token
from gateway.sandbox.aws.authorizer import Authorizer
from gateway.sandbox.aws.engine import API, STREAMS_API, Engine
from gateway.sandbox.aws.request_checks import check_start, check_types
from gateway.sandbox.aws.responses import AwsFault, json_answer, json_fault, xml_fault
from gateway.sandbox.aws.sigv4 import Claim, Request, read_claim, verify
from gateway.sandbox.aws.sts import SandboxSts

# Authentication: from a signed request to its caller. Failures have the codes and messages of AWS.


def authenticate(request: Request, registry: Registry, scope: tuple[str, str], now: float) -> KeyHolder:
    """`scope` is the region and the API for which the request must be signed."""
    claim = read_claim(request)
    _check_scope(claim, scope)
    caller = registry.find(claim.access_key)
    token = request.header("x-amz-security-token")
    # INVARIANT: the access key of a session is refused without the token of that session.
    if caller is None or not same_token(caller.credentials.session_token, token):
        raise AwsFault("UnrecognizedClientException", "The security token included in the request is invalid.")
    verify(request, claim, caller.credentials.secret_key, now)
    if caller.credentials.expires_at <= now:
        raise AwsFault("ExpiredTokenException", "The security token included in the request is expired")
    return caller


def _check_scope(claim: Claim, scope: tuple[str, str]) -> None:
    region, api = scope
    if claim.region != region:
        message = f"Credential should be scoped to a valid region, not '{claim.region}': the sandbox is in {region}."
        raise AwsFault("InvalidSignatureException", message)
    if claim.api != api:
        raise AwsFault("InvalidSignatureException", f"Credential should be scoped to correct service: '{api}'.")


_log = logging.getLogger(__name__)
_MAX_BODY = 16 * 1024 * 1024
# stops a web page whose host name resolves to this machine (DNS rebinding)
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_UNFORESEEN = AwsFault("InternalServerError", "The request processing has failed because of an unknown error.", 500)


class Front:
    def __init__(self, account: Account, registry: Registry, engine: Engine, clock: Callable[[], float] = time) -> None:
        self._account = account
        self._registry = registry
        self._engine = engine
        self._clock = clock
        self._authorizer = Authorizer(account, engine)
        self._sts = SandboxSts(account, registry, clock)

    def app(self, extra: Sequence[Route] = ()) -> Starlette:
        async def health(request: HttpRequest) -> Response:
            return JSONResponse({"status": "ok"})

        own = [Route("/", self._handle, methods=["POST"]), Route("/healthz", health)]
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=list(_HOSTS), www_redirect=False)
        return Starlette(routes=[*own, *extra], middleware=[hosts])

    async def _handle(self, http: HttpRequest) -> Response:
        is_dynamodb = "x-amz-target" in http.headers
        try:
            request = await _read(http)
            return await self._dynamodb(request) if is_dynamodb else self._query(request)
        except AwsFault as fault:
            return json_fault(fault) if is_dynamodb else xml_fault(fault)
        except Exception:
            _log.exception("a request to the sandbox failed")
            return json_fault(_UNFORESEEN) if is_dynamodb else xml_fault(_UNFORESEEN)

    async def _dynamodb(self, request: Request) -> Response:
        caller = authenticate(request, self._registry, (self._account.region, "dynamodb"), self._clock())
        target = request.header("x-amz-target") or ""
        api, _, operation = target.partition(".")
        if api not in (API, STREAMS_API) or not operation.isalnum():
            raise AwsFault("UnknownOperationException", "")
        body = _strict_json(request.body)
        check_types(operation, body)
        await self._authorizer.check(caller, operation, body)
        check_start(operation, body)
        # INVARIANT: the engine gets the request that was authorized, not the text from which it was parsed.
        answer = await self._engine.call(target, json.dumps(body).encode())
        self._authorizer.forget(operation)
        return json_answer(answer.status, answer.body)

    def _query(self, request: Request) -> Response:
        caller = authenticate(request, self._registry, (self._account.region, "sts"), self._clock())
        return self._sts.answer(caller, request.body)


async def _read(http: HttpRequest) -> Request:
    body = bytearray()
    async for chunk in http.stream():
        body += chunk
        if len(body) > _MAX_BODY:
            raise AwsFault("RequestEntityTooLargeException", "Request size exceeded 16 MB", 413)
    if http.url.query:
        raise AwsFault("IncompleteSignatureException", "The sandbox accepts no query string.")
    headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in http.headers.raw)
    return Request(headers, bytes(body))


def _strict_json(body: bytes) -> dict[str, Any]:
    try:
        content = DECODER.decode(body.decode())
    except (ValueError, RecursionError) as error:
        raise AwsFault("SerializationException", "The request body is not valid JSON") from error
    if not isinstance(content, dict):
        raise AwsFault("SerializationException", "The request body is not a JSON object")
    return content
