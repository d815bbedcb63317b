"""`gateway policies`: write the documents, check them, explain a verdict, compare, prove."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from gateway.domains import load_domains
from gateway.errors import GatewayError
from gateway.iam.policies.policies import generated
from gateway.ops.policies.explain import as_text, explain
from gateway.ops.policies.files import stale_policies, unsafe_policies, write_policies

Domains = Annotated[
    list[str] | None,
    typer.Option(help="A module with a domain, such as helpdesk.domain; again for more. Without it, the shipped ones."),
]

policies = typer.Typer(
    help="Write policies/ from the model, check it, explain a verdict, compare two versions, prove your own.",
    add_completion=False,
)


@policies.callback(invoke_without_command=True)
def write(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Fail when a file is stale.")] = False,
    directory: Annotated[Path, typer.Option(help="Where the files are.")] = Path("policies"),
    domains: Domains = None,
) -> None:
    """Write the IAM documents of the model."""
    if context.invoked_subcommand is not None:
        return
    with _told():
        model = load_domains(domains or ()).model
        if faults := unsafe_policies(model):
            _fail(f"the model would make unsafe policies; nothing is written to {directory}", faults)
        if not check:
            for name in write_policies(directory, model):
                typer.echo(f"wrote {directory / name}")
        if faults := stale_policies(directory, model):
            _fail(f"{directory} is not what the model says; run `gateway policies`", faults)
        typer.echo(f"{directory} is what the model says")


@policies.command("explain")
def explain_request(
    request: Annotated[str, typer.Argument(help="Such as 'GetItem PK=TENANT#globex#USER#1 SK=PROFILE'.")],
    role: Annotated[str, typer.Option(help="The gateway role that asks.")],
    tenant: Annotated[str, typer.Option(help="The tenant that it belongs to.")],
    domains: Domains = None,
) -> None:
    """Tell whether a role may send a request to DynamoDB, and why."""
    with _told():
        model = load_domains(domains or ()).model
        typer.echo(as_text(explain(model, generated(model), role, tenant, request)))


@policies.command("diff")
def diff_documents(
    old: Annotated[Path, typer.Argument(help="A directory with the documents as they were.")],
    new: Annotated[Path, typer.Argument(help="A directory with the documents as they are.")] = Path("policies"),
    announced: Annotated[Path | None, typer.Option(help="A changelog that may name what is widened.")] = None,
) -> None:
    """Tell who may do what they could not do before, with a request that shows it."""
    from gateway.ops.policies.diff import print_widenings  # noqa: PLC0415  the solver loads only where it is needed

    with _told():
        raise typer.Exit(print_widenings(old, new, announced))


@policies.command("prove")
def prove_documents(
    policy: Annotated[Path, typer.Argument(help="An identity policy with conditions on dynamodb:LeadingKeys.")],
    prefix: Annotated[str, typer.Option(help="How the keys of one tenant begin, such as 'TENANT#{tenant}#'.")],
    session: Annotated[Path | None, typer.Option(help="The session policy that goes with it.")] = None,
    boundary: Annotated[Path | None, typer.Option(help="The permissions boundary that goes with it.")] = None,
    ids_without: Annotated[str, typer.Option(help="Characters that no id of yours holds.")] = "",
) -> None:
    """Prove of your own policies that no tenant reaches another, for every request; or show a request that does."""
    from gateway.ops.policies.proof import print_proof  # noqa: PLC0415

    with _told():
        raise typer.Exit(print_proof(policy, prefix, session, boundary, ids_without))


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
