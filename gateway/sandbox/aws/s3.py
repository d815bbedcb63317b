"""S3 in memory, as far as files need it: verifies signed addresses, and authorizes requests as AWS does.

PUT, GET and HEAD of an object, and its tags; every request must have its signature in the query.
"""

import hashlib
import hmac
import re
from base64 import b64encode
from calendar import timegm
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import strptime
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from gateway.iam.language.evaluator import evaluate
from gateway.iam.language.verdict import Allow, Authorisation
from gateway.sandbox.aws.account import Account, KeyHolder, Registry, same_token
from gateway.sandbox.aws.responses import element, request_id
from gateway.sandbox.aws.sigv4 import signature_of

MAX_BYTES: Final = 100_000_000
_STAMP: Final = "%Y%m%dT%H%M%SZ"
_LONGEST: Final = 604_800
_TAG: Final = re.compile(rb"<Key>([^<]*)</Key>\s*<Value>([^<]*)</Value>")
_METHODS: Final = {"PUT": "s3:PutObject", "GET": "s3:GetObject", "HEAD": "s3:GetObject"}
# a front end on this machine may use the addresses
_CORS: Final = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, HEAD, PUT",
    "access-control-allow-headers": "*",
    "access-control-max-age": "600",
}


class S3Fault(Exception):
    """An error response of S3."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class KeptObject:
    body: bytes = field(repr=False)
    content_type: str
    sha256: str
    tags: Mapping[str, str]


class SandboxS3:
    """`objects` are keyed by bucket and key; `buckets` are those that exist."""

    def __init__(self, account: Account, registry: Registry, clock: Callable[[], float], *buckets: str) -> None:
        self._account = account
        self._registry = registry
        self._clock = clock
        self._buckets = frozenset(buckets)
        self.objects: dict[tuple[str, str], KeptObject] = {}

    def routes(self) -> list[Route]:
        return [Route("/{bucket}/{key:path}", self._answer, methods=["PUT", "GET", "OPTIONS"])]

    async def _answer(self, http: HttpRequest) -> Response:
        if http.method == "OPTIONS":
            return Response(status_code=204, headers=_CORS)
        try:
            return await self._run(http)
        except S3Fault as fault:
            error = element("Code", fault.code) + element("Message", str(fault)) + element("RequestId", request_id())
            body = "" if http.method == "HEAD" else f"<Error>{error}</Error>"
            return Response(body, fault.status, _CORS, media_type="application/xml")

    async def _run(self, http: HttpRequest) -> Response:
        # the path as it was sent: starlette has decoded it once, as S3 would
        bucket, _, quoted = http.scope["raw_path"].decode("latin-1").lstrip("/").partition("/")
        key, query = unquote(quoted), dict(parse_qsl(http.url.query, keep_blank_values=True))
        caller = self._verified(http, quoted and f"/{bucket}/{quoted}", query)
        tagging = "tagging" in query
        actions = ["s3:PutObjectTagging"] if tagging else [_METHODS[http.method]]
        if "x-amz-tagging" in http.headers:
            actions.append("s3:PutObjectTagging")
        for action in actions:
            _authorize(caller, action, f"arn:aws:s3:::{bucket}/{key}")
        if bucket not in self._buckets:
            raise S3Fault(404, "NoSuchBucket", "The specified bucket does not exist")
        if http.method == "PUT":
            return await (self._tag(http, bucket, key) if tagging else self._put(http, bucket, key))
        return self._get(bucket, key, query, whole=http.method == "GET")

    def _verified(self, http: HttpRequest, path: str, query: Mapping[str, str]) -> KeyHolder:
        """The caller who signed the address; the checks have the same order as in S3."""
        try:
            access_key, *scope = query["X-Amz-Credential"].split("/")
            stamp, left, signature = query["X-Amz-Date"], int(query["X-Amz-Expires"]), query["X-Amz-Signature"]
            names = query["X-Amz-SignedHeaders"].split(";")
            signed_at = timegm(strptime(stamp, _STAMP))
        except (KeyError, ValueError) as error:
            raise S3Fault(403, "AccessDenied", "Access Denied: the request is not signed") from error
        if (
            scope[1:] != [self._account.region, "s3", "aws4_request"]
            or scope[0] != stamp[:8]
            or not 1 <= left <= _LONGEST
        ):
            raise S3Fault(400, "AuthorizationQueryParametersError", "The scope of the signature is wrong")
        now = self._clock()
        if now > signed_at + left or signed_at > now + 300:
            raise S3Fault(403, "AccessDenied", "Request has expired")
        caller = self._registry.find(access_key)
        if caller is None or not same_token(caller.credentials.session_token, query.get("X-Amz-Security-Token")):
            raise S3Fault(403, "InvalidAccessKeyId", "The access key or its session token is not known")
        # INVARIANT: every header of S3's own is signed, so that no caller can add a tag or an encryption.
        loose = [name for name in http.headers if name.startswith("x-amz-") and name not in names]
        if "host" not in names or loose:
            raise S3Fault(403, "AccessDenied", f"There were headers present which were not signed: {', '.join(loose)}")
        if not hmac.compare_digest(_signature(http, path, query, names, caller.credentials.secret_key), signature):
            message = "The request signature we calculated does not match the signature you provided"
            raise S3Fault(403, "SignatureDoesNotMatch", message)
        if caller.credentials.expires_at <= now:
            raise S3Fault(400, "ExpiredToken", "The provided token has expired.")
        return caller

    async def _put(self, http: HttpRequest, bucket: str, key: str) -> Response:
        if http.headers.get("if-none-match") == "*" and (bucket, key) in self.objects:
            raise S3Fault(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        body = await _body(http)
        digest = b64encode(hashlib.sha256(body).digest()).decode()
        if http.headers.get("x-amz-checksum-sha256", digest) != digest:
            raise S3Fault(400, "BadDigest", "The SHA256 you specified did not match the calculated checksum.")
        tags = dict(parse_qsl(http.headers.get("x-amz-tagging", "")))
        kind = http.headers.get("content-type", "binary/octet-stream")
        self.objects[bucket, key] = KeptObject(body, kind, digest, tags)
        return Response(status_code=200, headers={**_CORS, "x-amz-checksum-sha256": digest})

    async def _tag(self, http: HttpRequest, bucket: str, key: str) -> Response:
        kept = self._object(bucket, key)
        pairs = _TAG.findall(await _body(http))
        self.objects[bucket, key] = replace(kept, tags={name.decode(): value.decode() for name, value in pairs})
        return Response(status_code=200)

    def _get(self, bucket: str, key: str, query: Mapping[str, str], *, whole: bool) -> Response:
        kept = self._object(bucket, key)
        headers: dict[str, Any] = {
            **_CORS,
            "content-type": query.get("response-content-type", kept.content_type),
            "x-amz-checksum-sha256": kept.sha256,
        }
        if "response-content-disposition" in query:
            headers["content-disposition"] = query["response-content-disposition"]
        if whole:
            return Response(kept.body, headers=headers)
        return Response(headers={**headers, "content-length": str(len(kept.body))})

    def _object(self, bucket: str, key: str) -> KeptObject:
        kept = self.objects.get((bucket, key))
        if kept is None:
            # without permission to list the bucket, S3 does not reveal that a key is missing
            raise S3Fault(403, "AccessDenied", "Access Denied")
        return kept


def _authorize(caller: KeyHolder, action: str, resource: str) -> None:
    if caller.policies is None:
        return
    verdict = evaluate(caller.policies, Authorisation(action, resource, caller.principal))
    # INVARIANT: only an `Allow` lets a request through.
    if not isinstance(verdict, Allow):
        raise S3Fault(403, "AccessDenied", f"User: {caller.arn} is not authorized to perform: {action}")


def _signature(http: HttpRequest, path: str, query: Mapping[str, str], names: list[str], secret: str) -> str:
    parameters = sorted((name, text) for name, text in query.items() if name != "X-Amz-Signature")
    written = "&".join(f"{quote(name, safe='-_.~')}={quote(text, safe='-_.~')}" for name, text in parameters)
    head = "".join(f"{name}:{' '.join(http.headers.get(name, '').split())}\n" for name in sorted(names))
    canonical = f"{http.method}\n{path}\n{written}\n{head}\n{';'.join(names)}\nUNSIGNED-PAYLOAD"
    scope = query["X-Amz-Credential"].split("/", 1)[1]
    return signature_of(canonical.encode(), query["X-Amz-Date"], scope, secret)


async def _body(http: HttpRequest) -> bytes:
    """The body, as long as its signed header says; a sandbox keeps no large files."""
    body = bytearray()
    async for chunk in http.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise S3Fault(400, "EntityTooLarge", f"The sandbox keeps files of up to {MAX_BYTES:,} bytes")
    return bytes(body)
