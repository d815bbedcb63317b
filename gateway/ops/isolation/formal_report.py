"""The report of a formal proof: Markdown for an auditor, JSON for programs."""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from gateway import __version__
from gateway.iam.formal.explanations import ASSUMPTIONS, LEMMA, NOT_CLAIMED, Settled, explanation
from gateway.iam.formal.liveness import Use
from gateway.iam.formal.proof import TheoremOutcome
from gateway.iam.formal.solver.solver import Answer
from gateway.ops.isolation.report import write_pages

_SHOWN = 20
_SETTLED: Final[Mapping[Settled, str]] = {
    "documented": "AWS documents it",
    "aws": "only AWS can settle it",
    "gateway": "the gateway ensures it",
}
_USES = (
    "Each access pattern and each kind of write of each entity, as every role sends it, was decided with the same "
    "formulas: allowed where the role is declared to use it, denied elsewhere."
)


@dataclass(frozen=True, slots=True)
class FormalReport:
    """`documents` are the SHA-256 hashes of the proved files, as `sha256sum` prints them; `lemma` is its outcome."""

    at: datetime
    about: str
    documents: Mapping[str, str]
    outcomes: tuple[TheoremOutcome, ...]
    uses: tuple[Use, ...]
    lemma: Answer | None = None

    @property
    def passed(self) -> bool:
        """The lemma counts if a solver decided it: without cvc5 it rests on the proof in the project's tests."""
        held = all(outcome.proved for outcome in self.outcomes) and all(use.held for use in self.uses)
        return bool(self.outcomes) and held and self.lemma in (None, "impossible")


def versions() -> dict[str, str]:
    solvers = {name: _installed(package) for name, package in (("z3", "z3-solver"), ("cvc5", "cvc5"))}
    return {"gateway": __version__, **solvers, "python": platform.python_version()}


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def as_markdown(report: FormalReport) -> str:
    assumptions = [f"- {assumption.text} ({_SETTLED[assumption.settled]})" for assumption in ASSUMPTIONS]
    lines = ["# Proof of isolation", "", _summary(report), ""]
    lines += [*_failures(report), *_theorems(report.outcomes), *_uses(report.uses)]
    lines += ["## The lemma", "", _lemma(report.lemma), "", "## Assumptions", "", *assumptions, ""]
    lines += ["## Not claimed", "", *(f"- {text}" for text in NOT_CLAIMED), ""]
    lines += ["## What was proved, with what", "", "| document | SHA-256 |", "|---|---|"]
    lines += [f"| {name} | `{text}` |" for name, text in report.documents.items()]
    lines += ["", ", ".join(f"{name} {text}" for name, text in versions().items()) + "."]
    return "\n".join(lines) + "\n"


def as_json(report: FormalReport) -> str:
    content = {
        "at": report.at.isoformat(),
        "about": report.about,
        "passed": report.passed,
        "versions": versions(),
        "documents": dict(report.documents),
        "lemma": {"means": LEMMA, "answer": report.lemma or "not decided here"},
        "assumptions": [{"assumption": assumption.text, "settled": assumption.settled} for assumption in ASSUMPTIONS],
        "not_claimed": list(NOT_CLAIMED),
        "theorems": [_record(outcome) for outcome in report.outcomes],
        "uses": {
            "checked": len(report.uses),
            "failed": [f"{use.role}: {use.name}" for use in report.uses if not use.held],
        },
    }
    return json.dumps(content, indent=1) + "\n"


def write_formal_report(report: FormalReport, directory: Path) -> tuple[Path, Path]:
    return write_pages(directory / "proof", as_markdown(report), as_json(report))


def _summary(report: FormalReport) -> str:
    proved = sum(outcome.proved for outcome in report.outcomes)
    return (
        f"**{'Proved' if report.passed else 'NOT PROVED'}.** {proved} of {len(report.outcomes)} theorems about "
        f"{report.about} hold for every request, of any size, with any keys, by any tenant; decided by an SMT solver "
        f"on {report.at:%Y-%m-%d %H:%M} UTC in {sum(outcome.seconds for outcome in report.outcomes):.1f} s. "
        f"{sum(use.held for use in report.uses)} of {len(report.uses)} requests that the roles send were decided as "
        "declared."
    )


def _theorems(outcomes: Sequence[TheoremOutcome]) -> list[str]:
    lines = ["## Theorems", ""]
    for name, group in groupby(
        sorted(outcomes, key=lambda outcome: outcome.theorem.name), lambda outcome: outcome.theorem.name
    ):
        members = list(group)
        word = "proved" if all(one.proved for one in members) else "NOT PROVED"
        about = ", ".join(f"{one.theorem.about}{'' if one.proved else ' (NOT PROVED)'}" for one in members)
        lines += [f"### {name[0].upper()}{name[1:]}: {word}", "", explanation(name), "", f"For: {about}.", ""]
    return lines


def _uses(uses: Sequence[Use]) -> list[str]:
    failed = [use for use in uses if not use.held]
    lines = ["## Every access pattern and every mutation", "", _USES, ""]
    lines += [f"- {use.role}: {use.name} ({use.operation}) is {_word(use.allowed)}" for use in failed[:_SHOWN]]
    return lines + ([""] if failed else [])


def _failures(report: FormalReport) -> list[str]:
    failed = [outcome for outcome in report.outcomes if not outcome.proved]
    lines = ["## What is not proved", ""] if failed else []
    for outcome in failed[:_SHOWN]:
        lines += [f"**{outcome.theorem.name}** ({outcome.theorem.about}): {why(outcome)}", ""]
        if outcome.example is not None:
            lines += ["```", *outcome.lines(), "```", ""]
    return lines


def why(outcome: TheoremOutcome) -> str:
    if outcome.answer == "undecided":
        return "the solver gave no answer in time"
    return "no request does this" if outcome.theorem.possible else "this request shows it"


def _word(allowed: bool) -> str:
    return "allowed" if allowed else "denied"


def _record(outcome: TheoremOutcome) -> dict[str, Any]:
    return {
        "theorem": outcome.theorem.name,
        "about": outcome.theorem.about,
        "means": explanation(outcome.theorem.name),
        "proved": outcome.proved,
        "seconds": round(outcome.seconds, 3),
        "counterexample": _request(outcome) if outcome.example is not None and not outcome.proved else None,
    }


def _request(outcome: TheoremOutcome) -> dict[str, Any]:
    """The request as an authorization, for another evaluator, and in readable form."""
    assert outcome.example is not None  # noqa: S101  asked for only where there is one
    authorisation = outcome.example.authorisation
    return {
        "action": authorisation.action,
        "resource": authorisation.resource,
        "context": {
            key: value if isinstance(value, str) else list(value) for key, value in authorisation.context.items()
        },
        "reaches": outcome.example.other,
        "caller": outcome.example.caller,
        "where": [name for name, holds in outcome.example.unknowns.items() if holds],
        "text": outcome.example.lines(),
        "replay": outcome.replay or None,
    }


def _lemma(answer: Answer | None) -> str:
    match answer:
        case None:
            return f"{LEMMA} Not decided here, where cvc5 is not installed; the project's tests decide it."
        case "impossible":
            return f"{LEMMA} Proved by cvc5."
    return f"{LEMMA} **NOT PROVED.**"
