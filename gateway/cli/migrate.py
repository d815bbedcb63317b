"""Stored rows: `gateway migrate` updates them to the model, `gateway import` adds rows from a file."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from gateway.cli.options import DemoDomains, Domains, exit_on_error, loaded, named


def migrate(
    action: Annotated[
        Literal["plan", "run", "verify"],
        typer.Argument(help="plan: list what changes. run: rewrite the items. verify: read them all and compare."),
    ],
    table: Annotated[str, typer.Option(help="Name of the table. Not needed for `plan`.")] = "",
    region: Annotated[str, typer.Option(help="Region of the table. Not needed for `plan`.")] = "",
    endpoint: Annotated[str | None, typer.Option(help="URL of DynamoDB, if it is not that of AWS.")] = None,
    role_arn: Annotated[
        str | None, typer.Option(help="Role of the operator to assume; never the gateway's or the tenants'.")
    ] = None,
    entity: Annotated[list[str] | None, typer.Option(help="Only this entity. Can be repeated.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    segments: Annotated[int, typer.Option(help="Number of parallel segments of the scan.")] = 4,
    units_per_second: Annotated[
        float, typer.Option(help="Capacity units to consume per second, reads and writes together.")
    ] = 100,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With `run`: only count what would change.")] = False,
    checkpoint: Annotated[
        Path, typer.Option(help="File that keeps the progress; the same command continues from it.")
    ] = Path("migrate.checkpoint.json"),
    domains: Domains = None,
) -> None:
    """Bring stored items up to date with the model: schema upgrades, new indexes, other shard counts."""
    from gateway.ops.migrate.run import Migrate
    from gateway.ops.migrate.run import migrate as run
    from gateway.serving.signals import ended_by_signals

    with exit_on_error("the migration cannot run"):
        options = Migrate(
            action=action,
            table=table,
            region=region,
            endpoint=endpoint,
            role_arn=role_arn,
            entities=tuple(entity or ()),
            tenant=tenant,
            segments=segments,
            units_per_second=units_per_second,
            dry_run=dry_run,
            checkpoint=checkpoint,
        )
        raise typer.Exit(run(options, loaded(domains).model, ended_by_signals))


def import_(
    entity: Annotated[str, typer.Argument(help="Entity of the rows, such as Patient.")],
    source: Annotated[Path, typer.Argument(help="File with a header and a row in each line (.csv), or JSON lines.")],
    url: Annotated[str, typer.Option(help="URL of the GraphQL API.")] = "http://127.0.0.1:8000/graphql",
    token: Annotated[
        str,
        typer.Option(
            envvar="GATEWAY_TOKEN",
            help="Bearer token. Its tenant gets the rows; its role must be allowed to write them.",
        ),
    ] = "",
    token_command: Annotated[
        str | None, typer.Option(help="Command that prints a token. It runs again when a token has expired.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="File that keeps the progress. Default: the name of the source with `.import.json`."),
    ] = None,
    rejected: Annotated[
        Path | None,
        typer.Option(help="File for rejected rows. Default: the name of the source with `.rejected.jsonl`."),
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
