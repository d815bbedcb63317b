"""The operator's commands: audit an account, plan capacity, migrate items."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from gateway.cli.errors import exit_on_error
from gateway.cli.policies import Domains


def audit(
    table: Annotated[str | None, typer.Option(help="Name of the table.")] = None,
    region: Annotated[str | None, typer.Option(help="Its region.")] = None,
    tenant_role: Annotated[str | None, typer.Option(help="ARN of the tenants' role.")] = None,
    gateway_role: Annotated[str | None, typer.Option(help="ARN of the gateway's own role.")] = None,
    vpc: Annotated[str | None, typer.Option(help="The gateway's own VPC.")] = None,
    config: Annotated[Path | None, typer.Option(help="Terraform's output audit_config.")] = None,
    profile: Annotated[str | None, typer.Option(help="AWS profile.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="Where there is DynamoDB and nothing else of AWS.")] = None,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Audit a sandbox that is started for it.")] = False,
    output: Annotated[str, typer.Option("--format", help="table, json or sarif.")] = "table",
    strict: Annotated[bool, typer.Option("--strict", help="What is unknown fails, too.")] = False,
    skip: Annotated[list[str] | None, typer.Option(help="A line to leave out; can be repeated.")] = None,
    domains: Domains = None,
) -> None:
    """Hold a live account and the model against the production checklist."""
    from gateway.cli.audit import Audit, Names, domains_of, subject_of  # noqa: PLC0415
    from gateway.cli.audit import audit as run  # noqa: PLC0415
    from gateway.domains import load_domains  # noqa: PLC0415
    from gateway.ops.audit.gather.account import AuditedAccount  # noqa: PLC0415
    from gateway.sandbox.ready import Options  # noqa: PLC0415
    from gateway.sandbox.sandbox import Sandbox  # noqa: PLC0415

    with exit_on_error("the audit cannot run"):
        model = load_domains(domains or domains_of(config)).model
        if sandbox:
            with Sandbox(Options(port=0)) as made:
                at = made.ready
                subject = subject_of(Names(at.table, at.region, at.role_arn))
                account = AuditedAccount(at.region, at.url, credentials=at.admin)
                wanted = Audit(subject, account, format=output, strict=strict, skip=tuple(skip or ()))
                raise typer.Exit(run(wanted, model))
        subject = subject_of(Names(table, region, tenant_role, gateway_role, vpc), config)
        account = AuditedAccount(subject.region, endpoint, profile)
        wanted = Audit(subject, account, format=output, strict=strict, skip=tuple(skip or ()))
        raise typer.Exit(run(wanted, model))


def capacity(
    traffic: Annotated[Path | None, typer.Option(help="JSON file with rates and sizes of your own.")] = None,
    from_logs: Annotated[Path | None, typer.Option(help="The gateway's log: what operations consumed.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Another list of prices.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Where to write a picture of the costs.")] = None,
    output: Annotated[str, typer.Option("--format", help="markdown or json.")] = "markdown",
    domains: Domains = None,
) -> None:
    """Tell what the expected traffic needs, what it costs, and where it gets hot."""
    from gateway.cli.capacity import CapacityOptions  # noqa: PLC0415
    from gateway.cli.capacity import capacity as run  # noqa: PLC0415
    from gateway.domains import load_domains  # noqa: PLC0415
    from gateway.ops.capacity.prices import SHIPPED  # noqa: PLC0415

    with exit_on_error("capacity cannot be planned"):
        model = load_domains(domains or ()).model
        raise typer.Exit(run(CapacityOptions(traffic, from_logs, prices or SHIPPED, svg, output), model))


def migrate(
    action: Annotated[Literal["plan", "run", "verify"], typer.Argument(help="What to do.")],
    table: Annotated[str, typer.Option(help="Name of the table; `plan` needs none.")] = "",
    region: Annotated[str, typer.Option(help="Its region.")] = "",
    endpoint: Annotated[str | None, typer.Option(help="Another DynamoDB than AWS's.")] = None,
    role_arn: Annotated[str | None, typer.Option(help="The operator's role; never the gateway's.")] = None,
    entity: Annotated[list[str] | None, typer.Option(help="Only this entity; can be repeated.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    segments: Annotated[int, typer.Option(help="Parallel parts of the table.")] = 4,
    units_per_second: Annotated[float, typer.Option(help="CapacityOptions units to use at most.")] = 100,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count what would change.")] = False,
    checkpoint: Annotated[Path, typer.Option(help="Where progress is kept.")] = Path("migration.json"),
    domains: Domains = None,
) -> None:
    """Bring stored items up to the model: upgrades, new indexes, other shard counts."""
    from gateway.cli.migrate import Migrate  # noqa: PLC0415
    from gateway.cli.migrate import migrate as run  # noqa: PLC0415
    from gateway.domains import load_domains  # noqa: PLC0415

    with exit_on_error("nothing can be migrated"):
        wanted = Migrate(
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
        raise typer.Exit(run(wanted, load_domains(domains or ()).model))
