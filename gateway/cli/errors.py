"""How a command fails: a list of what to mend, not a stack trace."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from gateway.errors import ConfigurationError, GatewayError
from gateway.iam.language.errors import PolicyError


@contextmanager
def exit_on_error(cannot: str = "the gateway cannot start") -> Iterator[None]:
    """`cannot` says what a wrong setting, option or file prevents."""
    try:
        yield
    except ConfigurationError as error:
        typer.echo(f"{cannot}:", err=True)
        for fault in error.faults:
            typer.echo(f"  - {fault}", err=True)
        raise typer.Exit(2) from None
    except (GatewayError, PolicyError) as error:
        typer.echo(error.message, err=True)
        raise typer.Exit(1) from None
