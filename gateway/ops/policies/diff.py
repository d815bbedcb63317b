"""`gateway policies diff`: what a change of the documents opens, and whether the changelog says so."""

import re
from collections.abc import Sequence
from pathlib import Path

import typer

from gateway.errors import BadUserInput
from gateway.iam.formal.difference import Documents, Widening, widenings
from gateway.ops.isolation.formal_proof import EXAMPLE, read_document

_VERSION = re.compile(r"^## ", re.MULTILINE)


def print_widenings(old: Path, new: Path, changelog: Path | None) -> int:
    """Prints each widening with a request; 1 where one of them is not announced."""
    found = sorted(widenings(_directory(old), _directory(new), EXAMPLE), key=lambda each: each.coordinate)
    silent = unannounced(found, changelog.read_text(encoding="utf-8")) if changelog is not None else list(found)
    for each in found:
        typer.echo(f"wider: {each.coordinate}{'' if each in silent else ' (announced)'}")
        for line in each.example.lines():
            typer.echo(f"  {line}")
    if not found:
        typer.echo("nobody may do anything that they could not do before")
    for each in silent if changelog is not None else ():
        typer.echo(f"not announced: name `{each.coordinate}` in the newest version of {changelog}", err=True)
    return 1 if silent else 0


def unannounced(found: Sequence[Widening], changelog: str) -> list[Widening]:
    """Those that the newest version does not name in backticks."""
    parts = _VERSION.split(changelog)
    newest = " ".join(parts[1].split()) if len(parts) > 1 else ""
    return [each for each in found if f"`{each.coordinate}`" not in newest]


def _directory(path: Path) -> Documents:
    found = {file.name: read_document(file) for file in sorted(path.glob("*.json"))}
    if not found:
        raise BadUserInput(f"`{path}` holds no documents")
    return found
