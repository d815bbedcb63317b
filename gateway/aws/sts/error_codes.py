"""Every error of AssumeRole, and those common to all of AWS, with the error of ours that it becomes."""

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
# INVARIANT: a policy that STS does not take is our own fault and final: a session without it would be a wider one.
_POLICY = ErrorMapping(InvalidRequest, "sts does not accept the session policy or the tags")
_REGION = ErrorMapping(AwsUnavailable, "sts is switched off in the region of the tenant")
# The gateway's own credentials, not the tenant's: a mistake there is no verdict about the tenant.
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
    """What STS said no with."""
    try:
        content = texts(answer.body)
    except NotReadable:
        # something between us and STS answered in its place
        content = {}
    code = content.get("Error/Code", "")
    detail = content.get("Error/Message") or answer.body[:300].decode("utf-8", "replace")
    rule = _rule(code, answer.status)
    # a 5xx is the fault of AWS whatever its code says
    retry = Retry.TRANSIENT if answer.status >= 500 and rule.retry is Retry.NEVER else rule.retry
    said = said_of(answer, code, detail, content.get("RequestId", ""))
    return rule.error(rule.message, said=said, retry=retry)


def unanswered(error: GatewayError) -> AwsError:
    """What kept STS from answering, in words about STS; what STS said itself stays as it is."""
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
    """The gateway's own credentials could not be read, whatever boto3 says about it."""
    return _MISSING.error(_MISSING.message, said=AwsFailure(type(error).__name__, str(error)))


def _rule(code: str, status: int) -> ErrorMapping:
    """The rule of a code; one we do not know is judged by its HTTP status."""
    known = RULES.get(code)
    if known:
        return known
    if status == 429:
        return _THROTTLED
    if status in {401, 403}:
        return _REFUSED
    return _INVALID if 400 <= status < 500 else _FAILED
