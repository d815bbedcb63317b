"""The faults that are injected below the store, and the seeded sequence that chooses them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from random import Random


class Kind(Enum):
    """What goes wrong with one call; `after` means that the engine has carried it out."""

    THROTTLED = "throttled"
    FAILED_BEFORE = "500, nothing done"
    FAILED_AFTER = "500 after it was done"
    RESET_BEFORE = "connection reset, nothing done"
    RESET_AFTER = "connection reset after it was done"
    SILENT_AFTER = "no answer after it was done"
    LATE = "done only after the gateway gave up"
    DAMAGED = "answer damaged on its way (crc32)"
    EXPIRED = "session declared expired"
    CONFLICT = "transaction conflict"
    IN_PROGRESS = "`transaction in progress`, done meanwhile"
    PARTIAL = "batch answered in part"


_ANY: Mapping[Kind, float] = {
    Kind.THROTTLED: 4,
    Kind.FAILED_BEFORE: 2,
    Kind.FAILED_AFTER: 2,
    Kind.RESET_BEFORE: 2,
    Kind.RESET_AFTER: 3,
    # they hold a client for seconds
    Kind.SILENT_AFTER: 0.4,
    Kind.LATE: 0.4,
    Kind.DAMAGED: 2,
    Kind.EXPIRED: 0.5,
}
_WRITES: Mapping[Kind, float] = {
    **_ANY,
    Kind.RESET_AFTER: 5,
    Kind.FAILED_AFTER: 4,
    Kind.SILENT_AFTER: 1.2,
    Kind.LATE: 1.2,
    Kind.CONFLICT: 8,
    Kind.IN_PROGRESS: 3,
}
_BATCHES: Mapping[Kind, float] = {**_ANY, Kind.PARTIAL: 12}
_WEIGHTS: Mapping[str, Mapping[Kind, float]] = {
    "TransactWriteItems": _WRITES,
    "BatchGetItem": _BATCHES,
    "BatchWriteItem": _BATCHES,
}


@dataclass(slots=True)
class Injector:
    """`share` of all calls fail; the sequence of choices is that of the seed."""

    seed: int
    share: float = 0.15
    on: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    injected: Counter[Kind] = field(default_factory=Counter)
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)

    def choose(self, operation: str) -> Kind | None:
        self.calls[operation] += 1
        if not self.on or self.random.random() >= self.share:
            return None
        weights = _WEIGHTS.get(operation, _ANY)
        [kind] = self.random.choices(list(weights), list(weights.values()))
        self.injected[kind] += 1
        return kind
