"""`gateway isolation prove`: attacks with real sessions, or a formal proof about the policies."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import DemoDomains, exit_on_error, named, project_domains
from gateway.errors import BadUserInput, GatewayError

isolation = typer.Typer(help="Prove that tenants are isolated.", no_args_is_help=True, add_completion=False)


@isolation.callback()
def _group() -> None:
    """Keeps `prove` a subcommand: Typer would otherwise run the only command of a group directly."""


@isolation.command()
def prove(
    endpoint: Annotated[str, typer.Option(help="`sandbox`, or `aws` for the account in the settings.")] = "sandbox",
    report: Annotated[Path, typer.Option(help="Folder for the reports, as Markdown and JSON.")] = Path("report"),
    config: Annotated[Path | None, typer.Option(help="With `--endpoint aws`: JSON file with settings.")] = None,
    formal: Annotated[
        bool,
        typer.Option(
            "--formal", help="Send nothing; prove it for every possible request with a solver. Needs the extra `proof`."
        ),
    ] = False,
    policies_dir: Annotated[
        Path | None, typer.Option("--policies", help="With --formal: folder of policies. Default: those of the model.")
    ] = None,
    domains: DemoDomains = None,
) -> None:
    """Try to cross every tenant boundary, with real sessions and below the gateway's own checks."""
    with exit_on_error():
        if formal:
            raise typer.Exit(_prove_formally(named(domains), policies_dir, report))
        raise typer.Exit(_attack(endpoint, domains or [], config, report))


def _attack(endpoint: str, domains: list[str], config: Path | None, directory: Path) -> int:
    from gateway.cli.isolation_proof import prove_on_account, prove_on_sandbox
    from gateway.ops.isolation.prove import write_report
    from gateway.settings import load_settings

    if endpoint not in ("sandbox", "aws"):
        raise GatewayError(f"`{endpoint}` is neither `sandbox` nor `aws`")
    if endpoint == "aws" and domains != project_domains(Path()):
        raise BadUserInput("--domains is for the sandbox; an account's domains are in its settings")
    on_sandbox = endpoint == "sandbox"
    report = asyncio.run(prove_on_sandbox(named(domains)) if on_sandbox else prove_on_account(load_settings(config)))
    markdown, machine = write_report(report, directory)
    held = sum(result.passed for result in report.results)
    typer.echo(f"{held} of {len(report.results)} probes held; see {markdown} and {machine}")
    return 0 if report.passed else 1


def _prove_formally(domains: list[str], policies_dir: Path | None, directory: Path) -> int:
    from gateway.ops.isolation.formal_proof import prove_formally, without_sandbox
    from gateway.ops.isolation.formal_report import why, write_formal_report

    try:
        from gateway.sandbox.counterexamples import replayed as send
    except ImportError:
        send = without_sandbox
    report = prove_formally(domains, policies_dir, send)
    markdown, machine = write_formal_report(report, directory)
    for outcome in report.outcomes:
        if not outcome.proved:
            typer.echo(f"NOT PROVED: {outcome.theorem.name} ({outcome.theorem.about}): {why(outcome)}", err=True)
            for line in outcome.lines():
                typer.echo(f"  {line}", err=True)
    proved = sum(outcome.proved for outcome in report.outcomes)
    held = sum(use.held for use in report.uses)
    typer.echo(
        f"{proved} of {len(report.outcomes)} theorems proved for every request, {held} of {len(report.uses)} uses "
        f"allowed as declared; see {markdown} and {machine}"
    )
    return 0 if report.passed else 1
