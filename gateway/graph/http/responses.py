"""Builds HTTP responses: the result of an operation, or its errors, with the matching status."""

from http import HTTPStatus
from typing import Any

import msgspec
import orjson
from graphql import ExecutionResult

from gateway.errors import (
    BadUserInput,
    DeadlineExceeded,
    Forbidden,
    GatewayError,
    Internal,
    Overloaded,
    Throttled,
    Unauthenticated,
    Unavailable,
)
from gateway.graph.errors import all_shown, failure, shown
from gateway.graph.http.compression import GZIP
from gateway.graph.http.http_error import HttpError
from gateway.graph.http.log_lines import RequestLog, outcome
from gateway.graph.http.request import GRAPHQL_JSON, JSON
from gateway.graph.query.lane.lane import RefusedValue
from gateway.graph.query.operation import ParsedDocument
from gateway.identity.errors import TokenRefused

_STATUS: tuple[tuple[type[GatewayError], HTTPStatus], ...] = (
    (Unauthenticated, HTTPStatus.UNAUTHORIZED),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (DeadlineExceeded, HTTPStatus.GATEWAY_TIMEOUT),
    (Throttled, HTTPStatus.SERVICE_UNAVAILABLE),
    (Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
)

# codes of errors that the caller did not cause
_BROKEN: dict[str, HTTPStatus] = {
    "INTERNAL": HTTPStatus.INTERNAL_SERVER_ERROR,
    "UNAVAILABLE": HTTPStatus.SERVICE_UNAVAILABLE,
    "TIMEOUT": HTTPStatus.GATEWAY_TIMEOUT,
    "THROTTLED": HTTPStatus.SERVICE_UNAVAILABLE,
}

_OK = int(HTTPStatus.OK)
HEADS = {
    media_type: (
        (b"content-type", f"{media_type}; charset=utf-8".encode()),
        (b"cache-control", b"no-store"),
        (b"vary", b"accept, accept-encoding"),
    )
    for media_type in (JSON, GRAPHQL_JSON)
}
_PACKED = (b"content-encoding", GZIP.encode())


class HttpResponse(msgspec.Struct, eq=False):
    """A response; `data` is already encoded if a lane has run the operation, otherwise it is part of `content`."""

    status: int
    content: dict[str, Any]
    media_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    data: bytes | None = None

    def text(self) -> bytes:
        if self.data is None:
            return orjson.dumps(self.content)
        if not self.content:
            return b'{"data":%b}' % self.data
        return b'{"data":%b,%b' % (self.data, orjson.dumps(self.content)[1:])

    @property
    def codes(self) -> list[str]:
        return [error["extensions"]["code"] for error in self.content.get("errors", ())]

    def more_headers(self, *, packed: bool) -> list[tuple[bytes, bytes]]:
        headers = [(name.lower().encode(), value.encode()) for name, value in self.headers]
        return [_PACKED, *headers] if packed else headers


def unread(refused: list[RefusedValue], log: RequestLog) -> dict[str, Any]:
    """Returns the errors for values that a lane has left out."""
    role = log.caller.role if log.caller is not None else None
    errors = [
        {
            "message": f"the role `{role}` may not read `{value.attribute}`",
            "locations": value.locations,
            "path": list(value.path),
            "extensions": {"code": Forbidden.code, "requestId": log.request_id},
        }
        for value in refused
    ]
    return {"errors": in_order(errors)}


def in_order(errors: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sorts errors by their paths, because the order in which fields fail is random."""
    return sorted(errors, key=lambda error: [(isinstance(part, str), part) for part in error.get("path") or ()])


def executed(result: ExecutionResult, log: RequestLog, media_type: str) -> HttpResponse:
    if not result.errors:
        return HttpResponse(_OK, {"data": result.data}, media_type)
    errors = in_order(all_shown(result.errors, log.request_id))
    if result.data is None and not any(error.path for error in result.errors):
        # nothing ran: a variable or the operation name was wrong
        return request_error(errors, media_type)
    status = _broken(result.data, errors)
    if status is not None and (media_type == GRAPHQL_JSON or status is HTTPStatus.GATEWAY_TIMEOUT):
        # with `data` the status would have to be 200, and load balancers would not notice the outage; a request that
        # is cancelled at its deadline returns 504 to every client
        return HttpResponse(status, {"errors": errors}, media_type)
    return HttpResponse(HTTPStatus.OK, {"data": result.data, "errors": errors}, media_type)


def _broken(data: dict[str, Any] | None, errors: list[dict[str, Any]]) -> HTTPStatus | None:
    """Returns the status for an operation that has no data for any field, if the caller did not cause this."""
    codes = [error["extensions"]["code"] for error in errors]
    failed_fields = {error["path"][0] for error in errors if error.get("path")}
    answered = [name for name, value in (data or {}).items() if value is not None or name not in failed_fields]
    if not codes or answered or not all(code in _BROKEN for code in codes):
        return None
    return _BROKEN[outcome(codes)]


def refused(document: ParsedDocument, log: RequestLog, media_type: str) -> HttpResponse:
    return request_error([shown(error, log.request_id, document.code) for error in document.errors], media_type)


def request_error(errors: list[dict[str, Any]], media_type: str) -> HttpResponse:
    # clients that only know application/json treat 4xx as a broken server, so they get 200
    status = HTTPStatus.BAD_REQUEST if media_type == GRAPHQL_JSON else HTTPStatus.OK
    return HttpResponse(status, {"errors": errors}, media_type)


def failed(error: Exception, log: RequestLog, media_type: str) -> HttpResponse:
    """Turns an exception into a GraphQL error response with the matching status."""
    if isinstance(error, HttpError):
        return unreadable(error, log, media_type)
    if isinstance(error, BadUserInput):
        return request_error([failure(error, log.request_id)], media_type)
    log.reason = getattr(error, "reason", None)
    log.refused_grant = error.support if isinstance(error, TokenRefused) else None
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
    if (
        isinstance(error, GatewayError)
        and not isinstance(error, Internal)
        and status is HTTPStatus.INTERNAL_SERVER_ERROR
    ):
        status = HTTPStatus.BAD_REQUEST
    return HttpResponse(status, {"errors": [failure(error, log.request_id)]}, media_type, _headers(error))


def _headers(error: Exception) -> tuple[tuple[str, str], ...]:
    if isinstance(error, Unauthenticated):
        return (("WWW-Authenticate", "Bearer"),)
    if isinstance(error, Overloaded):
        return (("Retry-After", str(error.retry_after)),)
    return ()


def unreadable(error: HttpError, log: RequestLog, media_type: str) -> HttpResponse:
    """Returns the response to a request that is not a valid GraphQL request."""
    content = {"message": error.message, "extensions": {"code": error.code, "requestId": log.request_id}}
    return HttpResponse(error.status, {"errors": [content]}, media_type, tuple(error.headers.items()))
