"""The body of a request, read only as far as it may be long."""

from http import HTTPStatus

from starlette.requests import ClientDisconnect, Request

from gateway.graph.http.http_error import HttpError
from gateway.graph.http.packing import GZIP, NotGzip, TooLong, Unpacking


async def read_body(request: Request, limit: int) -> bytes:
    """The limit holds for what is sent and for what it unpacks to."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit:
        raise _too_large(limit)
    unpacking = _unpacking(request.headers.get("content-encoding", ""), limit)
    pieces, sent = [], 0
    try:
        async for piece in request.stream():
            sent += len(piece)
            if sent > limit:
                raise _too_large(limit)
            pieces.append(piece if unpacking is None else unpacking.take(piece))
        if unpacking is not None:
            unpacking.end()
    except ClientDisconnect as error:
        raise HttpError(HTTPStatus.BAD_REQUEST, "the body ended too early") from error
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


def _too_large(limit: int) -> HttpError:
    # the rest of the body is not read, so the connection cannot be used again
    message = f"the body is larger than {limit} bytes"
    return HttpError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, {"Connection": "close"})
