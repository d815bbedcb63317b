"""The body of a request, read only as far as it may be long."""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any

from gateway.graph.http.http_error import BodyTooLarge, CallerLeft, HttpError
from gateway.graph.http.packing import GZIP, NotGzip, TooLong, Unpacking

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

_DIGITS = 18  # of a length that is certainly a number


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """The limit holds for what is sent and for what it unpacks to."""
    declared = headers.get(b"content-length")
    if declared is not None and declared.isdigit() and (len(declared) > _DIGITS or int(declared) > limit):
        raise _too_large(limit)
    encoding = headers.get(b"content-encoding")
    unpacking = None if encoding is None else _unpacking(encoding.decode("latin-1"), limit)
    message = await receive()
    if unpacking is None and message["type"] == "http.request" and not message.get("more_body"):
        body: bytes = message.get("body", b"")
        if len(body) > limit:
            raise _too_large(limit)
        return body
    return await _read_pieces(message, receive, unpacking, limit)


async def _read_pieces(message: Message, receive: Receive, unpacking: Unpacking | None, limit: int) -> bytes:
    pieces, sent = [], 0
    try:
        while True:
            if message["type"] != "http.request":
                raise CallerLeft
            piece: bytes = message.get("body", b"")
            sent += len(piece)
            if sent > limit:
                raise _too_large(limit)
            pieces.append(piece if unpacking is None or not piece else unpacking.take(piece))
            if not message.get("more_body"):
                break
            message = await receive()
        if unpacking is not None:
            unpacking.end()
    except TooLong as error:
        raise _too_large(limit) from error
    except NotGzip as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body is not valid gzip") from error
    return b"".join(pieces)


def _unpacking(encoding: str, limit: int) -> Unpacking | None:
    match encoding.strip().lower():
        case "" | "identity":
            return None
        case "gzip" | "x-gzip":
            return Unpacking(limit)
    message = "a body is sent as it is or packed with gzip"
    raise HttpError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message, {"Accept-Encoding": GZIP})


def _too_large(limit: int) -> BodyTooLarge:
    return BodyTooLarge(f"the body is larger than {limit} bytes")
