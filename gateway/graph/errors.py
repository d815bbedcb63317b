"""The only place where failures become GraphQL errors: known ones with their code, unknown ones masked and logged."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from graphql import GraphQLError

from gateway.errors import GatewayError, Internal, Overloaded

LOG = logging.getLogger("gateway.failure")
MASKED = "something went wrong on our side; include the request id when you report it"

_MAX_MESSAGE = 1_000
_TRACES = 5  # of one response; a damaged item that is asked for under many names fails everywhere for the same reason


def all_shown(errors: Iterable[GraphQLError], request_id: str) -> list[dict[str, Any]]:
    """The errors of an operation as the caller sees them; only the first failures are logged with their trace."""
    entries, unexpected = [], 0
    for error in errors:
        entries.append(shown(error, request_id, logged=unexpected < _TRACES))
        unexpected += entries[-1]["extensions"]["code"] == Internal.code
    if unexpected > _TRACES:
        fields = {"failures": unexpected, "traces": _TRACES}
        LOG.error("more failures in the same response", extra={"request_id": request_id, "fields": fields})
    return entries


def shown(error: GraphQLError, request_id: str, code: str = "", *, logged: bool = True) -> dict[str, Any]:
    """An error of graphql-core as the caller sees it; `code` is used for errors of the document."""
    entry: dict[str, Any] = error.formatted  # type: ignore[assignment]  # a typed dict
    cause: Exception | None = error
    while isinstance(cause, GraphQLError):
        cause = cause.original_error
    if cause is None:
        message, code = _shortened(error.message), code or "BAD_USER_INPUT"
    else:
        message, code = _public(cause, request_id, error.path, logged=logged)
        if not error.path and message is not MASKED:
            # the error is about an argument, and only graphql-core's message names it
            message = error.message
    return {**entry, "message": message, "extensions": {"code": code, "requestId": request_id}}


def failure(error: Exception, request_id: str) -> dict[str, Any]:
    """A failure outside of any field, in the same form."""
    message, code = _public(error, request_id)
    extensions: dict[str, Any] = {"code": code, "requestId": request_id}
    if isinstance(error, Overloaded):
        extensions["retryAfter"] = error.retry_after
    return {"message": message, "extensions": extensions}


def _public(
    error: Exception, request_id: str, path: Sequence[str | int] | None = None, *, logged: bool = True
) -> tuple[str, str]:
    """The message and the code that the caller may see; the rest goes to the log."""
    if isinstance(error, GatewayError) and not isinstance(error, Internal):
        return error.message, error.code
    if logged:
        fields = {} if path is None else {"path": _shortened(".".join(map(str, path)))}
        LOG.error("unexpected failure", exc_info=error, extra={"request_id": request_id, "fields": fields})
    return MASKED, Internal.code


def _shortened(message: str) -> str:
    # graphql-core repeats names and values as they were sent, which can be as long as a request
    return message if len(message) <= _MAX_MESSAGE else f"{message[:_MAX_MESSAGE]}..."
