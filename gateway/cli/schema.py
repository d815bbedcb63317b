"""The commands about what clients see: changes of the schema, and manifests of trusted documents."""

import json
from collections.abc import Iterable
from pathlib import Path

import strawberry
import typer

from gateway.domains import Loaded
from gateway.errors import BadUserInput
from gateway.graph.http.manifest import make_manifest
from gateway.graph.query.limits import DocumentLimits
from gateway.graph.query.operation import Documents
from gateway.graph.schema.changes import changes, unannounced
from gateway.graph.schema.schema import core_schema


def print_changes(old: Path, new: strawberry.Schema, changelog: Path | None) -> int:
    """Prints every change that clients may notice; 1 where one of them breaks clients and is not announced."""
    found = changes(_text(old), core_schema(new))
    silent = unannounced(found.breaking, _text(changelog)) if changelog is not None else list(found.breaking)
    for change in found.breaking:
        typer.echo(f"breaking: {change.description}{'' if change in silent else ' (announced)'}")
    for change in found.dangerous:
        typer.echo(f"dangerous: {change.description}")
    if not found.breaking and not found.dangerous:
        typer.echo("nothing that clients would notice")
    for change in silent if changelog is not None else ():
        typer.echo(f"not announced: name `{change.coordinate}` under Changed or Removed in {changelog}", err=True)
    return 1 if silent else 0


def manifest_text(paths: Iterable[Path], loaded: Loaded) -> str:
    schema = core_schema(loaded.schema)
    made = make_manifest(paths, Documents(loaded.model, schema, loaded.mutations, DocumentLimits(), introspection=True))
    return json.dumps(made, indent=2) + "\n"


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise BadUserInput(f"`{path}` cannot be read: {error}") from error
