"""The commands for development: `dev` runs the gateway on the sandbox, `token` gets a token for it."""

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from gateway.errors import GatewayError, Unavailable
from gateway.sandbox.banner import Up, show
from gateway.sandbox.ready import DEFAULT_PORT, Options
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import HOST, free_port
from gateway.sandbox.supervisor import changes_under, supervise, ticks, until_healthy
from gateway.sandbox.tokens import ask_for_token
from gateway.settings import environment_with

DEFAULT_URL = f"http://{HOST}:{DEFAULT_PORT}"

_PACKAGE = Path(__file__).parents[1]
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # compared with, not listened on


@dataclass(frozen=True, slots=True)
class Dev:
    """What `gateway dev` is asked for; `aws_port` is where the sandbox's DynamoDB and STS are."""

    host: str = HOST
    port: int = 8000
    reload: bool = False
    dynamodb_endpoint: str | None = None
    aws_port: int = DEFAULT_PORT
    # what is served instead of the shipped domains, and the directory with its policies for the sandbox's roles
    domains: tuple[str, ...] = ()
    policies: Path | None = None
    # the module that is the gateway, with its arguments
    command: tuple[str, ...] = ("gateway", "serve")


def token(
    tenant: str, role: str, subject: str | None = None, url: str = DEFAULT_URL, seconds: int | None = None
) -> str:
    """A token of the sandbox that runs at this address; raises a `GatewayError` that says what to do."""
    return ask_for_token(url, tenant, role, subject, seconds)


def dev(wanted: Dev, console: Console | None = None) -> int:
    """Runs sandbox and gateway until Ctrl-C; the exit code."""
    console = console or Console()
    options = Options(wanted.aws_port, wanted.dynamodb_endpoint, wanted.policies)
    try:
        with _ended_by_signals(), Sandbox(options) as sandbox:
            _tell_moved(console, wanted.aws_port, sandbox.url)
            return _run_gateway(wanted, sandbox, console)
    except KeyboardInterrupt:
        console.print("\nstopped")
        return 0
    except GatewayError as error:
        console.print(error.message, style="red", markup=False)
        return 1
    except OSError as error:
        console.print(f"cannot listen on {wanted.host} port {wanted.port}: {error}", style="red", markup=False)
        return 1


def _run_gateway(wanted: Dev, sandbox: Sandbox, console: Console) -> int:
    port = free_port(wanted.port, wanted.host)
    visible = HOST if wanted.host in _EVERYWHERE else wanted.host
    url = f"http://{visible}:{port}"
    _tell_moved(console, wanted.port, url)
    settings = sandbox.settings(host=wanted.host, port=port, domains=list(wanted.domains))
    environment = environment_with(settings, aws_variables(sandbox))

    def start() -> Child:
        return Child(*wanted.command, environment=environment)

    changes = changes_under(_PACKAGE) if wanted.reload else ticks()
    child = start()
    try:
        until_healthy(child, visible, port)
        show(console, Up(url, sandbox.url, _engine(wanted, sandbox), sandbox.token("acme", "viewer")))
    except BaseException:
        child.stop()
        raise
    return supervise(child, start, while_it_runs(sandbox, changes), reload=wanted.reload)


def while_it_runs(sandbox: Sandbox, changes: Iterable[bool]) -> Iterator[bool]:
    for changed in changes:
        if sandbox.returncode is not None:
            raise Unavailable("the sandbox has ended, and its data with it; start `gateway dev` again")
        yield changed


def aws_variables(sandbox: Sandbox) -> dict[str, str]:
    """The gateway's own credentials, as AWS would give them to a container; nothing of the developer's."""
    keys = sandbox.ready.gateway
    return {
        "AWS_ACCESS_KEY_ID": keys.access_key,
        "AWS_SECRET_ACCESS_KEY": keys.secret_key,
        "AWS_REGION": sandbox.ready.region,
        "AWS_DEFAULT_REGION": sandbox.ready.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


def _engine(wanted: Dev, sandbox: Sandbox) -> str:
    if wanted.dynamodb_endpoint is None:
        return "moto, in memory"
    kept = "" if sandbox.ready.seeded else "; the table was there and is left as it is"
    return f"{wanted.dynamodb_endpoint}{kept}"


def _tell_moved(console: Console, port: int, url: str) -> None:
    if port and not url.endswith(f":{port}"):
        console.print(f"port {port} is taken: using {url} instead", style="yellow", markup=False)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM ends it as Ctrl-C does, and Ctrl-C also where a shell that started it had switched that off."""

    def end(number: int, frame: object) -> NoReturn:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
