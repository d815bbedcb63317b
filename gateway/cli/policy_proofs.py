"""`gateway policies diff`, `prove` and `--check --against`: policy questions that a solver decides."""

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
from gateway.iam.policies.generate import documents
from gateway.model.model import Model
from gateway.ops.isolation.formal_proof import EXAMPLE, read_document
from gateway.ops.policies.changes import changes, read_baseline

_VERSION = re.compile(r"^## ", re.MULTILINE)


def print_widenings(old: Path, new: Path, changelog: Path | None) -> int:
    """Prints each new permission with a request that uses it; returns 1 if one of them is not announced."""
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
    """The ones that the newest version of the changelog does not name in backticks."""
    return [widening for widening in wider if not in_newest_version(widening.coordinate, changelog)]


def in_newest_version(coordinate: str, changelog: str) -> bool:
    parts = _VERSION.split(changelog)
    return len(parts) > 1 and f"`{coordinate}`" in " ".join(parts[1].split())


def print_changes(model: Model, directory: Path, against: str, changelog: Path | None) -> int:
    """Prints a line for each role and document; returns 1 if one may do more and the changelog does not name it."""
    role_changes = changes(read_baseline(against, directory), documents(model), EXAMPLE)
    text = "" if changelog is None else changelog.read_text(encoding="utf-8")
    silent = [
        coordinate
        for change in role_changes
        for coordinate in (f"{change.who} {action}" for action in change.more)
        if not in_newest_version(coordinate, text)
    ]
    typer.echo(f"compared with {against}, for every request:")
    for change in role_changes:
        typer.echo(f"  {change.line()}")
    for coordinate in silent:
        where = "" if changelog is None else f"; name `{coordinate}` in the newest version of {changelog}"
        typer.echo(f"wider: {coordinate}{where}", err=True)
    return 1 if silent else 0


def _directory(path: Path) -> Documents:
    policies = {file.name: read_document(file) for file in sorted(path.glob("*.json"))}
    if not policies:
        raise BadUserInput(f"`{path}` contains no policy documents (*.json)")
    return policies


def print_proof(policy: Path, prefix: str, session: Path | None, boundary: Path | None, without: str) -> int:
    """Prints every theorem; returns 1 if one of them does not hold or cannot be decided."""
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
