"""The commands that run the gateway: `serve` and `stream` in production, `dev` and `token` on the sandbox."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import SANDBOX, DemoDomains, SandboxUrl, exit_on_error, named

Config = Annotated[Path | None, typer.Option(help="JSON file with settings. Environment variables take precedence.")]


def serve(config: Config = None) -> None:
    """Serve in production, with settings from GATEWAY_* variables."""
    from gateway.serving.serve import START_CHECKS
    from gateway.serving.workers.supervisor import serve as run
    from gateway.settings import load_settings

    with exit_on_error():
        raise typer.Exit(run(load_settings(config, START_CHECKS)))


def stream(config: Config = None) -> None:
    """Read the table's stream and publish change notes to all processes."""
    from gateway.serving.stream import CHECKS, UNNEEDED, serve_stream
    from gateway.settings import load_settings

    with exit_on_error():
        serve_stream(load_settings(config, CHECKS, UNNEEDED))


def dev(
    host: Annotated[str, typer.Option(help="Address that the gateway listens on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port of the gateway. If it is in use, another one is chosen.")] = 8000,
    aws_port: Annotated[int, typer.Option(help="Port of the sandbox's DynamoDB, STS and token issuer.")] = 8001,
    reload: Annotated[
        bool | None,
        typer.Option(help="Restart the gateway when code changes; rows stay. Default: for domains of your own."),
    ] = None,
    dynamodb_endpoint: Annotated[
        str | None, typer.Option(help="URL of DynamoDB Local or another engine to keep the data in. Default: memory.")
    ] = None,
    domains: DemoDomains = None,
) -> None:
    """Run the gateway on an AWS sandbox with demo tenants."""
    from gateway.cli.dev import Dev
    from gateway.cli.dev import dev as run
    from gateway.domains import load_domains

    with exit_on_error():
        # the same rule for the sandbox's rows and for what the gateway serves
        served = tuple(named(domains))
        if served:
            load_domains(served)
        reloads = bool(served) if reload is None else reload
        raise typer.Exit(run(Dev(host, port, reloads, dynamodb_endpoint, aws_port, served)))


def token(
    tenant: Annotated[str, typer.Option(help="Demo tenant: acme, globex or initech.")] = "acme",
    role: Annotated[str, typer.Option(help="Role of the caller, such as viewer or editor.")] = "viewer",
    subject: Annotated[str | None, typer.Option(help="Subject (`sub`) of the token.")] = None,
    url: SandboxUrl = SANDBOX,
    expires_in: Annotated[
        int | None, typer.Option(help="Lifetime in seconds. Zero or less makes a token that has already expired.")
    ] = None,
) -> None:
    """Print a token from the running sandbox."""
    from gateway.sandbox.dev.issuer import ask_for_token

    with exit_on_error():
        typer.echo(ask_for_token(url, tenant, role, subject, expires_in))
