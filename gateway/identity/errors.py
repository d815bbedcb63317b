"""Errors of authentication, each with a message for the caller and a reason for the log."""

from typing import TYPE_CHECKING

from gateway.errors import Forbidden, Unauthenticated, Unavailable

if TYPE_CHECKING:
    from gateway.identity.support import SupportAccess


class TokenRefused(Unauthenticated):
    support: "SupportAccess | None" = None  # the grant that the token is, once its signature was verified

    # INVARIANT: neither text contains anything from the token; the error of a library is the `__cause__`.
    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason or message


class KeysUnavailable(Unavailable):
    """The token may be valid: the caller should try again, and need not sign in again."""

    def __init__(self) -> None:
        super().__init__("signing keys of the issuer are unavailable, try again later")
        self.reason = "the issuer's keys cannot be fetched"


class RolesMissing(Forbidden):
    """The token is valid, but names no role of the gateway; `reason` says what to do at the provider."""

    def __init__(self, reason: str) -> None:
        super().__init__("the token carries no role that this gateway knows")
        self.reason = reason
