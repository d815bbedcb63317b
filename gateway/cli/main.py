"""The command `gateway`: every subcommand is defined in its own file and registered here.

Commands import what they need when they run, so that `gateway --help` loads neither AWS, web nor solver libraries.
"""

from typing import Final

import typer

from gateway import __version__
from gateway.cli.audit import audit, capacity
from gateway.cli.changes import changes, webhooks
from gateway.cli.generate import docs, records, terraform_inputs
from gateway.cli.isolation import isolation
from gateway.cli.migrate import import_, migrate
from gateway.cli.new import new
from gateway.cli.policies import policies
from gateway.cli.run import dev, serve, stream, token
from gateway.cli.schema import documents, explain_program, schema
from gateway.cli.support import support

_START: Final = "Start"
_RUN: Final = "Run the gateway"
_GENERATE: Final = "Write files from the model"
_CHECK: Final = "Prove and check"
_OPERATE: Final = "Operate"

app = typer.Typer(
    help="A multi-tenant GraphQL gateway with fine-grained IAM over one DynamoDB table.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.command(rich_help_panel=_START)(new)
app.command(rich_help_panel=_RUN)(serve)
app.command(rich_help_panel=_RUN)(stream)
app.command(rich_help_panel=_RUN)(dev)
app.command(rich_help_panel=_RUN)(token)
app.command(rich_help_panel=_GENERATE)(schema)
app.command(rich_help_panel=_GENERATE)(documents)
app.command(rich_help_panel=_GENERATE)(records)
app.add_typer(policies, name="policies", rich_help_panel=_GENERATE)
app.command(rich_help_panel=_GENERATE)(docs)
app.command("terraform-inputs", rich_help_panel=_GENERATE)(terraform_inputs)
app.add_typer(isolation, name="isolation", rich_help_panel=_CHECK)
app.command(rich_help_panel=_CHECK)(audit)
app.command("explain-program", rich_help_panel=_CHECK)(explain_program)
app.command(rich_help_panel=_OPERATE)(capacity)
app.command(rich_help_panel=_OPERATE)(migrate)
app.command("import", rich_help_panel=_OPERATE)(import_)
app.command(rich_help_panel=_OPERATE)(changes)
app.command(rich_help_panel=_OPERATE)(webhooks)
app.add_typer(support, name="support", rich_help_panel=_OPERATE)


@app.command(rich_help_panel=_OPERATE)
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


def main() -> None:
    app(prog_name="gateway")
