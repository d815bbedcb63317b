"""Every setting, typed and documented, checked together; the only reader of the environment.

A setting `table_name` is read from `GATEWAY_TABLE_NAME`; lists and nested settings are JSON. `gateway serve --config`
reads the same names from a JSON file, such as Terraform's output `gateway_config`; the environment wins over the file.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, SettingsError

from gateway.errors import ConfigurationError

_PREFIX = "GATEWAY_"
_ROLE_ARN = re.compile(r"arn:(?P<partition>aws[a-z-]*):iam::(?P<account>\d{12}):role/[\w+=,.@/-]+")


def _role_arn(text: str) -> str:
    if not _ROLE_ARN.fullmatch(text):
        raise ValueError("expected an ARN such as arn:aws:iam::123456789012:role/gateway-tenant")
    return text


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s/]+(/\S*)?", text):
        raise ValueError("expected an http:// or https:// address")
    return text


RoleArn = Annotated[str, AfterValidator(_role_arn)]
Url = Annotated[str, AfterValidator(_url)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IssuerSettings(_Part):
    """A token issuer that is trusted, and where its claims are."""

    issuer: str
    audience: list[str] = Field(min_length=1)
    jwks_url: Url
    algorithms: list[Literal["RS256", "RS384", "RS512", "PS256", "ES256"]] = ["RS256", "ES256"]
    tenant_claim: str = "tenant"
    roles_claim: str = "roles"
    role_map: dict[str, str] = {}
    required_claims: dict[str, str] = {}
    leeway_seconds: int = Field(default=30, ge=0, le=60)
    max_life_seconds: int = Field(default=86_400, ge=60)


class SiloSettings(_Part):
    """A tenant with a table, a role or a region of its own; what is left out is as for the pooled tenants."""

    table_name: str | None = None
    tenant_role_arn: RoleArn | None = None
    region: str | None = None
    dynamodb_endpoint: Url | None = None
    external_id: str | None = None


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=_PREFIX, extra="forbid", frozen=True)

    # where the tenants' data is
    table_name: str = Field(min_length=3, max_length=255)
    region: str = Field(pattern=r"[a-z]{2}(-[a-z]+)+-\d")
    tenant_role_arn: RoleArn
    dynamodb_endpoint: Url | None = None
    sts_endpoint: Url | None = None
    session_seconds: int = Field(default=3_600, ge=900, le=3_600)
    max_sessions: int = Field(default=20_000, ge=10)
    tenants: list[str] | None = None  # where set, nobody else is served
    silos: dict[str, SiloSettings] = {}
    suspended_tenants: list[str] = []
    policies_dir: Path = Path("policies")

    # who may ask
    issuers: list[IssuerSettings] = Field(min_length=1)
    cursor_secret: SecretStr = Field(min_length=32)

    # how the service behaves
    environment: Literal["production", "sandbox"] = "production"
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65_535)
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    introspection: bool = False
    cors_origins: list[str] = []
    max_body_bytes: int = Field(default=1_000_000, ge=1_000)
    request_seconds: float = Field(default=10, gt=0, le=60)
    drain_seconds: float = Field(default=15, ge=0, le=120)
    max_connections: int = Field(default=100, ge=1, le=5_000)

    # how much one operation may ask
    max_page: int = Field(default=100, ge=1, le=1_000)
    max_depth: int = Field(default=12, ge=2)
    max_aliases: int = Field(default=50, ge=1)
    max_tokens: int = Field(default=5_000, ge=100)
    max_nested_queries: int = Field(default=100, ge=1)

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
        found = _ROLE_ARN.fullmatch(self.tenant_role_arn)
        return found["account"] if found else ""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        faults = list(self._contradictions())
        if faults:
            raise ConfigurationError(faults)
        return self

    def _contradictions(self) -> Iterator[str]:
        names = [issuer.issuer for issuer in self.issuers]
        if len(set(names)) != len(names):
            yield "issuers: an issuer is listed twice"
        known = set(self.tenants) if self.tenants is not None else None
        for name in (*self.silos, *self.suspended_tenants):
            if known is not None and name not in known:
                yield f"tenants: `{name}` has settings of its own but is not among the tenants"
        if self.environment == "sandbox":
            return
        yield from (
            f"issuers: `{issuer.jwks_url}` must be https outside the sandbox"
            for issuer in self.issuers
            if not issuer.jwks_url.startswith("https://")
        )
        if "*" in self.cors_origins:
            yield "cors_origins: `*` is only for the sandbox; name the origins of your front ends"


def load_settings(config: Path | None = None) -> Settings:
    """The settings, or one `ConfigurationError` that lists every fault."""
    typos = [f"{name}: there is no such setting" for name in sorted(os.environ) if _unknown(name)]
    try:
        settings = Settings(**(_read(config) if config else {}))
    except ValidationError as error:
        raise ConfigurationError(typos + [_fault(item) for item in error.errors()]) from error
    except SettingsError as error:
        raise ConfigurationError([*typos, f"{error}: lists and nested settings are JSON"]) from error
    if typos:
        raise ConfigurationError(typos)
    return settings


def _unknown(variable: str) -> bool:
    return variable.startswith(_PREFIX) and variable.removeprefix(_PREFIX).lower() not in Settings.model_fields


def _read(config: Path) -> dict[str, Any]:
    try:
        content = json.loads(config.read_text())
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
