"""`gateway policies prove`: other people's LeadingKeys policies, proved or refuted by a request."""

from pathlib import Path

import typer

from gateway.iam.document import Document, parse
from gateway.iam.formal.foreign import REASONS, Question, questioned
from gateway.iam.formal.proof import Outcome
from gateway.iam.statement import Kind
from gateway.ops.formal_proof import read_document


def tell_proof(policy: Path, prefix: str, session: Path | None, boundary: Path | None, without: str) -> int:
    """Prints every theorem; 1 where one of them does not hold or cannot be decided."""
    asked = Question(
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


def _document(path: Path, kind: Kind) -> Document:
    return parse(read_document(path), kind)


def _lines(outcome: Outcome) -> list[str]:
    name = outcome.theorem.name
    if outcome.proved:
        return [f"proved: {name}"]
    if outcome.answer == "undecided":
        return [f"NOT DECIDED: {name}: the solver gave no answer in time"]
    shown = outcome.example.lines() if outcome.example is not None else []
    return [f"NOT TRUE: {name}: {REASONS[name]}", *(f"  {line}" for line in shown)]
