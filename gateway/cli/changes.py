"""`gateway changes` and `gateway webhooks`: the change feed of a tenant as JSON lines, or sent to an address."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.options import SANDBOX, SandboxUrl, exit_on_error
from gateway.errors import BadUserInput

if TYPE_CHECKING:
    from gateway.ops.changes.feed_client import FeedClient

Tenant = Annotated[str, typer.Option(help="The tenant whose changes are read. The token must belong to it.")]
After = Annotated[str | None, typer.Option(help="Position to continue from. Default: start with the next change.")]
Url = Annotated[str, typer.Option(help="URL of the change feed.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        envvar="GATEWAY_TOKEN_FILE",
        help="File with the token, read again for each connection. Default: tokens of the sandbox.",
    ),
]
Role = Annotated[str, typer.Option(help="Role of the sandbox's tokens.")]
_URL = "http://127.0.0.1:8000/changes"


def changes(
    tenant: Tenant,
    after: After = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Stop after this many changes.")] = None,
    url: Url = _URL,
    token_file: TokenFile = None,
    role: Role = "viewer",
    sandbox: SandboxUrl = SANDBOX,
) -> None:
    """Print the changes of a tenant as JSON lines, as the token's role may see them."""
    with exit_on_error():
        feed = _feed(url, tenant, after, token_file, role, sandbox)
        _consume(feed, lambda change: typer.echo(json.dumps(change)), limit)


def webhooks(
    tenant: Tenant,
    target: Annotated[str, typer.Option(help="The https address that changes are sent to.")],
    secret_file: Annotated[
        Path, typer.Option(help="File with the signing secret, `whsec_...`; during a rotation, one secret per line.")
    ],
    state: Annotated[Path, typer.Option(help="Folder for the position and the dead letters.")],
    tries: Annotated[int, typer.Option(min=1, help="Attempts for each change before it becomes a dead letter.")] = 8,
    allow_private: Annotated[bool, typer.Option("--allow-private", help="Allow http and private addresses.")] = False,
    url: Url = _URL,
    token_file: TokenFile = None,
    role: Role = "viewer",
    sandbox: SandboxUrl = SANDBOX,
) -> None:
    """Send the changes of a tenant to an address, signed according to Standard Webhooks."""
    from gateway.ops.changes.webhook_target import WebhookTarget
    from gateway.ops.changes.webhooks import SigningSecret, Webhooks

    with exit_on_error():
        secrets = [SigningSecret.parse(line) for line in secret_file.read_text().splitlines() if line.strip()]
        if not secrets:
            raise BadUserInput(f"`{secret_file}` has no secret")
        state.mkdir(parents=True, exist_ok=True)
        kept = state / "position"

        def keep(position: str) -> None:
            # written beside and moved, so that a crash leaves the old one or the new one
            fresh = state / "position.new"
            fresh.write_text(position)
            fresh.replace(kept)

        feed = _feed(url, tenant, kept.read_text() if kept.is_file() else None, token_file, role, sandbox)
        feed.moved = keep
        sender = Webhooks(tenant, WebhookTarget(target, allow_private), secrets, state / "dead-letters.jsonl", tries)

        def send(change: dict[str, Any]) -> None:
            if not sender.send(change):
                typer.echo(f"gave up on {change['type']} {change['id']}: see {sender.dead_letters}", err=True)

        _consume(feed, send, None)


def _feed(url: str, tenant: str, after: str | None, token_file: Path | None, role: str, sandbox: str) -> "FeedClient":
    from gateway.ops.changes.feed_client import FeedClient

    def token() -> str:
        if token_file is not None:
            return token_file.read_text(encoding="utf-8").strip()
        from gateway.sandbox.dev.issuer import ask_for_token

        return ask_for_token(sandbox, tenant, role)

    return FeedClient(url, tenant, token, after)


def _consume(feed: "FeedClient", take: Callable[[dict[str, Any]], None], limit: int | None) -> None:
    """Runs until the limit or Ctrl-C, and then prints where to continue."""
    try:
        for number, change in enumerate(feed.changes(), start=1):
            take(change)
            if number == limit:
                feed.position = change["position"]
                break
    except (KeyboardInterrupt, BrokenPipeError):
        pass
    finally:
        if feed.position is not None:
            typer.echo(f"continue with --after {feed.position}", err=True)
