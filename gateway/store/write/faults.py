"""Why a change was not made, as values that a front end can act on."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from gateway.errors import Conflict


class UserErrorCode(Enum):
    """Why a change was not made."""

    CONFLICT = "somebody else has changed it; read it again"
    OUT_OF_STOCK = "there is not enough left"
    ALREADY_EXISTS = "it exists already, or what must be unique is taken"
    NOT_FOUND = "what is to be changed does not exist"
    INVALID = "the input is wrong"


@dataclass(frozen=True, slots=True)
class Fault:
    code: UserErrorCode
    message: str
    field: str | None = None
    current_version: int | None = None
    # the item whose version tells what is wrong
    entity: str | None = None
    key: Mapping[str, Any] | None = None


class Rejected(Conflict):
    """An expected failure of a change: nothing was written."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__("; ".join(fault.message for fault in faults))
        self.faults = faults


def invalid(message: str, field: str | None = None) -> Rejected:
    return Rejected(Fault(UserErrorCode.INVALID, message, field))


def missing(entity: str, key: Mapping[str, Any]) -> Rejected:
    named = ", ".join(f"{name} `{value}`" for name, value in key.items())
    return Rejected(Fault(UserErrorCode.NOT_FOUND, f"there is no {entity} with {named}", next(iter(key), None)))
