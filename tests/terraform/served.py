"""The gateway as a process, started from Terraform's output alone, and a token issuer for it."""

import json
import os
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from gateway.sandbox.dev.issuer import AUDIENCE, JWKS_PATH, PATH, TokenIssuer, routes
from gateway.sandbox.server import address_of, listen, served_in_thread
from gateway.settings import DEMO_DOMAINS
from tests.graphql_http import post_graphql
from tests.terraform.servers import free_port, running
from tests.terraform.tool import REPOSITORY

# what the Dockerfile copies into the image, besides the dependencies
_IN_IMAGE = ("gateway", "policies")


@dataclass(frozen=True, slots=True)
class Served:
    url: str
    log: Path

    def post(self, token: str, query: str) -> dict[str, Any]:
        return post_graphql(f"{self.url}/graphql", token, query)


@contextmanager
def issuing(tenants: frozenset[str]) -> Iterator[TokenIssuer]:
    """A token issuer with an RS256 key of its own behind a JWKS address."""
    found: socket.socket = listen(0)
    issuer = TokenIssuer(address_of(found) + PATH, tenants)
    with served_in_thread(Starlette(routes=routes(issuer)), found):
        yield issuer


def issuers(issuer: TokenIssuer) -> list[dict[str, Any]]:
    """The variable `issuers` of an environment."""
    jwks = issuer.issuer.removesuffix(PATH) + JWKS_PATH
    return [{"issuer": issuer.issuer, "audience": [AUDIENCE], "jwks_url": jwks}]


@contextmanager
def serving(config: Mapping[str, Any], folder: Path, environment: Mapping[str, str]) -> Iterator[Served]:
    """`gateway serve --config` in a folder that has what the image has, and nothing of the repository."""
    for name in _IN_IMAGE:
        (folder / name).symlink_to(REPOSITORY / name)
    (folder / "gateway.json").write_text(json.dumps(config))
    port = free_port()
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("AWS_", "GATEWAY_"))}
    own = {
        "PYTHONPATH": str(folder),
        "GATEWAY_CURSOR_SECRET": "a-secret-of-the-tests-0123456789-0123456789",
        "GATEWAY_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "GATEWAY_DOMAINS": json.dumps(DEMO_DOMAINS),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    command = [sys.executable, "-P", "-m", "gateway", "serve", "--config", "gateway.json"]
    with running(command, port, "/readyz", folder, {**kept, **own, **environment}) as log:
        yield Served(f"http://127.0.0.1:{port}", log)
