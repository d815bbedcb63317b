"""`gateway audit` and `gateway capacity`: check a live account, and plan the capacity of its traffic."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import Domains, exit_on_error, loaded, named


def audit(
    table: Annotated[str | None, typer.Option(help="Name of the table.")] = None,
    region: Annotated[str | None, typer.Option(help="Region of the table.")] = None,
    tenant_role: Annotated[str | None, typer.Option(help="ARN of the tenants' role.")] = None,
    gateway_role: Annotated[str | None, typer.Option(help="ARN of the gateway's own role.")] = None,
    vpc: Annotated[str | None, typer.Option(help="ID of the gateway's VPC.")] = None,
    config: Annotated[
        Path | None, typer.Option(help="JSON file with all of these: Terraform's output audit_config.")
    ] = None,
    profile: Annotated[str | None, typer.Option(help="AWS profile to use.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="URL of an engine that serves only DynamoDB.")] = None,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Start a sandbox and audit that.")] = False,
    output: Annotated[str, typer.Option("--format", help="table, json or sarif.")] = "table",
    strict: Annotated[bool, typer.Option("--strict", help="Also fail if a line is unknown.")] = False,
    skip: Annotated[list[str] | None, typer.Option(help="Line to skip. Can be repeated.")] = None,
    domains: Domains = None,
) -> None:
    """Check a live account and the model against the production checklist."""
    from gateway.domains import load_domains
    from gateway.ops.audit.audit import Audit, domains_of, subject_of
    from gateway.ops.audit.audit import audit as run
    from gateway.ops.audit.gather.account import AuditedAccount
    from gateway.sandbox.ready import Options
    from gateway.sandbox.sandbox import Sandbox

    with exit_on_error("the audit cannot run"):
        model = load_domains(domains or domains_of(config) or named(None)).model
        skipped = tuple(skip or ())
        if sandbox:
            with Sandbox(Options(port=0)) as started:
                ready = started.ready
                subject = subject_of(table_name=ready.table, region=ready.region, tenant_role_arn=ready.role_arn)
                account = AuditedAccount(ready.region, ready.url, credentials=ready.admin)
                raise typer.Exit(run(Audit(subject, account, format=output, strict=strict, skip=skipped), model))
        roles = {"tenant_role_arn": tenant_role, "gateway_role_arn": gateway_role}
        subject = subject_of(config, table_name=table, region=region, vpc_id=vpc, **roles)
        account = AuditedAccount(subject.region, endpoint, profile)
        raise typer.Exit(run(Audit(subject, account, format=output, strict=strict, skip=skipped), model))


def capacity(
    traffic: Annotated[Path | None, typer.Option(help="JSON file with your own rates and sizes.")] = None,
    from_logs: Annotated[
        Path | None, typer.Option(help="The gateway's log, to add the capacity that operations actually consumed.")
    ] = None,
    prices: Annotated[Path | None, typer.Option(help="JSON file with other prices. Default: us-east-1.")] = None,
    output: Annotated[str, typer.Option("--format", help="markdown or json.")] = "markdown",
    domains: Domains = None,
) -> None:
    """Plan capacity: what the expected traffic needs, what it costs, and which partitions get hot."""
    from rich.console import Console

    from gateway.ops.capacity.assumptions import DEFAULTS, read_assumptions
    from gateway.ops.capacity.measured import read_logs
    from gateway.ops.capacity.plan import plan
    from gateway.ops.capacity.prices import SHIPPED, read_prices
    from gateway.ops.capacity.report import check_format, show

    with exit_on_error("capacity cannot be planned"):
        check_format(output)
        model = loaded(domains).model
        assumed = DEFAULTS if traffic is None else read_assumptions(traffic, model)
        measured = None if from_logs is None else read_logs(from_logs)
        show(plan(model, assumed, read_prices(prices or SHIPPED), measured), output, Console())
