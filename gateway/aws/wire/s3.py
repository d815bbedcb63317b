"""S3: signed URLs of objects, and the two calls that the gateway makes itself.

A signed URL has its signature in the query string (signature version 4): anyone who has it may make that one request
until it expires, with exactly the values that were signed for its headers.
"""

import asyncio
import hashlib
import hmac
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final
from urllib.parse import quote, urlsplit

import httptools

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AccessDenied, AwsUnavailable
from gateway.errors import Unavailable

_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_ANSWER_BYTES: Final = 64 * 1024
_SECONDS: Final = 5.0
_OWN_SECONDS: Final = 60  # for which the URLs of the gateway's own calls are signed
_UNMARKED: Final = b"<Tagging><TagSet></TagSet></Tagging>"
_MARKED: Final = b"<Tagging><TagSet><Tag><Key>state</Key><Value>unused</Value></Tag></TagSet></Tagging>"
UNUSED: Final = "state=unused"
"""The tag of an object that no item refers to; the bucket's lifecycle removes what has it for a day."""


@dataclass(frozen=True, slots=True)
class FileBucket:
    """`target` is the endpoint of S3; a configured one is called with the bucket in the path.

    `seconds` is how long a URL is valid.
    """

    name: str
    target: AwsTarget
    in_path: bool = False
    seconds: int = 300

    @property
    def address(self) -> str:
        if self.in_path:
            return f"{self.target.url.rstrip('/')}/{self.name}"
        scheme, _, host = self.target.url.rstrip("/").partition("://")
        return f"{scheme}://{self.name}.{host}"


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """The request that a URL was signed for; its headers must be sent unchanged."""

    method: str
    url: str
    headers: Mapping[str, str]
    expires_at: float


@dataclass(frozen=True, slots=True)
class StoredObject:
    size: int
    content_type: str
    sha256: str


def signed(
    bucket: FileBucket,
    method: str,
    key: str,
    credentials: Credentials,
    *,
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    seconds: int | None = None,
    now: float | None = None,
) -> SignedRequest:
    """Signs a request. The URL is valid for `seconds`, but never longer than the credentials."""
    moment = time.time() if now is None else now
    left = int(min(bucket.seconds if seconds is None else seconds, credentials.expires_at - moment))
    if left < 1:
        raise Unavailable("the session is over; ask again")
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(moment))
    scope = f"{stamp[:8]}/{bucket.target.region}/s3/aws4_request"
    address = urlsplit(f"{bucket.address}/{quote(key, safe='/-_.~')}")
    lines = {
        "host": address.netloc,
        **{name.lower(): " ".join(value.split()) for name, value in (headers or {}).items()},
    }
    names = ";".join(sorted(lines))
    parameters = {
        **(query or {}),
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{credentials.access_key}/{scope}",
        "X-Amz-Date": stamp,
        "X-Amz-Expires": str(left),
        "X-Amz-SignedHeaders": names,
        **({"X-Amz-Security-Token": credentials.session_token} if credentials.session_token else {}),
    }
    written = "&".join(
        f"{quote(name, safe='-_.~')}={quote(text, safe='-_.~')}" for name, text in sorted(parameters.items())
    )
    head = "".join(f"{name}:{lines[name]}\n" for name in sorted(lines))
    canonical = f"{method}\n{address.path}\n{written}\n{head}\n{names}\nUNSIGNED-PAYLOAD"
    to_sign = f"{_ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    signature = hmac.digest(_key(credentials.secret_key, scope), to_sign.encode(), "sha256").hex()
    url = f"{address.scheme}://{address.netloc}{address.path}?{written}&X-Amz-Signature={signature}"
    return SignedRequest(method, url, dict(headers or {}), int(moment) + left)


def _key(secret: str, scope: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


async def stored(bucket: FileBucket, key: str, credentials: Credentials) -> StoredObject | None:
    """Returns the object at this key; None if there is none."""
    checked = {"x-amz-checksum-mode": "ENABLED"}
    request = signed(bucket, "HEAD", key, credentials, headers=checked, seconds=_OWN_SECONDS)
    status, headers = await _send(request, b"")
    # AWS returns 403 for a missing object if the caller may not list the bucket
    if status in (403, 404):
        return None
    if status != 200:
        raise _refused(status)
    size, kind = headers.get(b"content-length", b""), headers.get(b"content-type", b"")
    return StoredObject(
        int(size or 0), kind.decode("latin-1"), headers.get(b"x-amz-checksum-sha256", b"").decode("latin-1")
    )


async def mark(bucket: FileBucket, key: str, credentials: Credentials, *, unused: bool) -> None:
    """Marks whether an item refers to the object; the bucket's lifecycle removes unused objects."""
    body = _MARKED if unused else _UNMARKED
    digest = hashlib.sha256(body).digest()
    headers = {"x-amz-checksum-sha256": b64encode(digest).decode()}
    request = signed(bucket, "PUT", key, credentials, headers=headers, query={"tagging": ""}, seconds=_OWN_SECONDS)
    status, _ = await _send(request, body)
    if status not in (200, 204):
        raise _refused(status)


def _refused(status: int) -> AccessDenied | AwsUnavailable:
    if status == 403:
        return AccessDenied("aws refuses this action on the file")
    return AwsUnavailable("the files are not available")


async def _send(request: SignedRequest, body: bytes) -> tuple[int, Mapping[bytes, bytes]]:
    """Returns the status and headers without reading the body; opens a connection, because calls are rare."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await _exchange(request, body)
    except (OSError, TimeoutError, httptools.HttpParserError) as error:
        raise AwsUnavailable("the files cannot be reached") from error


async def _exchange(request: SignedRequest, body: bytes) -> tuple[int, Mapping[bytes, bytes]]:
    address = urlsplit(request.url)
    secure = address.scheme == "https"
    reader, writer = await asyncio.open_connection(
        address.hostname, address.port or (443 if secure else 80), ssl=_tls() if secure else None
    )
    try:
        lines = [f"{request.method} {address.path}?{address.query} HTTP/1.1", f"Host: {address.netloc}"]
        lines += [f"{name}: {value}" for name, value in request.headers.items()]
        lines += ["Connection: close", *([f"Content-Length: {len(body)}"] if body else ())]
        writer.write("\r\n".join((*lines, "", "")).encode("ascii") + body)
        return await _head(reader)
    finally:
        writer.transport.abort()


async def _head(reader: asyncio.StreamReader) -> tuple[int, Mapping[bytes, bytes]]:
    answer = _Head()
    parser = httptools.HttpResponseParser(answer)
    received = 0
    while not answer.complete:
        chunk = await reader.read(_ANSWER_BYTES)
        received += len(chunk)
        if not chunk or received > _ANSWER_BYTES:
            raise ConnectionError("the answer ended early or is too large")
        parser.feed_data(chunk)
    return parser.get_status_code(), answer.headers


class _Head:
    """Receives the callbacks of httptools."""

    def __init__(self) -> None:
        self.headers: dict[bytes, bytes] = {}
        self.complete = False

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self.complete = True


@cache
def _tls() -> ssl.SSLContext:
    # INVARIANT: certificates and host names are verified.
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
