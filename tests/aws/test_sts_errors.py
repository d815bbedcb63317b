"""Errors of STS: all mapped, none of them a way around."""

from typing import Any

import botocore.exceptions
import pytest
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    ReadTimeoutError,
)
from botocore.retries.standard import ThrottledRetryableChecker
from botocore.session import get_session

from gateway.aws.errors import AccessDenied, AnswerLate, AwsUnavailable, ConnectionBroken, InvalidRequest
from gateway.aws.sts_errors import RULES, answered, unanswered
from gateway.errors import Forbidden, GatewayError, Internal, Throttled, Unavailable


def client_error(code: str, status: int = 400, operation: str = "AssumeRole") -> ClientError:
    answer: Any = {
        "Error": {"Code": code, "Message": "arn:aws:iam::123456789012:role/secret said no"},
        "ResponseMetadata": {"HTTPStatusCode": status, "RequestId": "request-1"},
    }
    return ClientError(answer, operation)


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
def test_a_code_becomes_the_error_that_tells_whose_fault_it_is(code: str, expected: type[GatewayError]) -> None:
    assert isinstance(answered(client_error(code)), expected)


@pytest.mark.parametrize(
    ("status", "expected"),
    [(429, Throttled), (401, Forbidden), (403, Forbidden), (400, Internal), (500, Unavailable), (302, Unavailable)],
)
def test_an_unknown_code_is_judged_by_its_status(status: int, expected: type[GatewayError]) -> None:
    assert isinstance(answered(client_error("BrandNewException", status)), expected)


def test_an_error_without_anything_in_it_is_an_outage() -> None:
    assert isinstance(answered(ClientError({}, "AssumeRole")), AwsUnavailable)


def test_what_aws_said_is_kept_for_the_log_and_not_shown() -> None:
    error = answered(client_error("AccessDenied", 403))
    assert isinstance(error, AccessDenied)
    assert (error.aws_code, error.request_id) == ("AccessDenied", "request-1")
    assert "arn:" in error.detail
    assert "arn:" not in error.message


def test_trouble_with_the_gateways_own_credentials_is_no_verdict_about_the_tenant() -> None:
    error = answered(client_error("AccessDenied", 403, "AssumeRoleWithWebIdentity"))
    assert isinstance(error, AwsUnavailable)
    assert "own credentials" in error.message


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (NoCredentialsError(), AwsUnavailable),
        (PartialCredentialsError(provider="env", cred_var="secret"), AwsUnavailable),
        (CredentialRetrievalError(provider="container", error_msg="down"), AwsUnavailable),
        (ReadTimeoutError(endpoint_url="https://sts"), AnswerLate),
        (ConnectTimeoutError(endpoint_url="https://sts"), AnswerLate),
        (EndpointConnectionError(endpoint_url="https://sts"), ConnectionBroken),
        (HTTPClientError(error="broken"), ConnectionBroken),
        (ParamValidationError(report="too short"), InvalidRequest),
        (BotoCoreError(), AwsUnavailable),
    ],
)
def test_what_keeps_sts_from_answering_is_told_apart(error: BotoCoreError, expected: type[GatewayError]) -> None:
    assert type(unanswered(error)) is expected


def test_every_error_of_botocore_fails_closed() -> None:
    found = [kind for kind in vars(botocore.exceptions).values() if isinstance(kind, type)]
    kinds = [kind for kind in found if issubclass(kind, BotoCoreError)]
    assert len(kinds) > 50
    for kind in kinds:
        error = kind.__new__(kind)
        Exception.__init__(error, "no details")
        assert isinstance(unanswered(error), Unavailable | Internal)
