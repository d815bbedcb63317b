"""What goes back: the result of an operation, or why there is none, with the status that fits it."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from graphql import ExecutionResult

from gateway.errors import DeadlineExceeded, Forbidden, GatewayError, Internal, Throttled, Unauthenticated, Unavailable
from gateway.graph.documents import Document
from gateway.graph.errors import failure, shown
from gateway.graph.http_error import HttpError
from gateway.graph.http_request import GRAPHQL_JSON, JSON
from gateway.graph.journal import Entry, outcome

_STATUS: tuple[tuple[type[GatewayError], HTTPStatus], ...] = (
    (Unauthenticated, HTTPStatus.UNAUTHORIZED),
    (Forbidden, HTTPStatus.FORBIDDEN),
    (DeadlineExceeded, HTTPStatus.GATEWAY_TIMEOUT),
    (Throttled, HTTPStatus.SERVICE_UNAVAILABLE),
    (Unavailable, HTTPStatus.SERVICE_UNAVAILABLE),
)

# codes that are no fault of the caller's
_BROKEN: dict[str, HTTPStatus] = {
    "INTERNAL": HTTPStatus.INTERNAL_SERVER_ERROR,
    "UNAVAILABLE": HTTPStatus.SERVICE_UNAVAILABLE,
    "TIMEOUT": HTTPStatus.GATEWAY_TIMEOUT,
    "THROTTLED": HTTPStatus.SERVICE_UNAVAILABLE,
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back: `data` is None where nothing was executed."""

    status: int
    content: dict[str, Any]
    media_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def codes(self) -> list[str]:
        return [error["extensions"]["code"] for error in self.content.get("errors", ())]


def executed(result: ExecutionResult, entry: Entry, media_type: str) -> Answer:
    errors = [shown(error, entry.request_id) for error in result.errors or ()]
    if result.data is None and not any(error.path for error in result.errors or ()):
        # nothing ran: a variable or the operation name was wrong
        return request_error(errors, media_type)
    if media_type == GRAPHQL_JSON and (status := _broken(result.data, errors)) is not None:
        # with `data` the status would have to be 200, and no load balancer would see that nothing works
        return Answer(status, {"errors": errors}, media_type)
    content: dict[str, Any] = {"data": result.data}
    if errors:
        content["errors"] = errors
    return Answer(HTTPStatus.OK, content, media_type)


def _broken(data: dict[str, Any] | None, errors: list[dict[str, Any]]) -> HTTPStatus | None:
    """The status of an operation that has no answer to any of its fields, through no fault of the caller's."""
    codes = [error["extensions"]["code"] for error in errors]
    failed_fields = {error["path"][0] for error in errors if error.get("path")}
    answered = [name for name, value in (data or {}).items() if value is not None or name not in failed_fields]
    if not codes or answered or not all(code in _BROKEN for code in codes):
        return None
    return _BROKEN[outcome(codes)]


def refused(document: Document, entry: Entry, media_type: str) -> Answer:
    return request_error([shown(error, entry.request_id, document.code) for error in document.errors], media_type)


def request_error(errors: list[dict[str, Any]], media_type: str) -> Answer:
    # clients that only know application/json treat 4xx as a broken server, so they get 200
    status = HTTPStatus.BAD_REQUEST if media_type == GRAPHQL_JSON else HTTPStatus.OK
    return Answer(status, {"errors": errors}, media_type)


def failed(error: Exception, entry: Entry, media_type: str) -> Answer:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)
    if (
        isinstance(error, GatewayError)
        and not isinstance(error, Internal)
        and status is HTTPStatus.INTERNAL_SERVER_ERROR
    ):
        status = HTTPStatus.BAD_REQUEST
    headers = (("WWW-Authenticate", "Bearer"),) if status is HTTPStatus.UNAUTHORIZED else ()
    return Answer(status, {"errors": [failure(error, entry.request_id)]}, media_type, headers)


def unreadable(error: HttpError, entry: Entry, media_type: str) -> Answer:
    """A request that is none."""
    content = {"message": error.message, "extensions": {"code": error.code, "requestId": entry.request_id}}
    return Answer(error.status, {"errors": [content]}, media_type, tuple(error.headers.items()))
