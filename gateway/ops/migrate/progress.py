"""The progress of a run: a bar where somebody watches, and the figures at the end."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from gateway.ops.migrate.tally import Tally


class Bar:
    def __init__(self, progress: Progress, total: int | None) -> None:
        self._progress = progress
        self._task = progress.add_task("items", total=total, mended=0, wrong=0)

    def show(self, tally: Tally) -> None:
        self._progress.update(self._task, completed=tally.scanned, mended=tally.mended, wrong=tally.wrong)


@contextmanager
def bar(console: Console, total: int | None) -> Iterator[Bar]:
    """`total` is what DynamoDB last counted, some hours ago: a guide, not a promise."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("wrong {task.fields[wrong]}, mended {task.fields[mended]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield Bar(progress, total)


def summary(tally: Tally, units: float) -> Iterator[str]:
    yield f"passed {tally.scanned} rows, looked at {tally.judged}, {units:.0f} capacity units"
    for fault, count in tally.faults.most_common():
        yield f"  {count} {fault.value}"
    if tally.mended or tally.met:
        yield f"mended {tally.mended}; met others {tally.met} times and looked again, {tally.gone} were gone then"
    for reason, count in tally.reasons():
        yield f"  not touched: {count} x {reason}"
