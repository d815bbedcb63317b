"""What several commands share: the option `--domains`, and writing or checking a generated file."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.errors import GatewayError

Domains = Annotated[
    list[str] | None,
    typer.Option(help="Module with a domain, such as helpdesk.domain. Can be repeated. Default: the demo domains."),
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; fail if the file is out of date.")]


def write_or_check(path: Path, text: str, *, check: bool, command: str) -> None:
    """Writes a generated file, or fails when it differs from `text`; `command` is what regenerates it."""
    if check:
        if not path.is_file() or path.read_text() != text:
            raise GatewayError(f"`{path}` is stale; run `{command}`")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    typer.echo(f"wrote {path}")
