"""Requests that are no GraphQL requests: the status, the code and the headers of each."""

from gateway.graph.http.http_error import BodyTooLarge, CallerLeft, HttpError


def test_an_error_has_a_status_and_a_message_for_the_caller() -> None:
    error = HttpError(405, "use POST", {"Allow": "POST"})
    assert (error.status, error.message, error.code, error.headers) == (
        405,
        "use POST",
        "BAD_REQUEST",
        {"Allow": "POST"},
    )
    assert HttpError(400, "no").headers == {}


def test_a_body_that_is_too_large_closes_the_connection_because_the_rest_of_it_is_unread() -> None:
    error = BodyTooLarge("too large")
    assert (error.status, error.code, error.headers) == (413, "LIMIT_EXCEEDED", {"Connection": "close"})


def test_a_caller_who_left_has_a_status_for_the_log_alone() -> None:
    assert (CallerLeft().status, CallerLeft().code) == (499, "CLIENT_CLOSED")
