"""The errors of proofs: a proof never ignores a part of a policy that it cannot decide."""

from typing import ClassVar

from gateway.errors import GatewayError, Internal


class NotProvable(GatewayError):
    """The solver cannot decide a part of a policy, or is not installed."""

    code: ClassVar[str] = "POLICY"


class NotConfirmed(Internal):
    """The solver and the evaluator disagree about a request, so one of them is wrong and the proof is invalid."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"internal error, please report it: the evaluator does not confirm what the solver found: {what}"
        )
