"""The error raised for a DynamoDB request that cannot be authorised."""

from gateway.errors import Forbidden


class NotUnderstood(Forbidden):
    """The authorisations that a request needs are unknown, so the caller must deny it.

    `action` and `resource` are set if at least these are known.
    """

    def __init__(self, message: str, action: str = "", resource: str = "") -> None:
        super().__init__(message)
        self.action = action
        self.resource = resource
