"""The one place where failures become GraphQL errors: known ones with their code, unknown ones masked and logged."""

import logging
from typing import Any

from graphql import GraphQLError

from gateway.errors import GatewayError, Internal, Overloaded

LOG = logging.getLogger("gateway.failure")
MASKED = "something went wrong on our side; quote the request id when you report it"

_LONGEST = 1_000


def shown(error: GraphQLError, request_id: str, code: str = "") -> dict[str, Any]:
    """One error as the caller sees it."""
    entry: dict[str, Any] = error.formatted  # type: ignore[assignment]  # a typed dict
    cause: Exception | None = error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    if isinstance(cause, GatewayError) and not isinstance(cause, Internal):
        # without a path it is about an argument, and the error says which
        message, code = (cause.message if error.path else error.message), cause.code
    elif cause is None:
        message, code = _short(error.message), code or "BAD_USER_INPUT"
    else:
        LOG.error("unexpected failure", exc_info=cause, extra={"request_id": request_id})
        message, code = MASKED, "INTERNAL"
    return {**entry, "message": message, "extensions": {"code": code, "requestId": request_id}}


def _short(message: str) -> str:
    # graphql-core repeats names and values as they were sent, and they may be as long as a request
    return message if len(message) <= _LONGEST else f"{message[:_LONGEST]}..."


def failure(error: Exception, request_id: str) -> dict[str, Any]:
    """A failure outside any field, in the same form."""
    if isinstance(error, GatewayError) and not isinstance(error, Internal):
        message, code = error.message, error.code
    else:
        LOG.error("unexpected failure", exc_info=error, extra={"request_id": request_id})
        message, code = MASKED, "INTERNAL"
    extensions: dict[str, Any] = {"code": code, "requestId": request_id}
    if isinstance(error, Overloaded):
        extensions["retryAfter"] = error.retry_after
    return {"message": message, "extensions": extensions}
