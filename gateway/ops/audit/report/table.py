"""The results as a table for people."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gateway.ops.audit.results import AuditFinding, AuditSubject, LineResult, LineVerdict

_STYLES: Final = {
    LineVerdict.FAIL: "bold red",
    LineVerdict.UNKNOWN: "yellow",
    LineVerdict.PASS: "green",
    LineVerdict.NOT_APPLICABLE: "dim",
}
_MARKS: Final = {
    LineVerdict.FAIL: "✗",
    LineVerdict.UNKNOWN: "?",
    LineVerdict.PASS: "✓",
    LineVerdict.NOT_APPLICABLE: "–",
}


def show(console: Console, subject: AuditSubject, results: Sequence[LineResult]) -> None:
    table = Table(title=f"{subject.table} in {subject.region}", title_justify="left", show_lines=True)
    for head in ("", "line", "verdict", "found"):
        table.add_column(head, justify="right" if not head else "left", overflow="fold")
    for number, result in enumerate(results, 1):
        style = _STYLES[result.verdict]
        table.add_row(str(number), Text(result.line.title), Text(result.verdict, style=style), _found(result))
    console.print(table)
    console.print(Text(summary(results)))


def summary(results: Sequence[LineResult]) -> str:
    counted = Counter(result.verdict for result in results)
    return ", ".join(f"{counted[verdict]} {verdict}" for verdict in LineVerdict)


def _found(result: LineResult) -> Text:
    """The worst first; a failure with what mends it."""
    text = Text()
    worst_first = sorted(result.findings, key=lambda finding: list(LineVerdict).index(finding.verdict))
    for position, finding in enumerate(worst_first):
        text.append("\n" if position else "")
        _append(text, finding)
    return text


def _append(text: Text, finding: AuditFinding) -> None:
    text.append(f"{_MARKS[finding.verdict]} ", style=_STYLES[finding.verdict])
    text.append(finding.fact)
    if finding.fix:
        text.append(f"\n  → {finding.fix}", style="cyan")
