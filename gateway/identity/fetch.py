"""Fetches a key set: one GET, limited in size, without redirects; the caller limits the time."""

import asyncio
import ssl
from http import HTTPStatus
from urllib.parse import SplitResult, urlsplit

import httptools

from gateway.identity.keys import MAX_BYTES

_CHUNK = 64 * 1024


async def fetch(url: str, tls: ssl.SSLContext | None = None) -> bytes:
    """The body of a complete response with status 200; anything else raises. Cancelling it closes the connection."""
    address = urlsplit(url)
    secure = address.scheme != "http"
    if secure and tls is None:
        # Reading the trusted certificates takes tens of milliseconds.
        tls = await asyncio.to_thread(ssl.create_default_context)
    port = address.port or (443 if secure else 80)
    reader, writer = await asyncio.open_connection(address.hostname, port, ssl=tls if secure else None)
    try:
        writer.write(_request(address))
        return await _body(reader)
    finally:
        # Not `close`: a peer that never answers the TLS shutdown would keep the connection open.
        writer.transport.abort()


def _request(address: SplitResult) -> bytes:
    path = (address.path or "/") + (f"?{address.query}" if address.query else "")
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: {address.netloc}",
        "Accept: application/json",
        "Accept-Encoding: identity",
        "Connection: close",
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii")


async def _body(reader: asyncio.StreamReader) -> bytes:
    answer = _KeySetResponse()
    parser = httptools.HttpResponseParser(answer)
    received = 0
    while not answer.complete:
        chunk = await reader.read(_CHUNK)
        received += len(chunk)
        if not chunk:
            raise ConnectionError("answer ended early")
        # Headers count too, so an endless header is also limited.
        if received > MAX_BYTES:
            raise ValueError("answer is too large")
        parser.feed_data(chunk)
    status = parser.get_status_code()
    if status != HTTPStatus.OK:
        raise ValueError(f"answer has status {status}, expected 200")
    return bytes(answer.body)


class _KeySetResponse:
    """Callbacks for httptools."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.complete = False

    def on_body(self, chunk: bytes) -> None:
        self.body += chunk

    def on_message_complete(self) -> None:
        self.complete = True
