"""Responses: the status that fits an error, the order of errors, and data that a lane has written already."""

from typing import Any

import pytest
from graphql import ExecutionResult, GraphQLError

from gateway.errors import (
    BadUserInput,
    DeadlineExceeded,
    Forbidden,
    GatewayError,
    Internal,
    LimitExceeded,
    Overloaded,
    Unauthenticated,
    Unavailable,
)
from gateway.graph.http.http_error import HttpError
from gateway.graph.http.log_lines import RequestLog
from gateway.graph.http.request import GRAPHQL_JSON, JSON
from gateway.graph.http.responses import HttpResponse, executed, failed, in_order

LOG = RequestLog("request-1", "trace-1")


def error(*path: str | int, cause: GatewayError | None = None) -> GraphQLError:
    return GraphQLError("it failed", path=path, original_error=cause or Unavailable("later"))


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (Unauthenticated("who are you"), 401, "UNAUTHENTICATED"),
        (Forbidden("no"), 403, "FORBIDDEN"),
        (DeadlineExceeded("too late"), 504, "TIMEOUT"),
        (Unavailable("later"), 503, "UNAVAILABLE"),
        (Internal("a bug"), 500, "INTERNAL"),
        (LimitExceeded("too much"), 400, "LIMIT_EXCEEDED"),
        (BadUserInput("wrong"), 400, "BAD_USER_INPUT"),
        (HttpError(415, "what is this"), 415, "BAD_REQUEST"),
        (RuntimeError("a secret"), 500, "INTERNAL"),
    ],
)
def test_every_failure_has_the_status_that_fits_it(problem: Exception, status: int, code: str) -> None:
    response = failed(problem, LOG, GRAPHQL_JSON)
    assert (response.status, response.codes) == (status, [code])
    assert b"secret" not in response.text()


def test_headers_say_how_to_authenticate_and_when_to_come_back() -> None:
    assert failed(Unauthenticated("who are you"), LOG, JSON).headers == (("WWW-Authenticate", "Bearer"),)
    assert failed(Overloaded("too many", retry_after=3), LOG, JSON).headers == (("Retry-After", "3"),)


def test_errors_are_in_the_order_of_their_places() -> None:
    errors: list[dict[str, Any]] = [{"path": ["b"]}, {"path": ["a", 10]}, {"path": ["a", 9]}, {}]
    assert in_order(errors) == [{}, {"path": ["a", 9]}, {"path": ["a", 10]}, {"path": ["b"]}]


def test_an_operation_without_any_answer_shows_in_the_status_of_the_newer_media_type_alone() -> None:
    nothing = ExecutionResult(data={"user": None}, errors=[error("user")])
    assert executed(nothing, LOG, GRAPHQL_JSON).status == 503
    assert executed(nothing, LOG, JSON).status == 200
    partly = ExecutionResult(data={"user": None, "product": {"name": "x"}}, errors=[error("user")])
    assert executed(partly, LOG, GRAPHQL_JSON).status == 200
    refused = ExecutionResult(data={"user": None}, errors=[error("user", cause=Forbidden("no"))])
    assert executed(refused, LOG, GRAPHQL_JSON).status == 200


def test_an_operation_that_did_not_run_is_a_bad_request() -> None:
    unnamed = ExecutionResult(data=None, errors=[GraphQLError("unknown operation")])
    assert executed(unnamed, LOG, GRAPHQL_JSON).status == 400
    assert executed(unnamed, LOG, JSON).status == 200


def test_data_that_is_written_already_stands_before_the_rest() -> None:
    written = HttpResponse(200, {"errors": []}, data=b'{"user":null}')
    assert written.text() == b'{"data":{"user":null},"errors":[]}'
    assert HttpResponse(200, {"data": {}}).text() == b'{"data":{}}'
    assert HttpResponse(200, {}, headers=(("Retry-After", "1"),)).more_headers(packed=True) == [
        (b"content-encoding", b"gzip"),
        (b"retry-after", b"1"),
    ]
