"""The commands; each one gathers its arguments and calls the room that does the work."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from gateway import __version__
from gateway.cli.errors import exit_on_error
from gateway.cli.ops import audit, capacity, migrate
from gateway.cli.policies import Domains, policies
from gateway.errors import BadUserInput, GatewayError

app = typer.Typer(
    help="A multi-tenant GraphQL gateway with fine-grained IAM over one DynamoDB table.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


isolation = typer.Typer(help="Prove that tenants are kept apart.", no_args_is_help=True, add_completion=False)
app.add_typer(isolation, name="isolation")
app.add_typer(policies, name="policies")


app.command()(audit)
app.command()(capacity)
app.command()(migrate)


@app.command()
def serve(
    config: Annotated[Path | None, typer.Option(help="JSON file with settings; the environment wins over it.")] = None,
) -> None:
    """Serve in production, with settings from GATEWAY_* variables."""
    from gateway.serving.serve import START_CHECKS  # noqa: PLC0415  web and AWS libraries load only where they are needed
    from gateway.serving.workers.supervisor import serve as run  # noqa: PLC0415
    from gateway.settings import load_settings  # noqa: PLC0415

    with exit_on_error():
        raise typer.Exit(run(load_settings(config, START_CHECKS)))


@app.command()
def dev(
    host: Annotated[str, typer.Option(help="Where the gateway listens.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Its port; another one is taken where this is in use.")] = 8000,
    aws_port: Annotated[int, typer.Option(help="Port of the sandbox's DynamoDB, STS and token issuer.")] = 8001,
    reload: Annotated[bool, typer.Option("--reload", help="Restart the gateway when its code changes.")] = False,
    dynamodb_endpoint: Annotated[
        str | None, typer.Option(help="Keep the data in DynamoDB Local or another engine instead of memory.")
    ] = None,
    domains: Domains = None,
) -> None:
    """Run the gateway on a sandbox of AWS, with demo tenants."""
    from gateway.cli.dev import Dev  # noqa: PLC0415
    from gateway.cli.dev import dev as run  # noqa: PLC0415
    from gateway.domains import load_domains  # noqa: PLC0415
    from gateway.ops.policies.files import write_policies  # noqa: PLC0415

    wanted = Dev(host, port, reload, dynamodb_endpoint, aws_port)
    with exit_on_error(), TemporaryDirectory() as directory:
        if domains:
            # the sandbox knows the shipped model only: its roles get what `gateway policies` would write
            write_policies(Path(directory), load_domains(domains).model)
            wanted = replace(wanted, domains=tuple(domains), policies=Path(directory))
        raise typer.Exit(run(wanted))


@app.command()
def token(
    tenant: Annotated[str, typer.Option(help="Demo tenant: acme, globex or initech.")] = "acme",
    role: Annotated[str, typer.Option(help="viewer, support, editor or admin.")] = "viewer",
    subject: Annotated[str | None, typer.Option(help="Who the token is for.")] = None,
    url: Annotated[str, typer.Option(help="Address of the sandbox.")] = "http://127.0.0.1:8001",
    expires_in: Annotated[int | None, typer.Option(help="Seconds; below 1 it has expired so long ago.")] = None,
) -> None:
    """Print a token from the running sandbox."""
    from gateway.cli.dev import token as get  # noqa: PLC0415

    with exit_on_error():
        typer.echo(get(tenant, role, subject, url, expires_in))


@app.command()
def schema(
    check: Annotated[bool, typer.Option("--check", help="Fail when schema.graphql is stale.")] = False,
    path: Annotated[Path, typer.Option(help="The file.")] = Path("schema.graphql"),
    domains: Domains = None,
    diff: Annotated[Path | None, typer.Option(help="Instead, name what has changed since this file.")] = None,
    announced: Annotated[Path | None, typer.Option(help="With --diff: the changelog that may announce it.")] = None,
    federation: Annotated[bool, typer.Option("--federation", help="Instead, print it as a subgraph.")] = False,
) -> None:
    """Write schema.graphql from the model."""
    from gateway.cli.schema import print_changes  # noqa: PLC0415
    from gateway.domains import load_domains  # noqa: PLC0415
    from gateway.graph.schema.federation import subgraph  # noqa: PLC0415

    with exit_on_error():
        made = load_domains(domains or ()).schema
        if announced is not None and diff is None:
            raise BadUserInput("--announced says which changes are told; it needs --diff with the old schema")
        if diff is not None:
            raise typer.Exit(print_changes(diff, made, announced))
        if federation:
            typer.echo(subgraph(made.as_str()), nl=False)
            return
        _write(path, made.as_str() + "\n", check=check, command="gateway schema")


@app.command()
def documents(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders with .graphql files.")],
    out: Annotated[Path, typer.Option(help="The manifest.")] = Path("trusted-documents.json"),
    check: Annotated[bool, typer.Option("--check", help="Fail when the manifest is stale.")] = False,
    domains: Domains = None,
) -> None:
    """Write a manifest of trusted documents from .graphql files."""
    from gateway.cli.schema import manifest_text  # noqa: PLC0415
    from gateway.domains import load_domains  # noqa: PLC0415

    with exit_on_error():
        text = manifest_text(paths, load_domains(domains or ()))
        _write(out, text, check=check, command="gateway documents")


@app.command("explain-program")
def explain_program(
    path: Annotated[Path, typer.Argument(help="A .graphql file.")],
    role: Annotated[str, typer.Option(help="The role that asks.")] = "viewer",
    operation: Annotated[str | None, typer.Option(help="Which one, where the file has several.")] = None,
    variables: Annotated[str, typer.Option(help="As JSON; they decide about @include and @skip.")] = "{}",
    domains: Domains = None,
) -> None:
    """Print the functions that are generated for a query."""
    from gateway.domains import load_domains  # noqa: PLC0415
    from gateway.ops.explain_program import program_text  # noqa: PLC0415

    with exit_on_error():
        try:
            text, values = path.read_text(), json.loads(variables)
        except (OSError, ValueError) as error:
            raise BadUserInput(f"`{path}` and the variables must be readable: {error}") from error
        typer.echo(program_text(load_domains(domains or ()), text, role, operation, values))


@app.command()
def docs(
    check: Annotated[bool, typer.Option("--check", help="Fail when the page is stale.")] = False,
    path: Annotated[Path, typer.Option(help="The file.")] = Path("docs/access-patterns.md"),
    domains: Domains = None,
) -> None:
    """Write docs/access-patterns.md from the model."""
    from gateway.domains import load_domains  # noqa: PLC0415
    from gateway.model.pattern_docs import access_patterns  # noqa: PLC0415

    with exit_on_error():
        _write(path, access_patterns(load_domains(domains or ()).model), check=check, command="gateway docs")


@app.command("terraform-inputs")
def terraform_inputs(
    check: Annotated[bool, typer.Option("--check", help="Fail when the file is stale.")] = False,
    path: Annotated[Path, typer.Option(help="The file.")] = Path("terraform/table.json"),
    domains: Domains = None,
) -> None:
    """Write terraform/table.json from the model: the table's keys, indexes, TTL and expected traffic."""
    from gateway.domains import load_domains  # noqa: PLC0415
    from gateway.ops.capacity.demand import expected_units  # noqa: PLC0415

    with exit_on_error():
        model = load_domains(domains or ()).model
        text = json.dumps({**model.table.terraform_inputs(), "expected": expected_units(model)}, indent=2) + "\n"
        _write(path, text, check=check, command="gateway terraform-inputs")


def _write(path: Path, text: str, *, check: bool, command: str) -> None:
    if check:
        if not path.is_file() or path.read_text() != text:
            raise GatewayError(f"`{path}` is stale; run `{command}`")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    typer.echo(f"wrote {path}")


@isolation.command()
def prove(
    endpoint: Annotated[str, typer.Option(help="`sandbox`, or `aws` for the account in the settings.")] = "sandbox",
    report: Annotated[Path, typer.Option(help="Where isolation.md and isolation.json are written.")] = Path("report"),
    config: Annotated[Path | None, typer.Option(help="With `aws`: JSON file with settings.")] = None,
    formal: Annotated[
        bool, typer.Option("--formal", help="Instead, prove it of the policies for every request; needs [proof].")
    ] = False,
    policies_dir: Annotated[
        Path | None, typer.Option("--policies", help="With --formal: the files to prove; else what the model makes.")
    ] = None,
    domains: Domains = None,
) -> None:
    """Try to cross every border between tenants, with real sessions and below the gateway's own checks."""
    if formal:
        _prove_formally(domains or [], policies_dir, report)
        return
    from gateway.cli.isolation import prove_on_account, prove_on_sandbox  # noqa: PLC0415
    from gateway.ops.isolation.prove import write_report  # noqa: PLC0415
    from gateway.settings import load_settings  # noqa: PLC0415

    with exit_on_error():
        if endpoint not in ("sandbox", "aws"):
            raise GatewayError(f"`{endpoint}` is neither `sandbox` nor `aws`")
        if endpoint == "aws" and domains:
            raise BadUserInput("--domains is for the sandbox; an account's domains are in its settings")
        on_sandbox = endpoint == "sandbox"
        made = asyncio.run(prove_on_sandbox(domains or ()) if on_sandbox else prove_on_account(load_settings(config)))
        markdown, machine = write_report(made, report)
        held = sum(result.passed for result in made.results)
        typer.echo(f"{held} of {len(made.results)} probes held; see {markdown} and {machine}")
        raise typer.Exit(0 if made.passed else 1)


def _prove_formally(domains: list[str], policies_dir: Path | None, report: Path) -> None:
    from gateway.ops.isolation.formal_proof import prove_formally, without_sandbox  # noqa: PLC0415
    from gateway.ops.isolation.formal_report import why, write_formal_report  # noqa: PLC0415

    try:
        from gateway.sandbox.counterexamples import replayed as send  # noqa: PLC0415
    except ImportError:
        send = without_sandbox
    with exit_on_error():
        made = prove_formally(domains, policies_dir, send)
        markdown, machine = write_formal_report(made, report)
        for outcome in made.outcomes:
            if not outcome.proved:
                typer.echo(f"NOT PROVED: {outcome.theorem.name} ({outcome.theorem.about}): {why(outcome)}", err=True)
                for line in outcome.lines():
                    typer.echo(f"  {line}", err=True)
        proved = sum(outcome.proved for outcome in made.outcomes)
        held = sum(use.held for use in made.uses)
        typer.echo(
            f"{proved} of {len(made.outcomes)} theorems proved for every request, {held} of {len(made.uses)} uses "
            f"allowed as declared; see {markdown} and {machine}"
        )
        raise typer.Exit(0 if made.passed else 1)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main() -> None:
    app(prog_name="gateway")
