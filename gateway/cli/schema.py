"""The commands about the public API: `schema`, `documents` and `explain-program`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.options import Check, Domains, exit_on_error, loaded, write_or_check
from gateway.errors import BadUserInput

if TYPE_CHECKING:
    import strawberry


def schema(
    check: Check = False,
    path: Annotated[Path, typer.Option(help="The file to write.")] = Path("schema.graphql"),
    domains: Domains = None,
    diff: Annotated[Path | None, typer.Option(help="Write nothing; list the changes since this old schema.")] = None,
    announced: Annotated[
        Path | None, typer.Option(help="With --diff: changelog. Breaking changes that it names do not fail.")
    ] = None,
) -> None:
    """Write schema.graphql from the model, or compare it with an older schema."""
    with exit_on_error():
        current = loaded(domains).schema
        if announced is not None and diff is None:
            raise BadUserInput("--announced needs --diff with the old schema")
        if diff is not None:
            raise typer.Exit(_print_changes(diff, current, announced))
        write_or_check(path, current.as_str() + "\n", check=check, command="gateway schema")


def documents(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with .graphql files.")],
    out: Annotated[Path, typer.Option(help="The manifest to write.")] = Path("trusted-documents.json"),
    check: Check = False,
    domains: Domains = None,
) -> None:
    """Write a manifest of trusted documents from .graphql files."""
    from gateway.graph.http.manifest import make_manifest
    from gateway.graph.query.limits import DocumentLimits
    from gateway.graph.query.operation import Documents
    from gateway.graph.schema.schema import core_schema

    with exit_on_error():
        served = loaded(domains)
        limits = DocumentLimits()
        parsed_documents = Documents(served.model, core_schema(served.schema), limits, introspection=True)
        text = json.dumps(make_manifest(paths, parsed_documents), indent=2) + "\n"
        write_or_check(out, text, check=check, command="gateway documents")


def explain_program(
    path: Annotated[Path, typer.Argument(help="File with a GraphQL document.")],
    role: Annotated[str, typer.Option(help="Role of the caller.")] = "viewer",
    operation: Annotated[str | None, typer.Option(help="Name of the operation, if the file has several.")] = None,
    variables: Annotated[
        str, typer.Option(help="Variables as JSON. They decide what @include and @skip keep of the query.")
    ] = "{}",
    domains: Domains = None,
) -> None:
    """Print the Python functions that are generated for a query."""
    from gateway.ops.explain_program import program_text

    with exit_on_error():
        try:
            text, values = path.read_text(), json.loads(variables)
        except (OSError, ValueError) as error:
            raise BadUserInput(f"`{path}` or --variables cannot be read: {error}") from error
        typer.echo(program_text(loaded(domains), text, role, operation, values))


def _print_changes(old: Path, new: "strawberry.Schema", changelog: Path | None) -> int:
    """Prints every change that clients may notice; returns 1 if one breaks clients and is not announced."""
    from gateway.graph.schema.changes import changes, unannounced
    from gateway.graph.schema.schema import core_schema

    difference = changes(_text(old), core_schema(new))
    breaking = difference.breaking
    silent = unannounced(breaking, _text(changelog)) if changelog is not None else list(breaking)
    for change in breaking:
        typer.echo(f"breaking: {change.description}{'' if change in silent else ' (announced)'}")
    for change in difference.dangerous:
        typer.echo(f"dangerous: {change.description}")
    if not breaking and not difference.dangerous:
        typer.echo("no changes that clients would notice")
    for change in silent if changelog is not None else ():
        typer.echo(f"not announced: name `{change.coordinate}` under Changed or Removed in {changelog}", err=True)
    return 1 if silent else 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise BadUserInput(f"`{path}` cannot be read: {error}") from error
