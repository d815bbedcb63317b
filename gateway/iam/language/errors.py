"""The error that the policy language raises."""


class PolicyError(Exception):
    """A policy document is invalid and refused as a whole; the message names the statement and the fault."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
