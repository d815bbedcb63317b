"""The tree of errors; each class has a public code.

    GatewayError                     INTERNAL
    ├── Unauthenticated              UNAUTHENTICATED      no valid token
    ├── Forbidden                    FORBIDDEN            a policy says no
    │   └── TenantSuspended          TENANT_SUSPENDED     the tenant is switched off
    ├── BadUserInput                 BAD_USER_INPUT       the caller can fix it
    │   ├── LimitExceeded            LIMIT_EXCEEDED       too large, too deep, too many, too expensive
    │   ├── UnknownDocument          PERSISTED_QUERY_NOT_FOUND  no document has this id or hash
    │   ├── UntrustedDocument        UNTRUSTED_DOCUMENT   the document is not one of the trusted ones
    │   └── PositionExpired          POSITION_EXPIRED     changes after this position are no longer kept
    ├── NotFound                     NOT_FOUND            the item to change does not exist
    ├── Conflict                     CONFLICT             a condition or a version did not hold
    ├── Throttled                    THROTTLED            AWS asks us to slow down
    │   └── Overloaded               THROTTLED            the gateway cannot serve the request in time
    ├── Unavailable                  UNAVAILABLE          AWS or the issuer cannot be reached
    │   └── DeadlineExceeded         TIMEOUT              the time limit was exceeded
    ├── Internal                     INTERNAL             a defect of the gateway
    │   └── IsolationBreach          INTERNAL             a row of another tenant was about to be used
    ├── ModelError                   MODEL                an entity or pattern is declared wrongly
    └── ConfigurationError           CONFIGURATION        settings are missing or contradict each other

Messages are lower-case, without a full stop, with user input in backticks; never a secret, never an item.
"""

from typing import ClassVar


class GatewayError(Exception):
    """Base of all errors that the gateway raises; `message` may be shown to the caller."""

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Unauthenticated(GatewayError):
    code = "UNAUTHENTICATED"


class Forbidden(GatewayError):
    code = "FORBIDDEN"


class TenantSuspended(Forbidden):
    code = "TENANT_SUSPENDED"


class BadUserInput(GatewayError):
    """`field` is the path of the wrong value in the caller's input, such as `lines.2.quantity`; `others` are further
    errors in the same input."""

    code = "BAD_USER_INPUT"

    def __init__(self, message: str, field: str | None = None, others: "tuple[BadUserInput, ...]" = ()) -> None:
        super().__init__(message)
        self.field = field
        self.others = others


class LimitExceeded(BadUserInput):
    code = "LIMIT_EXCEEDED"


class UnknownDocument(BadUserInput):
    code = "PERSISTED_QUERY_NOT_FOUND"


class UntrustedDocument(BadUserInput):
    code = "UNTRUSTED_DOCUMENT"


class PositionExpired(BadUserInput):
    code = "POSITION_EXPIRED"


class NotFound(GatewayError):
    code = "NOT_FOUND"


class Conflict(GatewayError):
    code = "CONFLICT"


class Throttled(GatewayError):
    code = "THROTTLED"


class Overloaded(Throttled):
    """The request was refused before it did anything; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(GatewayError):
    code = "UNAVAILABLE"


class DeadlineExceeded(Unavailable):
    code = "TIMEOUT"


class Internal(GatewayError):
    """A bug in the gateway: the message goes to the log, and the caller gets only the request id."""


class IsolationBreach(Internal):
    """A row of another tenant was about to be used; nothing is returned."""


class ModelError(GatewayError):
    """Lists every fault of the model, each with its entity or pattern; raised only at start."""

    code = "MODEL"

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class ConfigurationError(GatewayError):
    """Lists every fault, so that an operator can fix them all at once."""

    code = "CONFIGURATION"

    def __init__(self, faults: list[str]) -> None:
        # two checks may find the same fault
        self.faults = [*dict.fromkeys(faults)]
        super().__init__("; ".join(self.faults))
