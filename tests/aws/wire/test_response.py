"""An answer becomes a result or the right error, and keeps to itself what callers must not see."""

import logging
from typing import Any
from zlib import crc32

import orjson
import pytest

from gateway.aws.wire.errors import (
    AccessDenied,
    AnswerCorrupt,
    AwsError,
    AwsUnavailable,
    CancellationReason,
    ConditionFailed,
    InvalidRequest,
    Retry,
    ThroughputExceeded,
    TransactionCancelled,
)
from gateway.aws.wire.response import AwsResponse, body_of, decoded

ARN = "arn:aws:sts::123456789012:assumed-role/tenant/acme"


def result(answer: AwsResponse) -> dict[str, Any]:
    return decoded(body_of(answer))


def refused(content: object, status: int = 400, **headers: str) -> AwsError:
    body = content if isinstance(content, bytes) else orjson.dumps(content)
    with pytest.raises(AwsError) as caught:
        result(
            AwsResponse(
                status, {name.replace("_", "-").encode(): text.encode() for name, text in headers.items()}, body
            )
        )
    return caught.value


def test_a_success_is_decoded() -> None:
    body = b'{"Item":{"total":{"N":"1.10"}}}'
    headers = {b"x-amz-crc32": str(crc32(body)).encode()}
    assert result(AwsResponse(200, headers, body)) == {"Item": {"total": {"N": "1.10"}}}


def test_engines_without_checksums_are_trusted() -> None:
    assert result(AwsResponse(200, {}, b"{}")) == {}


@pytest.mark.parametrize("checksum", ["0", "", "-1", "x", "+2745614147"])
@pytest.mark.parametrize("status", [200, 400])
def test_an_answer_whose_checksum_does_not_fit_is_never_used(checksum: str, status: int) -> None:
    error = refused(b"{}", status, x_amz_crc32=checksum)
    assert isinstance(error, AnswerCorrupt)
    assert error.retry is Retry.TRANSIENT


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b"null", b'{"Item":', b"\xff"])
def test_a_success_that_is_no_json_object_is_damaged(body: bytes) -> None:
    assert isinstance(refused(body, 200), AnswerCorrupt)


def test_callers_do_not_see_what_aws_wrote() -> None:
    content = {
        "__type": "com.amazon.coral.service#AccessDeniedException",
        "Message": f"User: {ARN} is not authorized to perform: dynamodb:GetItem",
    }
    error = refused(content, x_amzn_requestid="ABC")
    assert isinstance(error, AccessDenied)
    assert ARN not in str(error)
    assert ARN not in repr(error)
    assert ARN not in error.message
    assert ARN in error.detail
    assert (error.aws_code, error.request_id) == ("AccessDeniedException", "ABC")


def test_a_failed_condition_carries_the_item_that_stood_in_the_way() -> None:
    item = {"PK": {"S": "TENANT#acme#USER#1"}}
    error = refused({"__type": "x#ConditionalCheckFailedException", "message": "no", "Item": item})
    assert isinstance(error, ConditionFailed)
    assert error.item == item
    plain = refused({"__type": "x#ConditionalCheckFailedException"})
    assert isinstance(plain, ConditionFailed)
    assert plain.item is None


def test_a_cancelled_transaction_keeps_one_reason_for_each_item() -> None:
    item = {"PK": {"S": "TENANT#acme#USER#1"}}
    reasons = [{"Code": "None"}, {"Code": "ConditionalCheckFailed", "Message": "no", "Item": item}, {"Code": None}]
    error = refused({"__type": "x#TransactionCanceledException", "CancellationReasons": reasons})
    assert isinstance(error, TransactionCancelled)
    assert error.reasons == (
        CancellationReason("None", ""),
        CancellationReason("ConditionalCheckFailed", "no", item),
        CancellationReason("None", ""),
    )
    assert "acme" not in repr(error.reasons)
    bare = refused({"__type": "x#TransactionCanceledException"})
    assert isinstance(bare, TransactionCancelled)
    assert bare.reasons == ()


@pytest.mark.parametrize("member", ["ThrottlingReasons", "throttlingReasons"])
def test_throttling_says_what_was_too_much_but_not_where(member: str) -> None:
    reasons = [{"reason": "TableReadKeyRangeThroughputExceeded", "resource": ARN}]
    error = refused({"__type": "x#ThrottlingException", member: reasons})
    assert isinstance(error, ThroughputExceeded)
    assert error.reasons == ("TableReadKeyRangeThroughputExceeded",)


def test_the_code_may_be_in_a_header() -> None:
    error = refused(b"", x_amzn_errortype="AccessDeniedException:http://internal.amazon.com/coral/")
    assert isinstance(error, AccessDenied)


def test_something_between_us_and_dynamodb_may_answer_in_its_place() -> None:
    error = refused(b"<html>Bad Gateway</html>", 502)
    assert isinstance(error, AwsUnavailable)
    assert (error.aws_code, error.detail) == ("HTTP 502", "<html>Bad Gateway</html>")
    assert error.retry is Retry.TRANSIENT
    assert isinstance(refused(b"[]", 404), InvalidRequest)


def test_a_5xx_is_tried_again_whatever_its_code() -> None:
    assert refused({"__type": "x#ValidationException"}, 500).retry is Retry.TRANSIENT


def test_the_date_and_the_wait_are_read_where_they_make_sense() -> None:
    said = refused({}, date="Mon, 02 Mar 2026 00:00:00 GMT", x_amz_retry_after="1500").said
    assert (said.date, said.wait) == (1_772_409_600.0, 1.5)
    said = refused({}, date="yesterday", x_amz_retry_after="-5").said
    assert (said.date, said.wait) == (None, 0.0)


def test_an_error_in_a_log_line_shows_no_item(caplog: pytest.LogCaptureFixture) -> None:
    error = refused({"__type": "x#ConditionalCheckFailedException", "Item": {"secret": {"S": "value"}}})
    logging.getLogger("test").error("failed", exc_info=error)
    assert "value" not in caplog.text
