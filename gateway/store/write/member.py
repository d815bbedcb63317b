"""One write of a transaction."""

from typing import Literal

import msgspec

from gateway.model.keys import ItemKey
from gateway.model.types import Wire
from gateway.store.write.faults import Fault
from gateway.store.write.increments import Sums


class Member(msgspec.Struct, frozen=True):
    """One write of a transaction; `fault` is reported if its condition fails.

    A member that is `optional` is then left out instead, and the others are written without it.
    """

    kind: Literal["Put", "Update", "Delete", "ConditionCheck"]
    key: ItemKey
    body: Wire
    fault: Fault | None = None
    optional: bool = False
    sums: Sums | None = None  # of an increment, whose condition can fail for two reasons
    counts: int | None = None  # what it adds to a counter; members of the same row are joined
    refers: bool = False  # only ensures that a referenced item exists
