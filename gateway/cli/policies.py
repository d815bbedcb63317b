"""`gateway policies`: write the policies, check them, explain a decision, compare two versions, prove isolation."""

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli.options import Domains, exit_on_error, loaded

policies = typer.Typer(
    help="Write the IAM policies of the model; check, explain, compare or prove policies.",
    add_completion=False,
)


@policies.callback(invoke_without_command=True)
def write(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a file is out of date.")] = False,
    directory: Annotated[Path, typer.Option(help="Folder of the policies.")] = Path("policies"),
    against: Annotated[
        str | None, typer.Option(help="With --check: the last release, as a folder or a revision of git.")
    ] = None,
    announced: Annotated[
        Path | None, typer.Option(help="Changelog. New permissions that its newest version names do not fail.")
    ] = None,
    domains: Domains = None,
) -> None:
    """Write the IAM policies of the model; check, explain, compare or prove policies."""
    from gateway.ops.policies.files import stale_policies, unsafe_policies, write_policies

    if context.invoked_subcommand is not None:
        return
    if against is not None and not check:
        raise typer.BadParameter("use it together with --check", param_hint="--against")
    with exit_on_error():
        model = loaded(domains).model
        if faults := unsafe_policies(model):
            _fail(f"the model would produce unsafe policies; nothing was written to {directory}", faults)
        if not check:
            for name in write_policies(directory, model):
                typer.echo(f"wrote {directory / name}")
        if faults := stale_policies(directory, model):
            _fail(f"{directory} is out of date; run `gateway policies`", faults)
        typer.echo(f"{directory} is up to date")
        if against is not None:
            from gateway.cli.policy_proofs import print_changes

            raise typer.Exit(print_changes(model, directory, against, announced))


@policies.command("explain")
def explain_request(
    request: Annotated[
        str, typer.Argument(help="For example 'GetItem PK=TENANT#acme#USER#1 SK=PROFILE attributes=name'.")
    ],
    role: Annotated[str, typer.Option(help="Role of the caller.")],
    tenant: Annotated[str, typer.Option(help="Tenant of the caller.")],
    subject: Annotated[
        str | None, typer.Option(help="Subject of the caller, for a role that only sees its own rows.")
    ] = None,
    domains: Domains = None,
) -> None:
    """Explain whether a role may send a request to DynamoDB."""
    from gateway.iam.policies.policies import generated
    from gateway.ops.policies.explain import as_text, explain

    with exit_on_error():
        model = loaded(domains).model
        typer.echo(as_text(explain(model, generated(model), role, tenant, request, subject)))


@policies.command("diff")
def diff_documents(
    old: Annotated[Path, typer.Argument(help="Folder with the old policies.")],
    new: Annotated[Path, typer.Argument(help="Folder with the new policies.")] = Path("policies"),
    announced: Annotated[
        Path | None, typer.Option(help="Changelog. New permissions that its newest version names do not fail.")
    ] = None,
) -> None:
    """List what the new policies allow and the old ones did not, each with an example request."""
    from gateway.cli.policy_proofs import print_widenings

    with exit_on_error():
        raise typer.Exit(print_widenings(old, new, announced))


@policies.command("prove")
def prove_documents(
    policy: Annotated[Path, typer.Argument(help="Identity policy with conditions on dynamodb:LeadingKeys.")],
    prefix: Annotated[str, typer.Option(help="Prefix of one tenant's keys, such as 'TENANT#{tenant}#'.")],
    session: Annotated[Path | None, typer.Option(help="Session policy that applies as well.")] = None,
    boundary: Annotated[Path | None, typer.Option(help="Permissions boundary that applies as well.")] = None,
    ids_without: Annotated[str, typer.Option(help="Characters that your tenant ids never contain.")] = "",
) -> None:
    """Prove that your own policies isolate tenants for every request, or print a request that crosses over."""
    from gateway.cli.policy_proofs import print_proof

    with exit_on_error():
        raise typer.Exit(print_proof(policy, prefix, session, boundary, ids_without))


def _fail(message: str, faults: list[str]) -> None:
    for line in (message, *faults):
        typer.echo(line, err=True)
    raise typer.Exit(1)
