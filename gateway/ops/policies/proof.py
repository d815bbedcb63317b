"""`gateway policies prove`: other people's LeadingKeys policies, proved or refuted by a request."""

from pathlib import Path

import typer

from gateway.iam.formal.foreign_policies import REASONS, ForeignPolicy, questioned
from gateway.iam.formal.proof import TheoremOutcome
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.grammar import Kind
from gateway.ops.isolation.formal_proof import read_document


def print_proof(policy: Path, prefix: str, session: Path | None, boundary: Path | None, without: str) -> int:
    """Prints every theorem; 1 where one of them does not hold or cannot be decided."""
    asked = ForeignPolicy(
        policy=_document(policy, "identity"),
        prefix=prefix,
        session=None if session is None else _document(session, "session"),
        boundary=None if boundary is None else _document(boundary, "boundary"),
        without=without,
    )
    outcomes = list(questioned(asked))
    for outcome in outcomes:
        for line in _lines(outcome):
            typer.echo(line)
    return 0 if all(outcome.proved for outcome in outcomes) else 1


def _document(path: Path, kind: Kind) -> PolicyDocument:
    return parse(read_document(path), kind)


def _lines(outcome: TheoremOutcome) -> list[str]:
    name = outcome.theorem.name
    if outcome.proved:
        return [f"proved: {name}"]
    if outcome.answer == "undecided":
        return [f"NOT DECIDED: {name}: the solver gave no answer in time"]
    shown = outcome.example.lines() if outcome.example is not None else []
    return [f"NOT TRUE: {name}: {REASONS[name]}", *(f"  {line}" for line in shown)]
