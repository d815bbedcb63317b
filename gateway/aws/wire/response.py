"""The response to a call, and how it becomes a result or an error."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import orjson
from isal.isal_zlib import crc32

from gateway.aws.wire.error_codes import rule
from gateway.aws.wire.errors import (
    AnswerCorrupt,
    AwsError,
    AwsFailure,
    CancellationReason,
    ConditionFailed,
    Retry,
    ThroughputExceeded,
    TransactionCancelled,
)


class AwsResponse(NamedTuple):
    status: int
    # with lower-case names
    headers: Mapping[bytes, bytes]
    body: bytes


def body_of(answer: AwsResponse) -> bytes:
    """Returns the body of a successful response; raises for any other."""
    checksum = answer.headers.get(b"x-amz-crc32")
    # INVARIANT: a response whose checksum does not match is never used; engines other than DynamoDB may send none.
    if checksum is not None and checksum != b"%d" % crc32(answer.body):
        raise _corrupt("the checksum does not fit the body", _text(answer, b"x-amzn-requestid"))
    if answer.status != 200:
        raise failure(answer)
    return answer.body


def decoded(body: bytes) -> dict[str, Any]:
    """Decodes the body of a successful response."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _corrupt("the body is not json") from error
    if not isinstance(content, dict):
        raise _corrupt("the body is not an object")
    return content


def failure(answer: AwsResponse) -> AwsError:
    """Returns the gateway's error for an unsuccessful response."""
    content = _content(answer.body)
    # "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
    kind = content.get("__type") or content.get("code") or _text(answer, b"x-amzn-errortype").partition(":")[0]
    code = str(kind).rpartition("#")[2]
    verdict = rule(code, answer.status)
    detail = str(content.get("message") or content.get("Message") or answer.body[:300].decode("utf-8", "replace"))
    said = said_of(answer, code, detail)
    # a 5xx is AWS's failure, whatever its code is
    retry = Retry.TRANSIENT if answer.status >= 500 and verdict.retry is Retry.NEVER else verdict.retry
    error = verdict.error(verdict.message, said=said, retry=retry)
    _add_particulars(error, content)
    return error


def said_of(answer: AwsResponse, code: str, detail: str, request_id: str = "") -> AwsFailure:
    """Collects what a response reports, with details from its headers."""
    return AwsFailure(
        code=code or f"HTTP {answer.status}",
        detail=detail,
        request_id=request_id or _text(answer, b"x-amzn-requestid"),
        date=_date(answer),
        wait=_wait(answer),
    )


def _add_particulars(error: AwsError, content: Mapping[str, Any]) -> None:
    if isinstance(error, ConditionFailed):
        error.item = content.get("Item")
    elif isinstance(error, TransactionCancelled):
        error.reasons = tuple(
            CancellationReason(reason.get("Code") or "None", reason.get("Message") or "", reason.get("Item"))
            for reason in content.get("CancellationReasons") or ()
        )
    elif isinstance(error, ThroughputExceeded):
        reasons = content.get("ThrottlingReasons") or content.get("throttlingReasons") or ()
        error.reasons = tuple(str(reason.get("reason")) for reason in reasons)


def _corrupt(detail: str, request_id: str = "") -> AnswerCorrupt:
    said = AwsFailure(detail=detail, request_id=request_id)
    return AnswerCorrupt("the database's answer arrived damaged", said=said, retry=Retry.TRANSIENT)


def _content(body: bytes) -> dict[str, Any]:
    """Returns the body of an error; empty if something between us and DynamoDB has responded instead."""
    try:
        content = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return content if isinstance(content, dict) else {}


def _text(answer: AwsResponse, name: bytes) -> str:
    return answer.headers.get(name, b"").decode("latin-1")


def _date(answer: AwsResponse) -> float | None:
    try:
        return parsedate_to_datetime(_text(answer, b"date")).timestamp()
    except ValueError:
        return None


def _wait(answer: AwsResponse) -> float:
    milliseconds = _text(answer, b"x-amz-retry-after")
    return int(milliseconds) / 1000 if milliseconds.isdecimal() and milliseconds.isascii() else 0.0
