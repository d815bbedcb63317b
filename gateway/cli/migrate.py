"""`gateway migrate`: shows which stored items the model changes, rewrites them, and verifies the result."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from gateway.cli.errors import exit_on_error
from gateway.cli.options import Domains, named


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
    from gateway.domains import load_domains
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
        raise typer.Exit(run(options, load_domains(named(domains)).model, ended_by_signals))
