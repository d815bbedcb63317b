"""What the sandbox's own process is told, and what it tells once it is up."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gateway.aws.wire.credentials import Credentials
from gateway.sandbox.dev.issuer import JWKS_PATH, PATH

DEFAULT_PORT = 8001


@dataclass(frozen=True, slots=True)
class Options:
    port: int = DEFAULT_PORT
    # another engine than the embedded one
    dynamodb_endpoint: str | None = None
    policies: Path | None = None
    table: str = "gateway-sandbox"
    region: str = "eu-west-1"
    account: str = "123456789012"
    log: str = "INFO"  # `INFO` tells each denial and its reason
    domains: tuple[str, ...] = ()  # what is served instead of the shipped domains; only these have demo rows

    def arguments(self) -> list[str]:
        given = {name: value for name, value in asdict(self).items() if value is not None and name != "domains"}
        options = [*given.items(), *(("domains", name) for name in self.domains)]
        return [text for name, value in options for text in (f"--{name.replace('_', '-')}", str(value))]


@dataclass(frozen=True, slots=True)
class Ready:
    """Where everything is. Only tests and tools use `admin`; the gateway gets `gateway`."""

    url: str
    region: str
    table: str
    role_arn: str
    tenants: tuple[str, ...]
    # false where the engine had the table from before: then it was left as it is
    seeded: bool
    admin: Credentials
    gateway: Credentials

    @property
    def issuer(self) -> str:
        return self.url + PATH

    @property
    def jwks_url(self) -> str:
        return self.url + JWKS_PATH


def to_line(ready: Ready) -> str:
    keys = {name: _pair(getattr(ready, name)) for name in ("admin", "gateway")}
    return json.dumps({**asdict(ready), **keys})


def from_line(line: Mapping[str, Any]) -> Ready:
    keys = {name: Credentials(*line[name]) for name in ("admin", "gateway")}
    return Ready(**{**line, **keys, "tenants": tuple(line["tenants"])})


def _pair(credentials: Credentials) -> list[str]:
    return [credentials.access_key, credentials.secret_key]
