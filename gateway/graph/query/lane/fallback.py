"""Why a lane leaves an operation to the reference executor, which then runs it on what was read already."""

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """INVARIANT: these are all; any other failure in a lane is a fault of ours and answered as INTERNAL."""

    ARGUMENT = "argument"  # one that a field does not take, or a cursor that is none
    LIMIT = "limit"  # more items or queries than one operation may ask for
    ROW = "row"  # a row or an answer that is not as it is declared
    FOREIGN_ROW = "foreign_row"
    EXPIRY = "expiry"  # a row that expires although its entity does not
    OLD_SCHEMA = "old_schema"
    FAILED_CALL = "failed_call"
    REFUSED = "refused"  # the policies do not allow a call
    OWN_WRITE = "own_write"  # a read that may miss what the caller has just written
    CODE = "code"  # a field's code failed, or returned what its type does not allow
    MEMBER_MISSING = "member_missing"  # a collection lists what was not read with it


class NoLane(Exception):
    """The operation, or what the role may read of it, is only for the reference executor."""


class FallBack(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Final = reason
