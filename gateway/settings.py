"""Every setting, typed and documented, checked together; the only reader of the environment.

A setting `table_name` is read from `GATEWAY_TABLE_NAME`; lists and nested settings are JSON. `gateway serve --config`
reads the same names from a JSON file, such as Terraform's output `gateway_config`; the environment wins over the file.
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, cast

from pydantic import (
    Field,
    ModelWrapValidatorHandler,
    PositiveFloat,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from gateway.errors import ConfigurationError
from gateway.setting_checks import CONTRADICTIONS, Check, KnownSettings, found_by
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
# for settings that are needed and wrong or missing, so that the others can be checked; nothing ever reads them
_STAND_INS: Mapping[str, Any] = {
    "table_name": "unknown",
    "region": "eu-west-1",
    "tenant_role_arn": "arn:aws:iam::123456789012:role/unknown",
    "issuers": [{"issuer": "unknown", "audience": ["unknown"], "jwks_url": "https://unknown.example"}],
    "cursor_secret": "0" * 32,
}


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
    session_duration_seconds: int = Field(default=3_600, ge=900, le=3_600)
    max_sessions: int = Field(default=20_000, ge=10)
    max_sts_calls_per_second: int = Field(default=50, ge=1, le=600)  # of this process; those of a fleet add up
    warm_up_roles: list[Words] = []  # at start, sessions in these roles are opened for every tenant of `tenants`
    session_per_subject: bool = False  # CloudTrail then names the subject; one STS call for each subject
    tenants: list[Tenant] | None = None  # where set, nobody else is served
    silos: dict[Tenant, SiloSettings] = {}
    suspended_tenants: list[Tenant] = []
    readiness_tenant: Tenant | None = None  # whose session asks whether table and indexes can be read; needs no items
    policies_dir: Path | None = None  # by default `policies`; in the sandbox none is needed

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
    gzip_min_bytes: int = Field(default=1_400, ge=0)  # smaller answers are not sent as gzip
    request_timeout_seconds: float = Field(default=10, gt=0, le=60)
    drain_timeout_seconds: float = Field(default=15, ge=0, le=120)
    max_dynamodb_connections: int = Field(default=100, ge=1, le=5_000)
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)  # Prometheus; a port of its own, without tokens
    metrics_host: str = "127.0.0.1"
    workers: int = Field(default=1, ge=1, le=64)  # processes that share the port; each has limits and caches of its own

    # how much runs at a time
    max_concurrent_operations: int = Field(default=64, ge=1)  # of all tenants; tenants share them by cost
    max_queued_per_tenant: int = Field(default=1_000, ge=0)  # operations that wait

    # how much one operation may ask
    max_page_size: int = Field(default=100, ge=1, le=1_000)
    max_depth: int = Field(default=12, ge=2)
    max_aliases: int = Field(default=50, ge=1)
    max_root_fields: int = Field(default=50, ge=1)
    max_directives: int = Field(default=50, ge=1)
    max_document_chars: int = Field(default=65_536, ge=1_000)
    max_document_tokens: int = Field(default=5_000, ge=100)
    max_document_token_bytes: int = Field(default=16_384, ge=100)  # of one string or name in a document
    max_list_length: int = Field(default=1_000, ge=1)  # members of a list in the variables
    max_nested_queries: int = Field(default=100, ge=1)
    max_cost: PositiveFloat = 2_000  # capacity units, by the estimate
    max_cost_by_role: dict[str, PositiveFloat] = {}

    # reads that are remembered, where the model says how stale they may be: docs/cache.md
    cache: Literal["off", "ttl", "dax", "ttl+dax"] = "off"
    cache_max_bytes: int = Field(default=64_000_000, ge=1_000_000)
    dax_endpoint: DaxUrl | None = None  # a cluster for all pooled tenants
    dax_role_arn: RoleArn | None = None  # assumed to read from it; without one the gateway's own role signs
    dax_accept_gateway_only_isolation: bool = False
    dax_item_ttl_seconds: PositiveFloat = 300  # as the clusters' parameter group says
    dax_query_ttl_seconds: PositiveFloat = 300
    dax_timeout_seconds: float = Field(default=1, gt=0, le=10)  # then the table is asked
    dax_threads: int = Field(default=16, ge=1, le=256)

    # which operations may be asked
    trusted_documents: Path | None = None  # a manifest from relay-compiler, codegen or `gateway documents`
    trusted_documents_only: bool = False  # runs nothing else

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

    @property
    def reviewed_policies(self) -> Path | None:
        """The directory that must hold what the model says; a sandbox that names none reviews nothing."""
        if self.policies_dir is None and self.environment == "production":
            return Path("policies")
        return self.policies_dir

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

    @model_validator(mode="wrap")
    @classmethod
    def _all_faults(cls, values: dict[str, Any], handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Wrong values and contradictions between the others are found together."""
        try:
            settings, faults = handler(values), list[str]()
        except ValidationError as error:
            wrong = {str(item["loc"][0]) for item in error.errors()}
            right = {name: value for name, value in values.items() if name not in wrong}
            settings = cast(Self, KnownSettings(handler({**_STAND_INS, **right}), frozenset(wrong)))
            faults = [_fault(item) for item in error.errors()]
        faults += found_by(CONTRADICTIONS, settings)
        if faults:
            raise SettingsError(faults, settings)
        return settings


class SettingsError(ConfigurationError):
    """`known` are the settings without those that are wrong, for checks of what else is."""

    def __init__(self, faults: list[str], known: Settings) -> None:
        super().__init__(faults)
        self.known = known


def load_settings(config: Path | None = None, checks: Sequence[Check] = ()) -> Settings:
    """The settings, or one `ConfigurationError` that lists every fault, those that `checks` find among them."""
    given = _read(config) if config else {}
    unknown = [*filter(_unknown, sorted(os.environ)), *sorted(set(given) - set(Settings.model_fields))]
    faults = [f"{name}: there is no such setting" for name in unknown]
    try:
        settings = Settings(**{name: value for name, value in given.items() if name in Settings.model_fields})
    except SettingsError as error:
        raise ConfigurationError(faults + error.faults + found_by(checks, error.known)) from error
    if faults := faults + found_by(checks, settings):
        raise ConfigurationError(faults)
    return settings


def settings_values(settings: Settings) -> dict[str, Any]:
    """As JSON, secrets included; in an `environment_without` settings, `Settings(**values)` are the same settings."""
    values = settings.model_dump(mode="json", exclude_none=True)
    return {**values, "cursor_secret": settings.cursor_secret.get_secret_value()}


def environment_without(*prefixes: str) -> dict[str, str]:
    """Our environment for a child process that is given its settings in another way; nor has it the `prefixes`."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith((_PREFIX, *prefixes))}


def environment_with(settings: Settings, aws: Mapping[str, str]) -> dict[str, str]:
    """The environment for a child process: ours, with these settings and these variables of AWS in place of ours."""
    # INVARIANT: a developer's own AWS credentials never reach a process that is given others.
    kept, values = environment_without("AWS_"), settings_values(settings)
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
