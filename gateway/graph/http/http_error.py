"""A request that is no GraphQL request, or that nobody waits for any more."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import ClassVar

# as nginx logs it: HTTP has no status for it, since nobody receives one
_CLIENT_CLOSED = 499


class HttpError(Exception):
    """`message` is for the caller."""

    code: ClassVar[str] = "BAD_REQUEST"

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


class BodyTooLarge(HttpError):
    code = "LIMIT_EXCEEDED"

    def __init__(self, message: str) -> None:
        # the rest of the body is not read, so the connection cannot be used again
        super().__init__(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message, {"Connection": "close"})


class CallerLeft(HttpError):
    """Only the log and the metrics tell of it: nobody is there to be answered."""

    code = "CLIENT_CLOSED"

    def __init__(self) -> None:
        super().__init__(_CLIENT_CLOSED, "the caller left before the answer")
