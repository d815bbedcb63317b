"""The result of an audit: a table for people, JSON, and SARIF 2.1.0 for code scanning."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gateway import __version__
from gateway.ops.audit.results import AuditFinding, AuditSubject, LineResult, LineVerdict

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# how a verdict is shown: style and mark in the table, kind and level in SARIF, where only a failure has a level of its
# own
_SHOWN: Final = {
    LineVerdict.FAIL: ("bold red", "✗", "fail", "error"),
    LineVerdict.UNKNOWN: ("yellow", "?", "open", "none"),
    LineVerdict.PASS: ("green", "✓", "pass", "none"),
    LineVerdict.NOT_APPLICABLE: ("dim", "–", "notApplicable", "none"),
}


def show(console: Console, subject: AuditSubject, results: Sequence[LineResult]) -> None:
    table = Table(title=f"{subject.table} in {subject.region}", title_justify="left", show_lines=True)
    for head in ("", "line", "verdict", "found"):
        table.add_column(head, justify="right" if not head else "left", overflow="fold")
    for number, result in enumerate(results, 1):
        verdict = Text(result.verdict, style=_SHOWN[result.verdict][0])
        table.add_row(str(number), Text(result.line.title), verdict, _findings(result))
    console.print(table)
    console.print(Text(summary(results)))


def summary(results: Sequence[LineResult]) -> str:
    counted = Counter(result.verdict for result in results)
    return ", ".join(f"{counted[verdict]} {verdict}" for verdict in LineVerdict)


def _findings(result: LineResult) -> Text:
    """The findings, worst first; a failure with its fix."""
    text = Text()
    worst_first = sorted(result.findings, key=lambda finding: list(LineVerdict).index(finding.verdict))
    for position, finding in enumerate(worst_first):
        style, mark, _, _ = _SHOWN[finding.verdict]
        text.append("\n" if position else "").append(f"{mark} ", style=style).append(finding.fact)
        if finding.fix:
            text.append(f"\n  → {finding.fix}", style="cyan")
    return text


def as_json(subject: AuditSubject, results: Sequence[LineResult]) -> dict[str, Any]:
    lines = [
        {
            "number": number,
            "name": result.line.name,
            "title": result.line.title,
            "verdict": result.verdict.value,
            "findings": [
                {"verdict": finding.verdict.value, "fact": finding.fact, "fix": finding.fix}
                for finding in result.findings
            ],
        }
        for number, result in enumerate(results, 1)
    ]
    return {"table": subject.table, "region": subject.region, "summary": summary(results), "lines": lines}


def as_sarif(table_arn: str, results: Sequence[LineResult]) -> dict[str, Any]:
    rules = [
        {
            "id": result.line.name,
            "name": "".join(word.capitalize() for word in result.line.name.split("-")),
            "shortDescription": {"text": result.line.title},
            "help": {"text": "see docs/audit.md"},
        }
        for result in results
    ]
    entries = [
        _result(index, table_arn, result, finding)
        for index, result in enumerate(results)
        for finding in result.findings
    ]
    driver = {"name": "gateway audit", "version": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": entries}]}


def _result(index: int, table_arn: str, result: LineResult, finding: AuditFinding) -> dict[str, Any]:
    _, _, kind, level = _SHOWN[finding.verdict]
    text = f"{finding.fact}. Fix: {finding.fix}" if finding.fix else finding.fact
    place = {"artifactLocation": {"uri": result.line.where}, "region": {"startLine": 1}}
    return {
        "ruleId": result.line.name,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": text},
        # the fault is in the account; the file is where it is fixed
        "locations": [
            {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": table_arn, "kind": "resource"}]}
        ],
    }
