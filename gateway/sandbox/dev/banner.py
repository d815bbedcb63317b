"""The text that `gateway dev` prints when everything runs: addresses, tenants, a token and a command to try."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from gateway.iam.policies.roles import ROLE_NAMES
from gateway.sandbox.dev.shops import SHOPS
from gateway.sandbox.ready import DEFAULT_PORT

SHOP = "commerce"  # the domain of the demo shop


@dataclass(frozen=True, slots=True)
class RunningGateway:
    """The addresses of the gateway and the sandbox, the engine, a token, the domains and a first query."""

    gateway: str
    aws: str
    engine: str
    token: str
    query: str
    domains: tuple[str, ...]

    @property
    def has_shop(self) -> bool:
        return SHOP in self.domains


def show(console: Console, up: RunningGateway) -> None:
    console.print(Panel(Group(_addresses(up), Text(), _tenants(up)), title="The gateway is running", expand=False))
    # plain lines, so that they can be copied from any terminal
    console.print("A token for tenant acme and role viewer, valid for 8 hours:", style="bold")
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
    other = "" if up.aws.endswith(f":{DEFAULT_PORT}") else f" --url {up.aws}"
    rows = (
        ("Playground", f"{up.gateway}/playground"),
        *([("Demo shop", f"{up.gateway}/demo")] if up.has_shop else []),
        ("GraphQL", f"{up.gateway}/graphql"),
        ("Health", f"{up.gateway}/healthz"),
        ("AWS", f"{up.aws} (DynamoDB and STS, IAM enforced; {up.engine})"),
        ("Tokens", f"gateway token --tenant acme --role viewer{other}"),
    )
    return _grid(rows)


def _tenants(up: RunningGateway) -> Table:
    rows: list[tuple[str, str]]
    if up.has_shop:
        rows = [(shop.tenant, f"{shop.title}: users u-{shop.first} to u-{shop.first + 24}") for shop in SHOPS]
    else:
        rows = [("Domains", ", ".join(up.domains)), ("Tenants", ", ".join(shop.tenant for shop in SHOPS))]
    return _grid([*rows, ("Roles", ", ".join(ROLE_NAMES))])


def _grid(rows: Iterable[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for name, text in rows:
        grid.add_row(Text(name, style="bold"), Text(text))
    return grid
