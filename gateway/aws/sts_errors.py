"""Every error of AssumeRole, and those common to all of AWS, with the error of ours that it becomes."""

from collections.abc import Mapping
from types import MappingProxyType

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    HTTPClientError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    ReadTimeoutError,
)
from botocore.exceptions import ConnectionError as BotoConnectionError

from gateway.aws.codes import Rule
from gateway.aws.errors import (
    AccessDenied,
    AnswerLate,
    AwsError,
    AwsUnavailable,
    ConnectionBroken,
    InvalidRequest,
    Said,
    ThroughputExceeded,
)

_REFUSED = Rule(AccessDenied, "aws gives this tenant and role no session")
# INVARIANT: a policy that STS does not take is our own fault and final: a session without it would be a wider one.
_POLICY = Rule(InvalidRequest, "sts does not accept the session policy or the tags")
_REGION = Rule(AwsUnavailable, "sts is switched off in the region of the tenant")
# The gateway's own credentials, not the tenant's: a mistake there is no verdict about the tenant.
_OWN = Rule(AwsUnavailable, "aws does not accept the gateway's own credentials")
_THROTTLED = Rule(ThroughputExceeded, "too many sessions are being opened at the moment")
_FAILED = Rule(AwsUnavailable, "sts is not available at the moment")
_INVALID = Rule(InvalidRequest, "sts did not understand the request")
_LATE = Rule(AnswerLate, "sts did not answer in time")
_UNREACHABLE = Rule(ConnectionBroken, "sts cannot be reached")

_CODES: Mapping[Rule, str] = {
    _REFUSED: "AccessDenied AccessDeniedException NotAuthorized UnauthorizedOperation",
    _POLICY: """MalformedPolicyDocument MalformedPolicyDocumentException PackedPolicyTooLarge
        PackedPolicyTooLargeException""",
    _REGION: "OptInRequired RegionDisabled RegionDisabledException",
    _OWN: """AuthFailure ExpiredToken ExpiredTokenException IncompleteSignature IncompleteSignatureException
        InvalidAccessKeyId InvalidClientTokenId InvalidSignatureException MissingAuthenticationToken
        MissingAuthenticationTokenException RequestExpired RequestInTheFuture RequestTimeTooSkewed
        SignatureDoesNotMatch TokenRefreshRequired UnrecognizedClientException""",
    _THROTTLED: """BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete
        ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled RequestThrottledException SlowDown
        ThrottledException Throttling ThrottlingException TooManyRequestsException TransactionInProgressException""",
    _FAILED: """InternalError InternalFailure InternalServerError InternalServerException RequestTimeout
        RequestTimeoutException ServiceUnavailable ServiceUnavailableException""",
    _INVALID: """InvalidAction InvalidParameterCombination InvalidParameterValue InvalidQueryParameter
        MalformedHttpRequestException MalformedQueryString MissingAction MissingParameter
        UnknownOperationException ValidationError ValidationException""",
}

RULES: Mapping[str, Rule] = MappingProxyType({code: rule for rule, codes in _CODES.items() for code in codes.split()})


def answered(error: ClientError) -> AwsError:
    """What STS said no with."""
    response = error.response
    about = response.get("Error", {})
    metadata = response.get("ResponseMetadata", {})
    code = about.get("Code", "")
    # The gateway may get its own credentials by another call to STS, such as AssumeRoleWithWebIdentity.
    ours = error.operation_name == "AssumeRole"
    rule = _rule(code, metadata.get("HTTPStatusCode", 0)) if ours else _OWN
    return rule.error(rule.message, said=Said(code, about.get("Message", ""), metadata.get("RequestId", "")))


def unanswered(error: BotoCoreError) -> AwsError:
    """What kept STS from answering."""
    rule = _FAILED
    if isinstance(error, NoCredentialsError | PartialCredentialsError | CredentialRetrievalError):
        rule = _OWN
    elif isinstance(error, ReadTimeoutError | ConnectTimeoutError):
        rule = _LATE
    elif isinstance(error, HTTPClientError | BotoConnectionError):
        rule = _UNREACHABLE
    elif isinstance(error, ParamValidationError):
        rule = _INVALID
    return rule.error(rule.message, said=Said(type(error).__name__, str(error)))


def _rule(code: str, status: int) -> Rule:
    """The rule of a code; one we do not know is judged by its HTTP status."""
    known = RULES.get(code)
    if known:
        return known
    if status == 429:
        return _THROTTLED
    if status in {401, 403}:
        return _REFUSED
    return _INVALID if 400 <= status < 500 else _FAILED
