"""`gateway policies`: write the documents, check them, explain a verdict."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from gateway.domains import MODEL
from gateway.errors import GatewayError
from gateway.iam.policies import generated
from gateway.ops.explain import as_text, explain
from gateway.ops.policy_files import stale_policies, unsafe_policies, write_policies

policies = typer.Typer(help="Write policies/ from the model, check it, explain a verdict.", add_completion=False)


@policies.callback(invoke_without_command=True)
def write(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Fail when a file is stale.")] = False,
    directory: Annotated[Path, typer.Option(help="Where the files are.")] = Path("policies"),
) -> None:
    """Write the IAM documents of the model."""
    if context.invoked_subcommand is not None:
        return
    with _told():
        if faults := unsafe_policies(MODEL):
            _fail(f"the model would make unsafe policies; nothing is written to {directory}", faults)
        if not check:
            for name in write_policies(directory, MODEL):
                typer.echo(f"wrote {directory / name}")
        if faults := stale_policies(directory, MODEL):
            _fail(f"{directory} is not what the model says; run `gateway policies`", faults)
        typer.echo(f"{directory} is what the model says")


@policies.command("explain")
def explain_request(
    request: Annotated[str, typer.Argument(help="Such as 'GetItem PK=TENANT#globex#USER#1 SK=PROFILE'.")],
    role: Annotated[str, typer.Option(help="The gateway role that asks.")],
    tenant: Annotated[str, typer.Option(help="The tenant that it belongs to.")],
) -> None:
    """Tell whether a role may send a request to DynamoDB, and why."""
    with _told():
        typer.echo(as_text(explain(MODEL, generated(MODEL), role, tenant, request)))


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (GatewayError, OSError) as error:
        _fail(str(error), [])


def _fail(what: str, faults: list[str]) -> None:
    for line in (what, *faults):
        typer.echo(line, err=True)
    raise typer.Exit(1)
