"""No error code of DynamoDB is without an error of ours."""

import pytest
from botocore.session import get_session

from gateway.aws.wire.error_codes import RULES, rule
from gateway.aws.wire.errors import (
    AccessDenied,
    AwsError,
    AwsUnavailable,
    ConditionFailed,
    CredentialsExpired,
    InvalidRequest,
    Retry,
    TableMissing,
    ThroughputExceeded,
    TransactionCancelled,
    TransactionInProgress,
)
from gateway.errors import GatewayError

# "Common Errors" in the API references of AWS, and what signature checks and KMS answer through DynamoDB
COMMON = """
    AccessDeniedException ExpiredTokenException IncompleteSignature InternalFailure InternalServerError InvalidAction
    InvalidClientTokenId InvalidParameterCombination InvalidParameterValue InvalidQueryParameter
    InvalidSignatureException KMSAccessDeniedException KMSDisabledException KMSInvalidStateException
    KMSNotFoundException KMSOptInRequired KMSThrottlingException MalformedHttpRequestException MalformedQueryString
    MissingAction MissingAuthenticationToken MissingAuthenticationTokenException MissingParameter NotAuthorized
    OptInRequired RequestAbortedException RequestEntityTooLargeException RequestExpired RequestLimitExceeded
    RequestTimeoutException RequestTimeTooSkewed SerializationException ServiceUnavailable SignatureDoesNotMatch
    ThrottlingException UnknownOperationException UnrecognizedClientException ValidationError ValidationException
"""


def modelled() -> list[str]:
    return [shape.name for shape in get_session().get_service_model("dynamodb").error_shapes]


def test_every_dynamodb_error_code_has_a_gateway_error() -> None:
    codes = modelled()
    assert len(codes) > 30
    assert [code for code in codes if code not in RULES] == []


def test_every_common_error_code_of_aws_has_a_gateway_error() -> None:
    assert [code for code in COMMON.split() if code not in RULES] == []


def test_what_the_sdk_calls_throttling_is_throttling_here() -> None:
    from botocore.retries.standard import ThrottledRetryableChecker

    # EC2's own is not for us
    codes = set(vars(ThrottledRetryableChecker)["_THROTTLED_ERROR_CODES"]) - {"EC2ThrottledException"}
    assert {code: RULES[code].retry for code in codes} == dict.fromkeys(codes, Retry.THROTTLED)


def test_what_the_model_marks_as_retryable_is_tried_again() -> None:
    shapes = get_session().get_service_model("dynamodb").error_shapes
    marked = [shape.name for shape in shapes if shape.metadata.get("retryable") is not None]
    assert marked
    assert all(RULES[code].retry is not Retry.NEVER for code in marked)


@pytest.mark.parametrize(
    ("code", "error", "public"),
    [
        ("ConditionalCheckFailedException", ConditionFailed, "CONFLICT"),
        ("TransactionCanceledException", TransactionCancelled, "CONFLICT"),
        ("TransactionInProgressException", TransactionInProgress, "CONFLICT"),
        ("ProvisionedThroughputExceededException", ThroughputExceeded, "THROTTLED"),
        ("RequestLimitExceeded", ThroughputExceeded, "THROTTLED"),
        ("AccessDeniedException", AccessDenied, "FORBIDDEN"),
        ("ExpiredTokenException", CredentialsExpired, "UNAVAILABLE"),
        ("UnrecognizedClientException", CredentialsExpired, "UNAVAILABLE"),
        ("ResourceNotFoundException", TableMissing, "UNAVAILABLE"),
        ("InternalServerError", AwsUnavailable, "UNAVAILABLE"),
        ("ValidationException", InvalidRequest, "INTERNAL"),
        ("ItemCollectionSizeLimitExceededException", AwsError, "LIMIT_EXCEEDED"),
    ],
)
def test_a_code_becomes_an_error_with_a_public_code(code: str, error: type[AwsError], public: str) -> None:
    assert issubclass(rule(code, 400).error, error)
    assert rule(code, 400).error.code == public


@pytest.mark.parametrize(
    ("status", "error", "retry"),
    [
        (500, AwsUnavailable, Retry.TRANSIENT),
        (503, AwsUnavailable, Retry.TRANSIENT),
        (429, ThroughputExceeded, Retry.THROTTLED),
        (403, AccessDenied, Retry.NEVER),
        (401, AccessDenied, Retry.NEVER),
        (400, InvalidRequest, Retry.NEVER),
        (413, InvalidRequest, Retry.NEVER),
        (301, AwsUnavailable, Retry.NEVER),
    ],
)
def test_an_unknown_code_is_classified_by_its_status(status: int, error: type[AwsError], retry: Retry) -> None:
    verdict = rule("InventedTomorrowException", status)
    assert (verdict.error, verdict.retry) == (error, retry)


def test_messages_follow_the_house_style() -> None:
    for verdict in RULES.values():
        assert issubclass(verdict.error, GatewayError)
        assert verdict.message == verdict.message.lower()
        assert not verdict.message.endswith(".")
