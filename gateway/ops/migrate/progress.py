"""The progress of a run: a bar on a terminal, and the counts at the end."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gateway.ops.migrate.row_checker import RowFault, RowVerdict

# What a run has seen and done, counted.

_EXAMPLES = 10


@dataclass(slots=True)
class MigrationTally:
    scanned: int = 0
    checked: int = 0
    faults: Counter[RowFault] = field(default_factory=Counter)
    repaired: int = 0
    # conflicts: another writer changed the item in the meantime, so it was read again
    met: int = 0
    gone: int = 0
    # why rows could not be read, with the kind of item but no values
    unreadable: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, verdict: RowVerdict) -> None:
        self.checked += 1
        self.faults.update(verdict.faults)
        if verdict.reason:
            self.unreadable[f"{kind}: {verdict.reason}"] += 1

    @property
    def wrong(self) -> int:
        return sum(self.faults.values())

    def reasons(self) -> list[tuple[str, int]]:
        return self.unreadable.most_common(_EXAMPLES)


def counted_bar(console: Console, counts: str) -> Progress:
    """A bar with a count, `counts` as text, and times; only on a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(counts),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, disable=not console.is_terminal)


def summary(tally: MigrationTally, units: float) -> Iterator[str]:
    yield f"scanned {tally.scanned} rows, checked {tally.checked}, consumed {units:.0f} capacity units"
    for fault, count in tally.faults.most_common():
        yield f"  {count} {fault.value}"
    if tally.repaired or tally.met:
        yield f"repaired {tally.repaired}; {tally.met} conflicts with other writers, {tally.gone} items now gone"
    for reason, count in tally.reasons():
        yield f"  not touched: {count} x {reason}"
