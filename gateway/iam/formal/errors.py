"""What a proof refuses: it never ignores a part of a policy that it cannot decide."""

from typing import ClassVar

from gateway.errors import GatewayError, Internal


class NotProvable(GatewayError):
    """A policy says something that the solver cannot decide, or the solver is not there."""

    code: ClassVar[str] = "POLICY"


class NotConfirmed(Internal):
    """The solver and the evaluator disagree about a request: one of them is wrong, and nothing they say is believed."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"internal error, please report it: the evaluator does not confirm what the solver found: {what}"
        )
