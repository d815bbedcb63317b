"""A request that is no GraphQL request."""

from collections.abc import Mapping
from http import HTTPStatus


class HttpError(Exception):
    """`message` is for the caller."""

    def __init__(self, status: HTTPStatus, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
