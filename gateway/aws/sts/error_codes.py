"""Maps the error codes of AssumeRole, and those common to all AWS services, to the gateway's errors."""

from collections.abc import Mapping
from types import MappingProxyType

from gateway.aws.wire.error_codes import ErrorMapping
from gateway.aws.wire.errors import (
    AccessDenied,
    AnswerCorrupt,
    AnswerLate,
    AwsError,
    AwsFailure,
    AwsUnavailable,
    ConnectionBroken,
    InvalidRequest,
    Retry,
    ThroughputExceeded,
)
from gateway.aws.wire.response import AwsResponse, said_of
from gateway.aws.wire.xml_response import NotReadable, texts
from gateway.errors import GatewayError

_REFUSED = ErrorMapping(AccessDenied, "aws gives this tenant and role no session")
# INVARIANT: a policy that STS rejects is our own fault and final: a session without it would have wider permissions.
_POLICY = ErrorMapping(InvalidRequest, "sts does not accept the session policy or the tags")
_REGION = ErrorMapping(AwsUnavailable, "sts is switched off in the region of the tenant")
# These are the gateway's own credentials: an error with them says nothing about the tenant.
_OWN = ErrorMapping(AwsUnavailable, "aws does not accept the gateway's own credentials")
_SKEWED = ErrorMapping(AwsUnavailable, "aws does not accept the gateway's own credentials or its time", Retry.SKEWED)
_MISSING = ErrorMapping(AwsUnavailable, "the gateway's own credentials cannot be read")
_THROTTLED = ErrorMapping(ThroughputExceeded, "too many sessions are being opened", Retry.THROTTLED)
_FAILED = ErrorMapping(AwsUnavailable, "sts is not available", Retry.TRANSIENT)
_INVALID = ErrorMapping(InvalidRequest, "sts did not understand the request")
_LATE = ErrorMapping(AnswerLate, "sts did not answer in time")
_UNREACHABLE = ErrorMapping(ConnectionBroken, "sts cannot be reached")
_CORRUPT = ErrorMapping(AnswerCorrupt, "sts gave no answer that can be read")

_CODES: Mapping[ErrorMapping, str] = {
    _REFUSED: "AccessDenied AccessDeniedException NotAuthorized UnauthorizedOperation",
    _POLICY: """MalformedPolicyDocument MalformedPolicyDocumentException PackedPolicyTooLarge
        PackedPolicyTooLargeException""",
    _REGION: "OptInRequired RegionDisabled RegionDisabledException",
    _OWN: """ExpiredToken ExpiredTokenException IncompleteSignature IncompleteSignatureException InvalidAccessKeyId
        InvalidClientTokenId MissingAuthenticationToken MissingAuthenticationTokenException TokenRefreshRequired
        UnrecognizedClientException""",
    _SKEWED: """AuthFailure InvalidSignatureException RequestExpired RequestInTheFuture RequestTimeTooSkewed
        SignatureDoesNotMatch""",
    _THROTTLED: """BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete
        ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled RequestThrottledException SlowDown
        ThrottledException Throttling ThrottlingException TooManyRequestsException TransactionInProgressException""",
    _FAILED: """InternalError InternalFailure InternalServerError InternalServerException RequestTimeout
        RequestTimeoutException ServiceUnavailable ServiceUnavailableException""",
    _INVALID: """InvalidAction InvalidParameterCombination InvalidParameterValue InvalidQueryParameter
        MalformedHttpRequestException MalformedQueryString MissingAction MissingParameter
        UnknownOperationException ValidationError ValidationException""",
}

RULES: Mapping[str, ErrorMapping] = MappingProxyType(
    {code: rule for rule, codes in _CODES.items() for code in codes.split()}
)


def failure(answer: AwsResponse) -> AwsError:
    """Returns the error for a failed STS response."""
    try:
        content = texts(answer.body)
    except NotReadable:
        # something between us and STS has responded instead
        content = {}
    code = content.get("Error/Code", "")
    detail = content.get("Error/Message") or answer.body[:300].decode("utf-8", "replace")
    rule = _rule(code, answer.status)
    # a 5xx is AWS's failure, whatever its code is
    retry = Retry.TRANSIENT if answer.status >= 500 and rule.retry is Retry.NEVER else rule.retry
    said = said_of(answer, code, detail, content.get("RequestId", ""))
    return rule.error(rule.message, said=said, retry=retry)


def unanswered(error: GatewayError) -> AwsError:
    """Rewords a connection error as an error of STS; errors that STS returned itself stay as they are."""
    if isinstance(error, AwsError) and not isinstance(error, AnswerLate | ConnectionBroken | AnswerCorrupt):
        return error
    rule = _LATE
    if isinstance(error, ConnectionBroken):
        rule = _UNREACHABLE
    elif isinstance(error, AnswerCorrupt):
        rule = _CORRUPT
    said = error.said if isinstance(error, AwsError) else AwsFailure(type(error).__name__, error.message)
    return rule.error(rule.message, said=said)


def own_rejected(error: GatewayError) -> bool:
    """Whether AWS refused the gateway's own credentials."""
    return isinstance(error, AwsError) and RULES.get(error.aws_code) in {_OWN, _SKEWED}


def own_missing(error: Exception) -> AwsError:
    """Returns the error for own credentials that could not be read, whatever boto3 reports."""
    return _MISSING.error(_MISSING.message, said=AwsFailure(type(error).__name__, str(error)))


def _rule(code: str, status: int) -> ErrorMapping:
    """Returns the rule for a code; unknown codes are mapped by their HTTP status."""
    mapping = RULES.get(code)
    if mapping:
        return mapping
    if status == 429:
        return _THROTTLED
    if status in {401, 403}:
        return _REFUSED
    return _INVALID if 400 <= status < 500 else _FAILED
