"""The codes of the errors in a payload: those of every gateway, and those that a domain declares."""

from dataclasses import dataclass
from enum import Enum


class UserErrorCode(Enum):
    """Why a change was not made."""

    CONFLICT = "another request has changed it; read it again"
    ALREADY_EXISTS = "it already exists, or a value that must be unique is taken"
    NOT_FOUND = "the item to change does not exist"
    INVALID = "the input is wrong"
    OUT_OF_RANGE = "a number would leave its declared range"
    IN_USE = "other items still refer to it"
    FORBIDDEN = "the role may not write it; only in the results of bulk mutations"
    UNFINISHED = "the request ended before the item was known to be written; only in the results of bulk mutations"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A domain's own code, such as OUT_OF_STOCK; declared in `Domain(error_codes=...)`, used in a `Fault`."""

    name: str
    description: str
