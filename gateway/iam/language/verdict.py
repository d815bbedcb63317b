"""The question to a policy, and its two answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from gateway.iam.language.variables import Value


@dataclass(frozen=True, slots=True)
class Authorisation:
    """One action on one resource; keys of the context that hold several values are tuples, without doubles."""

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
    """`reason` is for people; it names statements, operators and keys, never a value of the request.

    `layer` is identity, session, boundary or trust; `request` when the request was not understood, `evaluator` when
    deciding itself failed. `condition` is the operator and key that did not hold.
    """

    reason: str
    layer: str
    statement: str | None = None
    condition: str | None = None
    explicit: bool = False
    action: str = ""
    resource: str = ""
    allowed: ClassVar[Literal[False]] = False
