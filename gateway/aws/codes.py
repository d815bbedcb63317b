"""Every error code of DynamoDB, and those common to all of AWS, with the error of ours that it becomes."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from gateway.aws.errors import (
    AccessDenied,
    AwsError,
    AwsUnavailable,
    CollectionFull,
    ConditionFailed,
    CredentialsExpired,
    InvalidRequest,
    KeyInaccessible,
    ResourceBusy,
    ResourceMissing,
    Retry,
    SignatureRejected,
    TableMissing,
    ThroughputExceeded,
    TokenReused,
    TransactionCancelled,
    TransactionInProgress,
    WriteConflict,
)


class Rule(NamedTuple):
    error: type[AwsError]
    # INVARIANT: a fixed text, so that no ARN, account or key of AWS reaches a caller
    message: str
    retry: Retry = Retry.NEVER


_CONDITION = Rule(ConditionFailed, "a condition of the write did not hold")
_EXISTS = Rule(ConditionFailed, "an item with this key exists already")
_CANCELLED = Rule(TransactionCancelled, "the transaction was cancelled and nothing was written")
_CONFLICT = Rule(WriteConflict, "another write to the same item is being carried out")
_REPLICA_CONFLICT = Rule(WriteConflict, "another region is writing the same item", Retry.TRANSIENT)
_IN_PROGRESS = Rule(TransactionInProgress, "the same transaction is still being carried out", Retry.THROTTLED)
_TOKEN = Rule(TokenReused, "the idempotency token was used before with other contents")
_BUSY = Rule(ResourceBusy, "the resource exists already or is being changed")
_GONE = Rule(ResourceMissing, "the resource does not exist")
_FULL = Rule(CollectionFull, "the item collection has reached its size limit")
_THROTTLED = Rule(ThroughputExceeded, "too many requests for the database at the moment", Retry.THROTTLED)
_DENIED = Rule(AccessDenied, "aws refuses this action")
_EXPIRED = Rule(CredentialsExpired, "the session with aws is over or unknown")
_SIGNATURE = Rule(SignatureRejected, "aws does not accept the signature of the request")
_SKEWED = Rule(SignatureRejected, "aws does not accept the signature or the time of the request", Retry.SKEWED)
_TABLE = Rule(TableMissing, "the table or index is not available")
_KEY = Rule(KeyInaccessible, "the encryption key of the table cannot be used")
_FAILED = Rule(AwsUnavailable, "the database is not available at the moment", Retry.TRANSIENT)
_ABSENT = Rule(AwsUnavailable, "this is not available for the table or the account")
_INVALID = Rule(InvalidRequest, "the database did not understand the request")

_CODES: Mapping[Rule, str] = {
    _CONDITION: "ConditionalCheckFailedException",
    _EXISTS: "DuplicateItemException",
    _CANCELLED: "TransactionCanceledException",
    _CONFLICT: "TransactionConflictException",
    _REPLICA_CONFLICT: "ReplicatedWriteConflictException",
    _IN_PROGRESS: "TransactionInProgressException",
    _TOKEN: "IdempotentParameterMismatchException",
    _BUSY: """BackupInUseException ExportConflictException GlobalTableAlreadyExistsException ImportConflictException
        ReplicaAlreadyExistsException ResourceInUseException TableAlreadyExistsException TableInUseException""",
    _GONE: """BackupNotFoundException ExportNotFoundException GlobalTableNotFoundException ImportNotFoundException
        PolicyNotFoundException ReplicaNotFoundException""",
    _FULL: "ItemCollectionSizeLimitExceededException",
    _THROTTLED: """BandwidthLimitExceeded KMSThrottlingException LimitExceededException PriorRequestNotComplete
        ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled RequestThrottledException SlowDown
        ThrottledException Throttling ThrottlingException TooManyRequestsException""",
    _DENIED: "AccessDenied AccessDeniedException NotAuthorized UnauthorizedOperation",
    _EXPIRED: """ExpiredToken ExpiredTokenException InvalidAccessKeyId InvalidClientTokenId TokenRefreshRequired
        UnrecognizedClientException""",
    _SIGNATURE: """IncompleteSignature IncompleteSignatureException MissingAuthenticationToken
        MissingAuthenticationTokenException""",
    _SKEWED: """AuthFailure InvalidSignatureException RequestExpired RequestInTheFuture RequestTimeTooSkewed
        SignatureDoesNotMatch""",
    _TABLE: "IndexNotFoundException ResourceNotFoundException TableNotFoundException",
    _KEY: """KMSAccessDeniedException KMSDisabledException KMSInvalidStateException KMSNotFoundException
        KMSOptInRequired""",
    _FAILED: """InternalError InternalFailure InternalServerError InternalServerException RequestAbortedException
        RequestTimeout RequestTimeoutException ServiceUnavailable ServiceUnavailableException""",
    _ABSENT: """ContinuousBackupsUnavailableException InvalidEndpointException OptInRequired
        PointInTimeRecoveryUnavailableException""",
    _INVALID: """InvalidAction InvalidExportTimeException InvalidParameterCombination InvalidParameterValue
        InvalidQueryParameter InvalidRestoreTimeException MalformedHttpRequestException MalformedQueryString
        MissingAction MissingParameter RequestEntityTooLargeException SerializationException
        UnknownOperationException ValidationError ValidationException""",
}

RULES: Mapping[str, Rule] = MappingProxyType({code: rule for rule, codes in _CODES.items() for code in codes.split()})


def rule(code: str, status: int) -> Rule:
    """The rule of a code; one we do not know is judged by its HTTP status."""
    known = RULES.get(code)
    if known:
        return known
    if status >= 500:
        return _FAILED
    if status == 429:
        return _THROTTLED
    if status in {401, 403}:
        return _DENIED
    # a redirect is no answer of DynamoDB and is never followed: the signature is for this host alone
    return _INVALID if status >= 400 else _ABSENT
