"""What several commands share: options, how they fail, and writing or checking a generated file."""

import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.errors import ConfigurationError, GatewayError
from gateway.iam.language.errors import PolicyError

if TYPE_CHECKING:
    from gateway.domains import ServedDomains

_GROUP = "gateway.domains"


def project_domains(directory: Path) -> list[str]:
    """The domains that the project in this folder declares as entry points; none if there is no project."""
    try:
        project = tomllib.loads((directory / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"pyproject.toml cannot be read: {error}") from error
    return [value.partition(":")[0] for value in project.get("entry-points", {}).get(_GROUP, {}).values()]


def _own(names: list[str] | None) -> list[str]:
    """The named domains, or those of the project in the current folder; modules there can be imported."""
    here = Path.cwd()
    if str(here) not in sys.path:
        # at the end: a file of the project must not replace an installed package
        sys.path.append(str(here))
    return names or project_domains(here)


_HELP = (
    "Domain, such as helpdesk or helpdesk.domain. Can be repeated. Default: the domains of the project in the current "
    "folder, "
)
Domains = Annotated[list[str] | None, typer.Option(callback=_own, help=f"{_HELP}or those of GATEWAY_DOMAINS.")]
DemoDomains = Annotated[
    list[str] | None, typer.Option(callback=_own, help=f"{_HELP}those of GATEWAY_DOMAINS, or the demo domains.")
]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; fail if the file is out of date.")]


SandboxUrl = Annotated[str, typer.Option(help="URL of the sandbox.")]
SANDBOX = "http://127.0.0.1:8001"


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


def named(domains: list[str] | None) -> list[str]:
    """The domains of a command: those of its option, or else those of the setting."""
    from gateway.settings import domains_in_environment

    return domains or domains_in_environment()


def loaded(domains: list[str] | None) -> "ServedDomains":
    from gateway.domains import load_domains

    return load_domains(named(domains))


def write_or_check(path: Path, text: str, *, check: bool, command: str) -> None:
    """Writes a generated file, or fails if it differs from `text`; `command` regenerates it."""
    if check:
        if not path.is_file() or path.read_text() != text:
            raise GatewayError(f"`{path}` is stale; run `{command}`")
        typer.echo(f"{path} is up to date")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    typer.echo(f"wrote {path}")
