"""The results for other programs: JSON of our own, and SARIF 2.1.0 for code scanning."""

from collections.abc import Sequence
from typing import Any, Final

from gateway import __version__
from gateway.ops.audit.report.table import summary
from gateway.ops.audit.results import AuditFinding, AuditSubject, LineResult, LineVerdict

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
# SARIF's kinds and levels: only a failure has a level of its own
_KINDS: Final = {
    LineVerdict.FAIL: ("fail", "error"),
    LineVerdict.UNKNOWN: ("open", "none"),
    LineVerdict.PASS: ("pass", "none"),
    LineVerdict.NOT_APPLICABLE: ("notApplicable", "none"),
}


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
    found = [
        _result(index, table_arn, result, finding)
        for index, result in enumerate(results)
        for finding in result.findings
    ]
    driver = {"name": "gateway audit", "version": __version__, "rules": rules}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": found}]}


def _result(index: int, table_arn: str, result: LineResult, finding: AuditFinding) -> dict[str, Any]:
    kind, level = _KINDS[finding.verdict]
    text = f"{finding.fact}. Fix: {finding.fix}" if finding.fix else finding.fact
    place = {"artifactLocation": {"uri": result.line.where}, "region": {"startLine": 1}}
    return {
        "ruleId": result.line.name,
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": text},
        # what is wrong is in the account; the file is where it is mended
        "locations": [
            {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": table_arn, "kind": "resource"}]}
        ],
    }
