"""`gateway import`: sends the rows of a file to the bulk mutation of a running gateway."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.errors import exit_on_error
from gateway.cli.options import DemoDomains, named


def import_(
    entity: Annotated[str, typer.Argument(help="Entity of the rows, such as Patient.")],
    source: Annotated[Path, typer.Argument(help="File with a header and a row in each line (.csv), or JSON lines.")],
    url: Annotated[str, typer.Option(help="URL of the GraphQL API.")] = "http://127.0.0.1:8000/graphql",
    token: Annotated[
        str, typer.Option(envvar="GATEWAY_TOKEN", help="Bearer token: its tenant gets the rows, its role must write.")
    ] = "",
    token_command: Annotated[
        str | None, typer.Option(help="Command that prints a token. It runs again when a token has expired.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="File that keeps the progress. Default: beside the source, `.import.json`.")
    ] = None,
    rejected: Annotated[
        Path | None, typer.Option(help="File for rejected rows. Default: beside the source, `.rejected.jsonl`.")
    ] = None,
    parallel: Annotated[int, typer.Option(min=1, max=32, help="Requests at the same time.")] = 4,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds for which a throttled or failed request is repeated.")
    ] = 300,
    domains: DemoDomains = None,
) -> None:
    """Import rows of one entity for one tenant; after any interruption, the same command continues."""
    from gateway.domains import load_domains
    from gateway.errors import ConfigurationError
    from gateway.ops.importing.run import Import, import_rows
    from gateway.settings import DEMO_DOMAINS

    with exit_on_error("the import has stopped"):
        if not token and token_command is None:
            raise ConfigurationError(["a token is needed: --token-command, --token or GATEWAY_TOKEN"])
        options = Import(
            entity=entity,
            source=source,
            url=url,
            token=token,
            token_command=token_command,
            checkpoint=checkpoint,
            rejected=rejected,
            parallel=parallel,
            patience=patience,
        )
        raise typer.Exit(import_rows(options, load_domains(named(domains) or DEMO_DOMAINS).model))
