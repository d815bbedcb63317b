"""The errors of AWS calls, as branches of the gateway's error tree.

AwsError                         carries what AWS said, for the log
├── ConditionFailed              CONFLICT         a condition of a write did not hold
├── TransactionCancelled         CONFLICT         nothing was written; one reason for each item
├── TransactionInProgress        CONFLICT         the same transaction is still being carried out
├── WriteConflict                CONFLICT         another transaction or region writes the same item
├── TokenReused                  CONFLICT         a client token came back with other contents
├── ResourceBusy                 CONFLICT         a table, backup or export exists already or is being changed
├── IteratorExpired              UNAVAILABLE      an iterator of a stream is older than 15 minutes
├── RecordsTrimmed               UNAVAILABLE      records of a stream are older than 24 hours and gone
├── ResourceMissing              NOT_FOUND        a backup, export, import, replica or policy does not exist
├── CollectionFull               LIMIT_EXCEEDED   an item collection has reached its size limit
├── ThroughputExceeded           THROTTLED        too many requests, or too many on one partition
├── AccessDenied                 FORBIDDEN        a policy of AWS says no
├── CredentialsExpired           UNAVAILABLE      the session is over or unknown: assume the role again
├── SignatureRejected            UNAVAILABLE      the signature or its time is not accepted
├── TableMissing                 UNAVAILABLE      the table or index is not there
├── KeyInaccessible              UNAVAILABLE      the table's encryption key cannot be used
├── AwsUnavailable               UNAVAILABLE      AWS failed
├── ConnectionBroken             UNAVAILABLE      no connection, or it ended before the answer did
├── AnswerLate                   UNAVAILABLE      no answer within the read or connect timeout
├── AnswerCorrupt                UNAVAILABLE      the answer is not what AWS sent, or too large
└── InvalidRequest               INTERNAL         we asked for something that DynamoDB does not understand
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from gateway.errors import Conflict, Forbidden, GatewayError, Internal, LimitExceeded, NotFound, Throttled, Unavailable


class Retry(Enum):
    """Whether the same request may be sent again, and what a retry costs."""

    NEVER = auto()
    TRANSIENT = auto()
    TIMEOUT = auto()
    THROTTLED = auto()
    # only with a corrected clock
    SKEWED = auto()


@dataclass(frozen=True, slots=True)
class AwsFailure:
    """What AWS reported: for the log, never for the caller, because it names ARNs, accounts and keys."""

    code: str = ""
    detail: str = ""
    request_id: str = ""
    # the time of the response by AWS's clock, in seconds since the epoch
    date: float | None = None
    # the wait that AWS requests, in seconds
    wait: float = 0.0


_NOTHING = AwsFailure()


class AwsError(GatewayError):
    """A failure of a call to AWS; `message` is our own text, and `detail` is what AWS wrote."""

    def __init__(self, message: str, *, said: AwsFailure = _NOTHING, retry: Retry = Retry.NEVER) -> None:
        super().__init__(message)
        self.said = said
        self.retry = retry
        self.attempts = 1
        # whether an earlier attempt ended without a response, so that a write may have been executed
        self.uncertain = False

    @property
    def aws_code(self) -> str:
        return self.said.code

    @property
    def detail(self) -> str:
        return self.said.detail

    @property
    def request_id(self) -> str:
        return self.said.request_id


class ConditionFailed(AwsError, Conflict):
    """`item` is the current item in DynamoDB JSON, if the request asked for it."""

    item: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class CancellationReason:
    """Why one item made a transaction fail; all other items have the code `None`, as a string."""

    code: str
    message: str
    item: Mapping[str, Any] | None = field(default=None, repr=False)


class TransactionCancelled(AwsError, Conflict):
    """`reasons` are in the order of the items in the request."""

    reasons: tuple[CancellationReason, ...] = ()


class TransactionInProgress(AwsError, Conflict):
    pass


class WriteConflict(AwsError, Conflict):
    pass


class TokenReused(AwsError, Conflict):
    pass


class ResourceBusy(AwsError, Conflict):
    pass


class IteratorExpired(AwsError, Unavailable):
    pass


class RecordsTrimmed(AwsError, Unavailable):
    pass


class ResourceMissing(AwsError, NotFound):
    pass


class CollectionFull(AwsError, LimitExceeded):
    pass


class ThroughputExceeded(AwsError, Throttled):
    """`reasons` are codes such as `TableReadKeyRangeThroughputExceeded`, if AWS returns them."""

    reasons: tuple[str, ...] = ()


class AccessDenied(AwsError, Forbidden):
    pass


class CredentialsExpired(AwsError, Unavailable):
    pass


class SignatureRejected(AwsError, Unavailable):
    pass


class TableMissing(AwsError, Unavailable):
    pass


class KeyInaccessible(AwsError, Unavailable):
    pass


class AwsUnavailable(AwsError, Unavailable):
    pass


class ConnectionBroken(AwsError, Unavailable):
    """`stale` means that AWS had closed an idle connection: it ended before the first byte of a response."""

    stale: bool = False


class AnswerLate(AwsError, Unavailable):
    pass


class AnswerCorrupt(AwsError, Unavailable):
    pass


class InvalidRequest(AwsError, Internal):
    pass
