"""What this room refuses: a policy that cannot be trusted, a request that cannot be read."""

from typing import ClassVar

from gateway.errors import Forbidden, GatewayError


class PolicyError(GatewayError):
    """A document is refused as a whole; the message names the statement and the fault."""

    code: ClassVar[str] = "POLICY"


class NotUnderstood(Forbidden):
    """A request whose authorisations cannot be told: whoever asks must deny it."""

    def __init__(self, message: str, action: str = "", resource: str = "") -> None:
        super().__init__(message)
        self.action = action
        self.resource = resource
