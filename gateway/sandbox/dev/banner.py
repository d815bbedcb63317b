"""The text that `gateway dev` prints when everything runs: addresses, tenants, a token and a command to try."""

import json
import os
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gateway.model.demo import DemoTenant
from gateway.sandbox.ready import url_option


@dataclass(frozen=True, slots=True)
class RunningGateway:
    """The addresses of the gateway and the sandbox, the engine, and the served domains.

    `token` is for the first tenant and `role`; `front_end` says whether there is a page at `/demo`.
    """

    gateway: str
    aws: str
    engine: str
    token: str
    query: str
    domains: tuple[str, ...]
    role: str
    roles: tuple[str, ...]
    tenants: tuple[DemoTenant, ...]
    front_end: bool = False

    @property
    def tenant(self) -> str:
        return self.tenants[0].name


def show(console: Console, up: RunningGateway) -> None:
    console.print(Panel(Group(_addresses(up), Text(), _tenants(up)), title="The gateway is running", expand=False))
    # plain lines, so that they can be copied from any terminal
    console.print(f"A token for tenant {up.tenant} and role {up.role}, valid for 8 hours:", style="bold")
    console.out(up.token, highlight=False)
    console.print("Try it:", style="bold")
    console.out(curl(up), highlight=False)
    console.print("Stop with Ctrl-C.")


def curl(up: RunningGateway) -> str:
    return (
        f"curl -s {up.gateway}/graphql -H 'Content-Type: application/json' "
        f"-H 'Authorization: Bearer {up.token}' -d '{json.dumps({'query': up.query})}'"
    )


def _addresses(up: RunningGateway) -> Table:
    rows = (
        ("Playground", f"{up.gateway}/playground"),
        *([("Demo", f"{up.gateway}/demo")] if up.front_end else []),
        ("GraphQL", f"{up.gateway}/graphql"),
        ("Health", f"{up.gateway}/healthz"),
        ("AWS", f"{up.aws} (DynamoDB and STS, IAM enforced; {up.engine})"),
        ("Tokens", f"{_command()} token --tenant {up.tenant} --role {up.role}{url_option(up.aws)}"),
    )
    return _grid(rows)


def _command() -> str:
    """How this terminal calls `gateway`: by its path, if its environment is not active."""
    beside = Path(sys.executable).with_name("gateway")
    return os.path.relpath(beside) if shutil.which("gateway") is None and beside.exists() else "gateway"


def _tenants(up: RunningGateway) -> Table:
    described = [(tenant.name, tenant.about or tenant.title) for tenant in up.tenants]
    if not any(text for _, text in described):
        described = [("Tenants", ", ".join(tenant.name for tenant in up.tenants))]
    return _grid([("Domains", ", ".join(up.domains)), *described, ("Roles", ", ".join(up.roles))])


def _grid(rows: Iterable[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for name, text in rows:
        grid.add_row(Text(name, style="bold"), Text(text))
    return grid
