"""The report of the attacks: Markdown for an auditor, JSON for programs."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from gateway.aws.sts.session import Session
from gateway.ops.isolation.attack import ProbeResult

_SHOWN = 50
_READING = (
    "A *control* is a request for a tenant's own rows, which must pass: without them a broken session would look like "
    "isolation. *Limits* are requests that IAM cannot decide; they must show nothing of another tenant. Every answer "
    "and every error was searched for the markers and partition keys of the other tenants."
)


@dataclass(frozen=True, slots=True)
class ProofReport:
    """`policies` are the hashes of the documents that each role's sessions had."""

    at: datetime
    endpoint: str
    table: str
    policies: Mapping[str, str]
    results: tuple[ProbeResult, ...]

    @property
    def passed(self) -> bool:
        """Nothing leaked, nothing was left open, and at least one probe was sent."""
        controls = any(result.probe.expected == "allowed" for result in self.results)
        return controls and all(result.passed for result in self.results)


def report(sessions: Sequence[Session], results: tuple[ProbeResult, ...], at: datetime) -> ProofReport:
    tenancy = sessions[0].tenancy
    policies = {session.role: session.permissions.fingerprint for session in sessions}
    return ProofReport(at, tenancy.target.url, tenancy.table, policies, results)


def as_json(proof: ProofReport) -> str:
    content = {
        "at": proof.at.isoformat(),
        "endpoint": proof.endpoint,
        "table": proof.table,
        "passed": proof.passed,
        "policies": dict(proof.policies),
        "counts": dict(Counter(result.verdict for result in proof.results)),
        "disagreements": sum(not result.agreed for result in proof.results),
        "results": [_record(result) for result in proof.results],
    }
    return json.dumps(content, indent=1) + "\n"


def _record(result: ProbeResult) -> dict[str, Any]:
    probe = result.probe
    return {
        "tenant": result.tenant,
        "role": result.role,
        "against": result.victim,
        "group": probe.group,
        "probe": probe.name,
        "operation": probe.operation,
        "expected": probe.expected,
        "outcome": result.outcome,
        "code": result.code,
        "verdict": result.verdict,
        "evaluator_agrees": result.agreed,
        "marks": list(result.marks),
    }


def as_markdown(proof: ProofReport) -> str:
    lines = ["# Proof of isolation", "", _summary(proof), "", _READING, "", *_table(proof.results), ""]
    return "\n".join([*lines, *_policies(proof.policies), "", *_failures(proof.results)]).rstrip() + "\n"


def write_pages(path: Path, markdown: str, machine: str) -> tuple[Path, Path]:
    """Writes both forms of a report next to each other."""
    pages = {path.with_suffix(".md"): markdown, path.with_suffix(".json"): machine}
    path.parent.mkdir(parents=True, exist_ok=True)
    for page, text in pages.items():
        page.write_text(text, encoding="utf-8")
    first, second = pages
    return first, second


def _summary(proof: ProofReport) -> str:
    verdicts = Counter(result.verdict for result in proof.results)
    different = sum(not result.agreed for result in proof.results)
    return (
        f"**{'Passed' if proof.passed else 'FAILED'}.** {len(proof.results):,} requests were sent to "
        f"`{proof.endpoint}`, table `{proof.table}`, with real sessions of the tenants, below the gateway's own "
        f"checks, on {proof.at:%Y-%m-%d %H:%M} UTC. {verdicts['leak']} leaked, {verdicts['not denied']} were not "
        f"denied, {verdicts['control failed']} controls failed, {verdicts['unproven']} got no answer. On {different} "
        "of them the gateway's evaluator gave another verdict than the endpoint."
    )


def _table(results: Sequence[ProbeResult]) -> list[str]:
    """One row per group, one column per role: how many probes held, of how many."""
    roles = list(dict.fromkeys(result.role for result in results))
    sent = Counter((result.probe.group, result.role) for result in results)
    held = Counter((result.probe.group, result.role) for result in results if result.passed)
    rows = [
        f"| {group} | {' | '.join(f'{held[group, role]} of {sent[group, role]}' for role in roles)} |"
        for group in dict.fromkeys(result.probe.group for result in results)
    ]
    return [f"| held | {' | '.join(roles)} |", f"|---|{'---|' * len(roles)}", *rows]


def _policies(policies: Mapping[str, str]) -> list[str]:
    return [
        "| role | SHA-256 of its policies |",
        "|---|---|",
        *(f"| {role} | `{text}` |" for role, text in policies.items()),
    ]


def _failures(results: Iterable[ProbeResult]) -> list[str]:
    failed = [result for result in results if not result.passed]
    lines = [
        f"- **{result.verdict}**: {result.tenant} as {result.role} against {result.victim}: {result.probe.name} "
        f"({result.probe.operation}, {result.outcome} {result.code})"
        for result in failed[:_SHOWN]
    ]
    more = [f"- and {len(failed) - _SHOWN} more, see the JSON report"] if len(failed) > _SHOWN else []
    return ["## What failed", "", *lines, *more] if failed else []
