"""The codes of the errors in a payload: those of every gateway, and those that a domain declares."""

from dataclasses import dataclass
from enum import Enum


class UserErrorCode(Enum):
    """Why a change was not made."""

    CONFLICT = "somebody else has changed it; read it again"
    ALREADY_EXISTS = "it exists already, or what must be unique is taken"
    NOT_FOUND = "what is to be changed does not exist"
    INVALID = "the input is wrong"
    OUT_OF_RANGE = "a number would leave the range that is declared for it"
    IN_USE = "other items still refer to it"
    FORBIDDEN = "the role may not write it; only in the results of bulk mutations"
    UNFINISHED = "the request ended before it was known to be written; only in the results of bulk mutations"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """A code of a domain's own, such as OUT_OF_STOCK; declared in `Domain(error_codes=...)`, used in a `Fault`."""

    name: str
    description: str
