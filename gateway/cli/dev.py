"""`gateway dev`: runs the gateway on the sandbox."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from gateway.domains import load_domains
from gateway.errors import GatewayError, Unavailable
from gateway.graph.playground.first_query import first_query, shown_role
from gateway.model.demo import demo_tenants
from gateway.sandbox.dev.banner import RunningGateway, show
from gateway.sandbox.dev.supervisor import changes_under, sources_of, supervise, ticks, until_healthy
from gateway.sandbox.ready import DEFAULT_PORT, Options
from gateway.sandbox.sandbox import Child, Sandbox
from gateway.sandbox.server import HOST, free_port
from gateway.serving.signals import ended_by_signals, interrupt
from gateway.settings import Settings, environment_with

_PACKAGE = Path(__file__).parents[1]
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  # compared with, not listened on


@dataclass(frozen=True, slots=True)
class Dev:
    """The options of `gateway dev`; `aws_port` is the port of the sandbox's DynamoDB and STS."""

    host: str = HOST
    port: int = 8000
    reload: bool = False
    dynamodb_endpoint: str | None = None
    aws_port: int = DEFAULT_PORT
    # served instead of the demo domains
    domains: tuple[str, ...] = ()
    # the module that is the gateway, with its arguments
    command: tuple[str, ...] = ("gateway", "serve")


def dev(options: Dev, console: Console | None = None) -> int:
    """Runs sandbox and gateway until Ctrl-C; returns the exit code."""
    console = console or Console()
    sandbox_options = Options(options.aws_port, options.dynamodb_endpoint, domains=options.domains)
    try:
        # after a second signal the children end by themselves, because their parent is gone
        with ended_by_signals(interrupt), Sandbox(sandbox_options) as sandbox:
            _tell_moved(console, options.aws_port, sandbox.url)
            return _run_gateway(options, sandbox, console)
    except KeyboardInterrupt:
        console.print("\nstopped")
        return 0
    except GatewayError as error:
        # not wrapped: it may hold a command to paste
        console.print(error.message, style="red", markup=False, soft_wrap=True)
        return 1
    except OSError as error:
        console.print(f"cannot listen on {options.host} port {options.port}: {error}", style="red", markup=False)
        return 1


def _run_gateway(options: Dev, sandbox: Sandbox, console: Console) -> int:
    port = free_port(options.port, options.host)
    visible = HOST if options.host in _EVERYWHERE else options.host
    url = f"http://{visible}:{port}"
    _tell_moved(console, options.port, url)
    settings = sandbox.settings(host=options.host, port=port, domains=list(options.domains))
    # regardless of the environment, it listens where the banner says and is a single process, so that `/metrics` and
    # the log cover all requests and it is notified of every change
    alone = {
        "host": options.host,
        "port": port,
        "workers": 1,
        "stream": "inside",
        "stream_role_arn": sandbox.ready.stream_role_arn,
    }
    settings = settings.model_copy(update=alone)
    environment = environment_with(settings, aws_variables(sandbox))

    def start() -> Child:
        return Child(*options.command, environment=environment)

    changes = changes_under(_PACKAGE, *sources_of(options.domains)) if options.reload else ticks()
    child = start()
    try:
        until_healthy(child, visible, port)
        show(console, _up(options, sandbox, url, settings))
    except BaseException:
        child.stop()
        raise

    def report(text: str) -> None:
        console.print(text, style="yellow", markup=False)

    return supervise(child, start, while_it_runs(sandbox, changes), report, reload=options.reload)


def _up(options: Dev, sandbox: Sandbox, url: str, settings: Settings) -> RunningGateway:
    model = load_domains(settings.served_domains).model
    tenants = demo_tenants(model)
    role = shown_role(model)
    return RunningGateway(
        gateway=url,
        aws=sandbox.url,
        engine=_engine(options, sandbox),
        token=sandbox.token(tenants[0].name, role),
        query=first_query(model),
        domains=tuple(domain.name for domain in model.domains),
        role=role,
        roles=tuple(model.roles),
        tenants=tenants,
        front_end=any(domain.demo is not None and domain.demo.front_end is not None for domain in model.domains),
    )


def while_it_runs(sandbox: Sandbox, changes: Iterable[bool]) -> Iterator[bool]:
    for changed in changes:
        if sandbox.returncode is not None:
            raise Unavailable("the sandbox has stopped and its data is lost; start `gateway dev` again")
        yield changed


def aws_variables(sandbox: Sandbox) -> dict[str, str]:
    """The gateway's own credentials, as AWS gives them to a container; none of the developer's."""
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


def _engine(options: Dev, sandbox: Sandbox) -> str:
    if options.dynamodb_endpoint is None:
        return "moto, in memory"
    kept = "" if sandbox.ready.seeded else "; the table existed and was left unchanged"
    return f"{options.dynamodb_endpoint}{kept}"


def _tell_moved(console: Console, port: int, url: str) -> None:
    if port and not url.endswith(f":{port}"):
        console.print(f"port {port} is in use: using {url} instead", style="yellow", markup=False)
