"""Maps the error codes of DynamoDB, and those common to all AWS services, to the gateway's errors."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from gateway.aws.wire.errors import (
    AccessDenied,
    AwsError,
    AwsUnavailable,
    CollectionFull,
    ConditionFailed,
    CredentialsExpired,
    InvalidRequest,
    IteratorExpired,
    KeyInaccessible,
    RecordsTrimmed,
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


class ErrorMapping(NamedTuple):
    error: type[AwsError]
    # INVARIANT: a fixed text, so that no ARN, account or key of AWS reaches a caller
    message: str
    retry: Retry = Retry.NEVER


_CONDITION = ErrorMapping(ConditionFailed, "a condition of the write did not hold")
_EXISTS = ErrorMapping(ConditionFailed, "an item with this key exists already")
_CANCELLED = ErrorMapping(TransactionCancelled, "the transaction was cancelled and nothing was written")
_CONFLICT = ErrorMapping(WriteConflict, "another write to the same item is being carried out")
_REPLICA_CONFLICT = ErrorMapping(WriteConflict, "another region is writing the same item", Retry.TRANSIENT)
_IN_PROGRESS = ErrorMapping(TransactionInProgress, "the same transaction is still being carried out", Retry.THROTTLED)
_TOKEN = ErrorMapping(TokenReused, "the idempotency token was used before with other contents")
_BUSY = ErrorMapping(ResourceBusy, "the resource exists already or is being changed")
_ITERATOR = ErrorMapping(IteratorExpired, "the iterator of the stream has expired")
_TRIMMED = ErrorMapping(RecordsTrimmed, "the records of the stream are no longer kept")
_GONE = ErrorMapping(ResourceMissing, "the resource does not exist")
_FULL = ErrorMapping(CollectionFull, "the item collection has reached its size limit")
_THROTTLED = ErrorMapping(ThroughputExceeded, "too many requests for the database", Retry.THROTTLED)
_DENIED = ErrorMapping(AccessDenied, "aws refuses this action")
_EXPIRED = ErrorMapping(CredentialsExpired, "the session with aws is over or unknown")
_SIGNATURE = ErrorMapping(SignatureRejected, "aws does not accept the signature of the request")
_SKEWED = ErrorMapping(SignatureRejected, "aws does not accept the signature or the time of the request", Retry.SKEWED)
_TABLE = ErrorMapping(TableMissing, "the table or index is not available")
_KEY = ErrorMapping(KeyInaccessible, "the encryption key of the table cannot be used")
_FAILED = ErrorMapping(AwsUnavailable, "the database is not available", Retry.TRANSIENT)
_ABSENT = ErrorMapping(AwsUnavailable, "this is not available for the table or the account")
_INVALID = ErrorMapping(InvalidRequest, "the database did not understand the request")

_CODES: Mapping[ErrorMapping, str] = {
    _CONDITION: "ConditionalCheckFailedException",
    _EXISTS: "DuplicateItemException",
    _CANCELLED: "TransactionCanceledException",
    _CONFLICT: "TransactionConflictException",
    _REPLICA_CONFLICT: "ReplicatedWriteConflictException",
    _IN_PROGRESS: "TransactionInProgressException",
    _TOKEN: "IdempotentParameterMismatchException",
    _BUSY: """BackupInUseException ExportConflictException GlobalTableAlreadyExistsException ImportConflictException
        ReplicaAlreadyExistsException ResourceInUseException TableAlreadyExistsException TableInUseException""",
    _ITERATOR: "ExpiredIteratorException",
    _TRIMMED: "TrimmedDataAccessException",
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

RULES: Mapping[str, ErrorMapping] = MappingProxyType(
    {code: rule for rule, codes in _CODES.items() for code in codes.split()}
)


def rule(code: str, status: int) -> ErrorMapping:
    """Returns the rule for a code; unknown codes are mapped by their HTTP status."""
    mapping = RULES.get(code)
    if mapping:
        return mapping
    if status >= 500:
        return _FAILED
    if status == 429:
        return _THROTTLED
    if status in {401, 403}:
        return _DENIED
    # a redirect does not come from DynamoDB and is never followed, because the signature is for this host only
    return _INVALID if status >= 400 else _ABSENT
