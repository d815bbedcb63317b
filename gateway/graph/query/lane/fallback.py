"""The reasons why a lane leaves an operation to the reference executor, which then reuses what was already read."""

from enum import StrEnum
from typing import Final


class Reason(StrEnum):
    """INVARIANT: these are all reasons; any other failure in a lane is a bug and reported as INTERNAL."""

    ARGUMENT = "argument"  # the field does not accept it, or a cursor is invalid
    LIMIT = "limit"  # more items or queries than one operation may request
    ROW = "row"  # a row or a response does not match its declaration
    FOREIGN_ROW = "foreign_row"
    EXPIRY = "expiry"  # the row expires, although its entity does not
    OLD_SCHEMA = "old_schema"
    FAILED_CALL = "failed_call"
    REFUSED = "refused"  # the policies do not allow a call
    OWN_WRITE = "own_write"  # the read may miss what the caller has just written
    CODE = "code"  # the code of a field failed, or returned a value that its type does not allow
    MEMBER_MISSING = "member_missing"  # a collection lists an item that was not read with it


class NoLane(Exception):
    """Only the reference executor can run the operation, or what the role may read of it."""


class FallBack(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Final = reason
