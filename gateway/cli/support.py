"""The commands for support access: `grant` on the sandbox, and `revoke` for the file that the gateway reads."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import SANDBOX, SandboxUrl, exit_on_error

support = typer.Typer(help="Grant support access to a tenant, and revoke it.", no_args_is_help=True)


@support.command()
def grant(
    tenant: Annotated[str, typer.Option(help="The tenant that the grant is for.")],
    reason: Annotated[str, typer.Option(help="Why access is needed, such as the number of a ticket.")],
    minutes: Annotated[int, typer.Option(help="How long the grant lasts: 1 to 30 minutes.")] = 15,
    actor: Annotated[str, typer.Option(help="The person who acts, as logs and CloudTrail show it.")] = "developer",
    url: SandboxUrl = SANDBOX,
) -> None:
    """Print a support grant from the running sandbox; its id is on standard error."""
    from gateway.sandbox.dev.support_grants import ask_for_grant

    with exit_on_error():
        granted = ask_for_grant(url, tenant, actor, reason, minutes)
    ends = datetime.fromtimestamp(granted.expires_at, UTC).isoformat(timespec="seconds")
    typer.echo(f"grant {granted.grant_id} for {tenant} until {ends}", err=True)
    typer.echo(granted.token)


@support.command()
def revoke(
    grant_id: Annotated[str, typer.Argument(metavar="GRANT", help="The id of the grant (`jti`).")],
    file: Annotated[
        Path,
        typer.Option(envvar="GATEWAY_SUPPORT_REVOCATIONS", help="The file of the setting `support_revocations`."),
    ],
) -> None:
    """Revoke a support grant: requests with it are refused from now on."""
    from gateway.identity.revocations import revoke as add

    with exit_on_error():
        add(file, grant_id)
    typer.echo(f"revoked {grant_id}")
