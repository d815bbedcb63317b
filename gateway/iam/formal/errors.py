"""What a proof refuses: it never ignores a part of a policy that it cannot decide."""

from typing import ClassVar

from gateway.errors import GatewayError


class NotProvable(GatewayError):
    """A policy says something that the solver cannot decide, or the solver is not there."""

    code: ClassVar[str] = "POLICY"
