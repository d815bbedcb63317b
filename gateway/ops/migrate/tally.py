"""What a run has seen and done, counted."""

from collections import Counter
from dataclasses import dataclass, field

from gateway.ops.migrate.judge import Fault, Verdict

_EXAMPLES = 10


@dataclass(slots=True)
class Tally:
    scanned: int = 0
    judged: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    mended: int = 0
    # somebody else wrote the item meanwhile: it was read again
    met: int = 0
    gone: int = 0
    # why rows could not be read, with the kind of item and no value of it
    unreadable: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, verdict: Verdict) -> None:
        self.judged += 1
        self.faults.update(verdict.faults)
        if verdict.reason:
            self.unreadable[f"{kind}: {verdict.reason}"] += 1

    @property
    def wrong(self) -> int:
        return sum(self.faults.values())

    def reasons(self) -> list[tuple[str, int]]:
        return self.unreadable.most_common(_EXAMPLES)
