"""Errors in the form that callers see: codes of known failures, nothing of unknown ones."""

import logging
from typing import Any

import pytest
from graphql import GraphQLError

from gateway.errors import BadUserInput, Forbidden, Internal, IsolationBreach, Overloaded
from gateway.graph.errors import MASKED, all_shown, failure, shown

SECRET = "the row of globex: 4711"


def of_field(cause: Exception) -> GraphQLError:
    return GraphQLError(str(cause), path=["order", "note"], original_error=cause)


def code(error: dict[str, Any]) -> Any:
    return error["extensions"]["code"]


def test_a_known_failure_has_its_code_message_path_and_request_id() -> None:
    error = shown(of_field(Forbidden("the role may not read `note`")), "r-1")
    assert error["message"] == "the role may not read `note`"
    assert error["path"] == ["order", "note"]
    assert error["extensions"] == {"code": "FORBIDDEN", "requestId": "r-1"}


@pytest.mark.parametrize("cause", [ValueError(SECRET), Internal(SECRET), IsolationBreach(SECRET)])
def test_an_unknown_failure_is_masked_and_logged(cause: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "gateway.failure"):
        errors = [shown(of_field(cause), "r-1"), shown(GraphQLError(SECRET, original_error=cause), "r-1")]
        errors.append(failure(cause, "r-1"))
    assert [(error["message"], code(error)) for error in errors] == [(MASKED, "INTERNAL")] * 3
    assert SECRET not in str(errors)
    assert [record.__dict__["request_id"] for record in caplog.records] == ["r-1"] * 3
    assert [record.__dict__["fields"] for record in caplog.records] == [{"path": "order.note"}, {}, {}]
    assert SECRET in caplog.text


def test_the_cause_is_found_behind_several_errors_of_graphql_core() -> None:
    wrapped = GraphQLError("outer", path=["order"], original_error=of_field(Forbidden("no")))
    assert (shown(wrapped, "r")["message"], code(shown(wrapped, "r"))) == ("no", "FORBIDDEN")


def test_without_a_path_the_message_is_the_one_that_names_the_argument() -> None:
    error = shown(GraphQLError("Variable '$at' is wrong", original_error=BadUserInput("a DateTime must ...")), "r")
    assert (error["message"], code(error)) == ("Variable '$at' is wrong", "BAD_USER_INPUT")


def test_an_error_of_graphql_core_has_the_code_of_its_document_and_a_bounded_length() -> None:
    error = shown(GraphQLError("x" * 5_000), "r", "GRAPHQL_VALIDATION_FAILED")
    assert code(error) == "GRAPHQL_VALIDATION_FAILED"
    assert error["message"] == "x" * 1_000 + "..."
    assert code(shown(GraphQLError("wrong variable"), "r")) == "BAD_USER_INPUT"


def test_an_overloaded_gateway_says_when_to_retry() -> None:
    assert failure(Overloaded("the gateway is overloaded", 7), "r")["extensions"] == {
        "code": "THROTTLED",
        "requestId": "r",
        "retryAfter": 7,
    }


def test_many_failures_of_a_response_are_logged_with_a_few_traces(caplog: pytest.LogCaptureFixture) -> None:
    errors = [GraphQLError("", path=[f"a{number}"], original_error=KeyError("damaged")) for number in range(100)]
    with caplog.at_level(logging.ERROR):
        entries = all_shown(errors, "r-1")
    assert [entry["extensions"]["code"] for entry in entries] == ["INTERNAL"] * 100
    assert sum(record.exc_info is not None for record in caplog.records) == 5
    assert caplog.records[-1].__dict__["fields"] == {"failures": 100, "traces": 5}
