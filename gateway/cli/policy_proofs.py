"""`gateway policies diff` and `gateway policies prove`: questions about policies that a solver answers."""

import re
from collections.abc import Sequence
from pathlib import Path

import typer

from gateway.errors import BadUserInput
from gateway.iam.formal.difference import Documents, Widening, widenings
from gateway.iam.formal.foreign_policies import REASONS, ForeignPolicy, questioned
from gateway.iam.formal.proof import TheoremOutcome
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.language.grammar import Kind
from gateway.ops.isolation.formal_proof import EXAMPLE, read_document

_VERSION = re.compile(r"^## ", re.MULTILINE)


def print_widenings(old: Path, new: Path, changelog: Path | None) -> int:
    """Prints each new permission with a request that uses it; 1 if one of them is not announced."""
    wider = sorted(widenings(_directory(old), _directory(new), EXAMPLE), key=lambda widening: widening.coordinate)
    silent = unannounced(wider, changelog.read_text(encoding="utf-8")) if changelog is not None else list(wider)
    for widening in wider:
        typer.echo(f"wider: {widening.coordinate}{'' if widening in silent else ' (announced)'}")
        for line in widening.example.lines():
            typer.echo(f"  {line}")
    if not wider:
        typer.echo("no role may do anything that it could not do before")
    for widening in silent if changelog is not None else ():
        typer.echo(f"not announced: name `{widening.coordinate}` in the newest version of {changelog}", err=True)
    return 1 if silent else 0


def unannounced(wider: Sequence[Widening], changelog: str) -> list[Widening]:
    """Those that the newest version of the changelog does not name in backticks."""
    parts = _VERSION.split(changelog)
    newest = " ".join(parts[1].split()) if len(parts) > 1 else ""
    return [widening for widening in wider if f"`{widening.coordinate}`" not in newest]


def _directory(path: Path) -> Documents:
    documents = {file.name: read_document(file) for file in sorted(path.glob("*.json"))}
    if not documents:
        raise BadUserInput(f"`{path}` contains no policy documents (*.json)")
    return documents


def print_proof(policy: Path, prefix: str, session: Path | None, boundary: Path | None, without: str) -> int:
    """Prints every theorem; 1 if one of them does not hold or cannot be decided."""
    subject = ForeignPolicy(
        policy=_document(policy, "identity"),
        prefix=prefix,
        session=None if session is None else _document(session, "session"),
        boundary=None if boundary is None else _document(boundary, "boundary"),
        without=without,
    )
    outcomes = list(questioned(subject))
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
    example = outcome.example.lines() if outcome.example is not None else []
    return [f"NOT TRUE: {name}: {REASONS[name]}", *(f"  {line}" for line in example)]
