"""How a command fails: with a list of faults and an exit code instead of a stack trace."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from gateway.errors import ConfigurationError, GatewayError
from gateway.iam.language.errors import PolicyError


@contextmanager
def exit_on_error(headline: str = "the gateway cannot start") -> Iterator[None]:
    """Exits with 2 for wrong settings, options or files, listed under `headline`; with 1 for any other failure."""
    try:
        yield
    except ConfigurationError as error:
        typer.echo(f"{headline}:", err=True)
        for fault in error.faults:
            typer.echo(f"  - {fault}", err=True)
        raise typer.Exit(2) from None
    except (GatewayError, PolicyError) as error:
        typer.echo(error.message, err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None
