"""The question to a policy set, and the two possible verdicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from gateway.iam.language.variables import Value


@dataclass(frozen=True, slots=True)
class Authorisation:
    """One action on one resource; a context key with several values holds a tuple without duplicates."""

    action: str
    resource: str
    context: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Allow:
    """`statements` names one granting statement of each layer, as `layer/label`."""

    statements: tuple[str, ...]
    allowed: ClassVar[Literal[True]] = True


@dataclass(frozen=True, slots=True)
class Deny:
    """`reason` names statements, operators and keys, but never a value of the request.

    `layer` is identity, session, boundary or trust; `request` if the request was not understood, `evaluator` if
    deciding failed. `condition` is the operator and key that did not hold.
    """

    reason: str
    layer: str
    statement: str | None = None
    condition: str | None = None
    explicit: bool = False
    action: str = ""
    resource: str = ""
    allowed: ClassVar[Literal[False]] = False
