"""The options of the sandbox's process, and what it reports when it is ready."""

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
    # the address of an engine to use instead of the embedded one
    dynamodb_endpoint: str | None = None
    policies: Path | None = None
    table: str = "gateway-sandbox"
    region: str = "eu-west-1"
    account: str = "123456789012"
    log: str = "INFO"  # `INFO` logs each denial and its reason
    domains: tuple[str, ...] = ()  # served instead of the demo domains; only those have demo rows

    def arguments(self) -> list[str]:
        values = {name: value for name, value in asdict(self).items() if value is not None and name != "domains"}
        options = [*values.items(), *(("domains", name) for name in self.domains)]
        return [text for name, value in options for text in (f"--{name.replace('_', '-')}", str(value))]


@dataclass(frozen=True, slots=True)
class Ready:
    """The addresses, names and keys of the sandbox. The gateway gets `gateway`; only tests and tools use `admin`."""

    url: str
    region: str
    table: str
    role_arn: str
    stream_role_arn: str
    tenants: tuple[str, ...]
    # false if the engine already had the table, which is then left unchanged
    seeded: bool
    admin: Credentials
    gateway: Credentials
    # of the files, at the same address
    bucket: str = ""

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


def url_option(address: str | None) -> str:
    """What `gateway token` needs besides where the sandbox is not at its usual port."""
    return "" if address is None or address.endswith(f":{DEFAULT_PORT}") else f" --url {address}"
