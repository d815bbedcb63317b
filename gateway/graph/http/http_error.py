"""Errors of the HTTP layer: an invalid GraphQL request, or a client that has disconnected."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import ClassVar

# nginx's status for this case; HTTP has none, because no one receives it
_CLIENT_CLOSED = 499


class HttpError(Exception):
    """Rejects a request with an HTTP status; `message` is shown to the caller."""

    code: ClassVar[str] = "BAD_REQUEST"

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


class BodyTooLarge(HttpError):
    code = "LIMIT_EXCEEDED"

    def __init__(self, message: str) -> None:
        # the rest of the body is not read, so the connection cannot be reused
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, {"Connection": "close"})


class NumberTooLarge(HttpError):
    code = "BAD_USER_INPUT"

    def __init__(self, message: str) -> None:
        super().__init__(HTTPStatus.BAD_REQUEST, message)


class CallerLeft(HttpError):
    """The caller has disconnected. Only the log and the metrics report this."""

    code = "CLIENT_CLOSED"

    def __init__(self) -> None:
        super().__init__(_CLIENT_CLOSED, "the caller left before the answer")
