"""Errors of STS: all mapped, none of them a way around."""

from typing import Any

import pytest
from botocore.retries.standard import ThrottledRetryableChecker
from botocore.session import get_session

from gateway.aws.sts.error_codes import RULES, failure, own_missing, own_rejected, unanswered
from gateway.aws.wire.errors import (
    AccessDenied,
    AnswerCorrupt,
    AnswerLate,
    AwsError,
    AwsUnavailable,
    ConnectionBroken,
    Retry,
)
from gateway.aws.wire.response import AwsResponse
from gateway.errors import DeadlineExceeded, Forbidden, GatewayError, Internal, Throttled, Unavailable
from tests.aws.sts_wire import refusal_text


def refused(code: str, status: int = 400) -> AwsError:
    return failure(AwsResponse(status, {}, refusal_text(code).encode()))


def modelled_codes() -> list[str]:
    operation = get_session().get_service_model("sts").operation_model("AssumeRole")
    shapes: list[Any] = operation.error_shapes
    return [shape.error_code for shape in shapes]


def test_every_error_of_assume_role_is_mapped() -> None:
    codes = modelled_codes()
    assert len(codes) >= 4
    assert [code for code in codes if code not in RULES] == []


def test_every_throttling_code_that_botocore_knows_is_throttling() -> None:
    checker: Any = ThrottledRetryableChecker
    codes = checker._THROTTLED_ERROR_CODES
    assert "Throttling" in codes
    assert [code for code in codes if not issubclass(RULES[code].error, Throttled)] == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("AccessDenied", Forbidden),
        ("MalformedPolicyDocument", Internal),
        ("PackedPolicyTooLarge", Internal),
        ("ValidationError", Internal),
        ("RegionDisabledException", Unavailable),
        ("ExpiredTokenException", Unavailable),
        ("ExpiredToken", Unavailable),
        ("InvalidClientTokenId", Unavailable),
        ("SignatureDoesNotMatch", Unavailable),
        ("Throttling", Throttled),
        ("InternalFailure", Unavailable),
    ],
)
def test_a_code_becomes_the_error_that_shows_whose_fault_it_is(code: str, expected: type[GatewayError]) -> None:
    assert isinstance(refused(code), expected)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(429, Throttled), (401, Forbidden), (403, Forbidden), (400, Internal), (500, Unavailable), (302, Unavailable)],
)
def test_an_unknown_code_is_classified_by_its_status(status: int, expected: type[GatewayError]) -> None:
    assert isinstance(refused("BrandNewException", status), expected)


@pytest.mark.parametrize("body", [b"", b"<html>proxy", b"<ErrorResponse/>", b"<!DOCTYPE a><a/>", b"\xff"])
def test_an_empty_error_is_classified_by_its_status(body: bytes) -> None:
    assert isinstance(failure(AwsResponse(503, {}, body)), AwsUnavailable)
    assert isinstance(failure(AwsResponse(403, {}, body)), AccessDenied)


@pytest.mark.parametrize(
    ("code", "status", "retry"),
    [
        ("Throttling", 400, Retry.THROTTLED),
        ("InternalFailure", 500, Retry.TRANSIENT),
        ("BrandNewException", 502, Retry.TRANSIENT),
        ("ExpiredToken", 403, Retry.NEVER),
        ("SignatureDoesNotMatch", 403, Retry.SKEWED),
        ("AccessDenied", 403, Retry.NEVER),
        ("PackedPolicyTooLarge", 400, Retry.NEVER),
    ],
)
def test_only_what_may_pass_is_tried_again(code: str, status: int, retry: Retry) -> None:
    assert refused(code, status).retry is retry


def test_what_aws_said_is_kept_for_the_log_and_not_shown() -> None:
    error = refused("AccessDenied", 403)
    assert isinstance(error, AccessDenied)
    assert (error.aws_code, error.request_id) == ("AccessDenied", "request-1")
    assert "arn:" in error.detail
    assert "arn:" not in error.message


@pytest.mark.parametrize("code", ["ExpiredToken", "InvalidClientTokenId", "SignatureDoesNotMatch"])
def test_own_credentials_that_aws_refuses_are_noticed(code: str) -> None:
    assert own_rejected(refused(code, 403))
    assert not own_rejected(refused("AccessDenied", 403))


def test_trouble_with_the_gateways_own_credentials_is_no_verdict_about_the_tenant() -> None:
    error = own_missing(PermissionError("AccessDenied"))
    assert isinstance(error, AwsUnavailable)
    assert "own credentials" in error.message


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (AnswerLate("the database did not answer in time"), AnswerLate),
        (DeadlineExceeded("the database did not answer before the deadline"), AnswerLate),
        (ConnectionBroken("the connection to the database broke"), ConnectionBroken),
        (AnswerCorrupt("the database's answer is too large"), AnswerCorrupt),
    ],
)
def test_what_keeps_sts_from_answering_is_reported_in_words_about_sts(
    error: GatewayError, expected: type[GatewayError]
) -> None:
    raised = unanswered(error)
    assert type(raised) is expected
    assert "sts" in raised.message
    assert "database" not in raised.message


def test_what_sts_said_stays_as_it_is() -> None:
    for code in RULES:
        error = refused(code)
        assert isinstance(error, Forbidden | Throttled | Unavailable | Internal)
        assert unanswered(error) is error
