"""Every setting, typed and documented, checked together; the only reader of the environment.

A setting `table_name` is read from `GATEWAY_TABLE_NAME`; lists and nested settings are JSON. `gateway serve --config`
reads the same names from a JSON file, such as Terraform's output `gateway_config`; the environment wins over the file.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, PositiveFloat, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from gateway.errors import ConfigurationError
from gateway.setting_types import (
    DaxUrl,
    IssuerSettings,
    Origin,
    Region,
    RoleArn,
    SiloSettings,
    TableName,
    Tenant,
    Url,
    Words,
)

_PREFIX = "GATEWAY_"


class Settings(BaseSettings):
    # what was given is never repeated in an error: it may be the secret
    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, extra="forbid", frozen=True, enable_decoding=False, hide_input_in_errors=True
    )

    # where the tenants' data is
    table_name: TableName
    region: Region
    tenant_role_arn: RoleArn
    dynamodb_endpoint: Url | None = None
    sts_endpoint: Url | None = None
    session_seconds: int = Field(default=3_600, ge=900, le=3_600)
    max_sessions: int = Field(default=20_000, ge=10)
    max_sts_calls_per_second: int = Field(default=50, ge=1, le=600)  # of this process; those of a fleet add up
    warm_up_roles: list[Words] = []  # at start, sessions in these roles are opened for every tenant of `tenants`
    session_per_subject: bool = False  # CloudTrail then names the subject; one STS call for each subject
    tenants: list[Tenant] | None = None  # where set, nobody else is served
    silos: dict[Tenant, SiloSettings] = {}
    suspended_tenants: list[Tenant] = []
    policies_dir: Path = Path("policies")

    # who may ask
    issuers: list[IssuerSettings] = Field(min_length=1)
    cursor_secret: SecretStr = Field(min_length=32)

    # how the service behaves
    domains: list[Words] = []  # the modules of what is served, such as `helpdesk.domain`; empty: the shipped domains
    environment: Literal["production", "sandbox"] = "production"
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    introspection: bool = False
    playground: bool = False  # GraphiQL at /playground; outside the sandbox it asks for a token
    explain: bool = False  # callers may ask which DynamoDB calls were made, and what allowed them
    cors_origins: list[Origin] = []
    max_body_bytes: int = Field(default=1_000_000, ge=1_000)
    packed_from_bytes: int = Field(default=1_400, ge=0)  # smaller answers are not sent as gzip
    request_seconds: float = Field(default=10, gt=0, le=60)
    drain_seconds: float = Field(default=15, ge=0, le=120)
    max_connections: int = Field(default=100, ge=1, le=5_000)
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)  # Prometheus; a port of its own, without tokens
    metrics_host: str = "127.0.0.1"

    # whose turn it is
    max_running: int = Field(default=64, ge=1)  # operations of all tenants; tenants that wait take turns
    max_waiting: int = Field(default=1_000, ge=0)  # operations of one tenant

    # how much one operation may ask
    max_page: int = Field(default=100, ge=1, le=1_000)
    max_depth: int = Field(default=12, ge=2)
    max_aliases: int = Field(default=50, ge=1)
    max_root_fields: int = Field(default=50, ge=1)
    max_directives: int = Field(default=50, ge=1)
    max_tokens: int = Field(default=5_000, ge=100)
    max_list: int = Field(default=1_000, ge=1)  # members of a list in the variables
    max_nested_queries: int = Field(default=100, ge=1)
    max_cost: PositiveFloat = 2_000  # capacity units, by the estimate
    max_cost_by_role: dict[str, PositiveFloat] = {}

    # reads that are remembered, where the model says how stale they may be: docs/cache.md
    cache: Literal["off", "ttl", "dax", "ttl+dax"] = "off"
    cache_bytes: int = Field(default=64_000_000, ge=1_000_000)
    dax_endpoint: DaxUrl | None = None  # a cluster for all pooled tenants
    dax_accept_that_only_the_gateway_separates_tenants: bool = False
    dax_item_seconds: PositiveFloat = 300  # as the clusters' parameter group says
    dax_query_seconds: PositiveFloat = 300
    dax_call_seconds: float = Field(default=1, gt=0, le=10)  # then the table is asked
    dax_threads: int = Field(default=16, ge=1, le=256)

    # which operations may be asked
    trusted_documents: Path | None = None  # a manifest from relay-compiler, codegen or `gateway documents`
    only_trusted: bool = False  # runs nothing else

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return env_settings, init_settings

    @property
    def account(self) -> str:
        return self.tenant_role_arn.split(":")[4]

    @field_validator(
        "tenants",
        "silos",
        "suspended_tenants",
        "warm_up_roles",
        "issuers",
        "cors_origins",
        "domains",
        "max_cost_by_role",
        mode="before",
    )
    @classmethod
    def _from_json(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError as error:
            raise ValueError(f"expected JSON: {error}") from error

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if faults := list(self._contradictions()):
            raise ConfigurationError(faults)
        return self

    def _contradictions(self) -> Iterator[str]:
        names = [issuer.issuer for issuer in self.issuers]
        if len(set(names)) != len(names):
            yield "issuers: an issuer is listed twice"
        for name in dict.fromkeys((*self.silos, *self.suspended_tenants)):
            if self.tenants is not None and name not in self.tenants:
                yield f"tenants: `{name}` has settings of its own but is not among the tenants"
        if self.warm_up_roles and (self.tenants is None or self.session_per_subject):
            yield "warm_up_roles: needs the list of tenants, and sessions that subjects share"
        if self.only_trusted and self.trusted_documents is None:
            yield "only_trusted: is on but there are no trusted_documents, so nothing could be asked"
        if self.metrics_port not in (None, 0) and self.metrics_port == self.port:
            yield "metrics_port: is the port of the gateway itself; it asks for no token, so it needs its own"
        if self.only_trusted and self.playground:
            yield "playground: is on but only_trusted is too, so nothing could be asked there"
        yield from self._cache_contradictions()
        if self.environment == "production":
            yield from self._unsafe()

    def _cache_contradictions(self) -> Iterator[str]:
        of_silos = {f"silos.{name}.dax_endpoint": silo.dax_endpoint for name, silo in self.silos.items()}
        named = {"dax_endpoint": self.dax_endpoint, **of_silos}
        clusters = {name: address for name, address in named.items() if address is not None}
        if "dax" not in self.cache:
            yield from (f"{name}: is set but cache is `{self.cache}`" for name in clusters)
            return
        if not clusters:
            yield f"cache: is `{self.cache}` but there is no dax_endpoint, neither for the pool nor for a silo"
        addresses = list(clusters.values())
        for name, address in clusters.items():
            shared = name == "dax_endpoint" or addresses.count(address) > 1
            if shared and not self.dax_accept_that_only_the_gateway_separates_tenants:
                yield (
                    f"{name}: tenants share a cluster, which answers with its own role whoever asks, so IAM does not "
                    "keep them apart there; say dax_accept_that_only_the_gateway_separates_tenants if you accept that"
                )
            if self.environment == "production" and not address.startswith("daxs://"):
                yield f"{name}: `{address}` must be daxs outside the sandbox"

    def _unsafe(self) -> Iterator[str]:
        """What the sandbox may do and production may not."""
        addresses = {
            **{f"issuers.{number}.jwks_url": issuer.jwks_url for number, issuer in enumerate(self.issuers)},
            "dynamodb_endpoint": self.dynamodb_endpoint,
            "sts_endpoint": self.sts_endpoint,
            **{f"silos.{name}.dynamodb_endpoint": silo.dynamodb_endpoint for name, silo in self.silos.items()},
        }
        for name, address in addresses.items():
            if address is not None and not address.startswith("https://"):
                yield f"{name}: `{address}` must be https outside the sandbox"
        if "*" in self.cors_origins:
            yield "cors_origins: `*` is only for the sandbox; name the origins of your front ends"
        if self.playground and not self.introspection:
            yield "playground: is on but introspection is off, so it could neither document nor complete anything"
        if self.drain_seconds < self.request_seconds:
            yield "drain_seconds: is shorter than request_seconds, so a stop would cut off requests in flight"


def load_settings(config: Path | None = None) -> Settings:
    """The settings, or one `ConfigurationError` that lists every fault."""
    given = _read(config) if config else {}
    unknown = [*filter(_unknown, sorted(os.environ)), *sorted(set(given) - set(Settings.model_fields))]
    faults = [f"{name}: there is no such setting" for name in unknown]
    try:
        settings = Settings(**{name: value for name, value in given.items() if name in Settings.model_fields})
    except ValidationError as error:
        raise ConfigurationError(faults + [_fault(item) for item in error.errors()]) from error
    except ConfigurationError as error:
        raise ConfigurationError(faults + error.faults) from error
    if faults:
        raise ConfigurationError(faults)
    return settings


def environment_with(settings: Settings, aws: Mapping[str, str]) -> dict[str, str]:
    """The environment for a child process: ours, with these settings and these variables of AWS in place of ours."""
    # INVARIANT: a developer's own AWS credentials never reach a process that is given others.
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith((_PREFIX, "AWS_"))}
    values = settings.model_dump(mode="json", exclude_none=True)
    values["cursor_secret"] = settings.cursor_secret.get_secret_value()
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return {**kept, **{f"{_PREFIX}{name.upper()}": text for name, text in texts.items()}, **aws}


def _unknown(variable: str) -> bool:
    name = variable.lower()  # they are read whatever their case
    prefix = _PREFIX.lower()
    return name.startswith(prefix) and name.removeprefix(prefix) not in Settings.model_fields


def _read(config: Path) -> dict[str, Any]:
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError([f"config file `{config}` cannot be read: {error}"]) from error
    if not isinstance(content, dict):
        raise ConfigurationError([f"config file `{config}` is not a JSON object"])
    return content


def _fault(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"])
    name = f"{_PREFIX}{str(item['loc'][0]).upper()}" if item["loc"] else ""
    if item["type"] == "missing":
        return f"{where}: is not set (environment variable {name})" if len(item["loc"]) == 1 else f"{where}: is not set"
    return f"{where}: {item['msg'].removeprefix('Value error, ')}"
