"""A statement of a policy as values."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["identity", "session", "boundary", "trust", "endpoint"]
Effect = Literal["Allow", "Deny"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One row: every listed value is an alternative; rows of a statement must all hold."""

    operator: str
    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """`label` is the Sid, or `#n` without one."""

    label: str
    effect: Effect
    actions: tuple[str, ...]
    excludes_actions: bool
    resources: tuple[str, ...]
    excludes_resources: bool
    principals: tuple[tuple[str, str], ...]
    conditions: tuple[Condition, ...]
