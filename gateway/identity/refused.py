"""A token that is not believed: a message for the caller, a reason for the log."""

from gateway.errors import Unauthenticated


class Refused(Unauthenticated):
    # INVARIANT: neither text holds anything from the token; what a library said about it is the `__cause__`.
    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason or message
