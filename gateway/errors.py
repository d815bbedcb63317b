"""The one tree of failures; each class has a public code.

    GatewayError                     INTERNAL
    ├── Unauthenticated              UNAUTHENTICATED      no valid token
    ├── Forbidden                    FORBIDDEN            a policy says no
    │   └── TenantSuspended          TENANT_SUSPENDED     the tenant is switched off
    ├── BadUserInput                 BAD_USER_INPUT       the caller can mend it
    │   ├── LimitExceeded            LIMIT_EXCEEDED       too large, too deep, too many, too dear
    │   ├── UnknownDocument          PERSISTED_QUERY_NOT_FOUND  no document is known by this id or hash
    │   └── UntrustedDocument        UNTRUSTED_DOCUMENT   only trusted documents run, and this is none
    ├── NotFound                     NOT_FOUND            what is written to does not exist
    ├── Conflict                     CONFLICT             a condition or a version did not hold
    ├── Throttled                    THROTTLED            AWS asks us to slow down
    │   └── Overloaded               THROTTLED            the gateway has more to do than it can in time
    ├── Unavailable                  UNAVAILABLE          AWS or the issuer cannot be reached
    │   └── DeadlineExceeded         TIMEOUT              it took longer than it may
    ├── Internal                     INTERNAL             our own fault
    │   └── IsolationBreach          INTERNAL             a row of another tenant was about to be used
    ├── ModelError                   MODEL                an entity or pattern is declared wrongly
    └── ConfigurationError           CONFIGURATION        settings are missing or contradict each other

Messages are lower-case, without a full stop, with user input in backticks; never a secret, never an item.
"""

from typing import ClassVar


class GatewayError(Exception):
    """Whatever goes wrong on purpose; `message` may be shown to the caller."""

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
    """`field` is the path of the wrong value in the caller's input, such as `address.city`, where it is about one."""

    code = "BAD_USER_INPUT"

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class LimitExceeded(BadUserInput):
    code = "LIMIT_EXCEEDED"


class UnknownDocument(BadUserInput):
    code = "PERSISTED_QUERY_NOT_FOUND"


class UntrustedDocument(BadUserInput):
    code = "UNTRUSTED_DOCUMENT"


class NotFound(GatewayError):
    code = "NOT_FOUND"


class Conflict(GatewayError):
    code = "CONFLICT"


class Throttled(GatewayError):
    code = "THROTTLED"


class Overloaded(Throttled):
    """Refused before anything was done; `retry_after` is in seconds."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(GatewayError):
    code = "UNAVAILABLE"


class DeadlineExceeded(Unavailable):
    code = "TIMEOUT"


class Internal(GatewayError):
    """Our own fault: the message goes to the log, the caller learns only the request id."""


class IsolationBreach(Internal):
    """A row of another tenant was about to be used: nothing is returned."""


class ModelError(GatewayError):
    """Carries every fault found, each with the entity or pattern it is in; raised at start, never while serving."""

    code = "MODEL"

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class ConfigurationError(GatewayError):
    """Carries every fault found, so that an operator mends them in one go."""

    code = "CONFIGURATION"

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults
