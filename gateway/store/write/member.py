"""One write of a transaction."""

from dataclasses import dataclass
from typing import Literal

from gateway.model.keys import ItemKey
from gateway.model.types import Wire
from gateway.store.write.faults import Fault
from gateway.store.write.increments import Sums


@dataclass(frozen=True, slots=True)
class Member:
    """One write of a transaction; `fault` is what it means when its condition does not hold.

    One that is `optional` is then left out instead, and the others are written without it.
    """

    kind: Literal["Put", "Update", "Delete", "ConditionCheck"]
    key: ItemKey
    body: Wire
    fault: Fault | None = None
    optional: bool = False
    sums: Sums | None = None  # of an increment, whose condition can fail for two reasons
    counts: int | None = None  # what it adds to a counter; several of one row are joined
    refers: bool = False  # only makes sure that an item that is referred to exists
