"""Every setting with its type, default and description; this module alone reads the environment.

The setting `table_name` is read from `GATEWAY_TABLE_NAME`; lists and nested settings are JSON. `gateway serve --config`
reads the same names from a JSON file, such as Terraform's output `gateway_config`; the environment takes precedence.
docs/settings.md shows the descriptions below (`python -m gateway.setting_docs`).
"""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, Self, cast

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
from gateway.setting_checks import CONTRADICTIONS, Check, KnownSettings, faults_of
from gateway.setting_types import (
    BucketName,
    BusStream,
    BusUrl,
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
from gateway.suggestions import similar

_PREFIX = "GATEWAY_"
# only the sandbox serves them by default
DEMO_DOMAINS: Final = ("gateway.demo.commerce", "gateway.demo.devices", "gateway.demo.publishing")
# stand in for required settings that are missing or wrong, so that the others can be checked; nothing else reads them
_STAND_INS: Mapping[str, Any] = {
    "table_name": "unknown",
    "region": "eu-west-1",
    "tenant_role_arn": "arn:aws:iam::123456789012:role/unknown",
    "issuers": [{"issuer": "unknown", "audience": ["unknown"], "jwks_url": "https://unknown.example"}],
    "cursor_secret": "0" * 32,
}


class Settings(BaseSettings):
    """Everything that an operator can set; docs/settings.md describes each."""

    # errors never repeat the input, which may be the secret
    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        extra="forbid",
        frozen=True,
        enable_decoding=False,
        hide_input_in_errors=True,
    )

    # where the tenants' data is
    table_name: TableName
    """The table that pooled tenants share."""
    region: Region
    """The region of the table. STS is called in the same region."""
    tenant_role_arn: RoleArn
    """The role that the gateway assumes for a tenant; a session tag and a session policy limit it to that tenant."""
    dynamodb_endpoint: Url | None = None
    """Another address for DynamoDB, such as a VPC endpoint. Without it, the regional endpoint of AWS."""
    sts_endpoint: Url | None = None
    """Another address for STS, such as a VPC endpoint. Without it, the regional endpoint of AWS."""
    files_bucket: BucketName | None = None
    """The bucket of [files](files.md). Required if a domain declares a `File`."""
    s3_endpoint: Url | None = None
    """Another address for S3. Callers use it too, so they must be able to reach it. Without it, the regional
    endpoint of AWS."""
    file_url_seconds: int = Field(default=300, ge=10, le=3_600)
    """How long a signed upload or download works; never longer than the tenant session that signed it."""
    session_duration_seconds: int = Field(default=3_600, ge=900, le=3_600)
    """How long a tenant session lives. AWS allows at most an hour, because the gateway chains roles."""
    max_sessions: int = Field(default=20_000, ge=10)
    """How many tenant sessions the process keeps. The least recently used one is dropped first."""
    max_sts_calls_per_second: int = Field(default=50, ge=1, le=600)
    """AssumeRole calls that this process may start in any second, including retries. The quota of an AWS account is 600
    per second and region, so add up all processes that may restart together. A request that would wait for its session
    longer than `request_timeout_seconds` is refused with `THROTTLED`."""
    warm_up_roles: list[Words] = []
    """At start, the process opens a session in each of these roles for every tenant of `tenants`. Callers take
    precedence over it."""
    session_per_subject: bool = False
    """Opens a session for each subject, so that CloudTrail names the subject. Costs one STS call for each subject."""
    tenants: list[Tenant] | None = None
    """The only tenants that are served. Without it, every tenant that an issuer names is served."""
    silos: dict[Tenant, SiloSettings] = {}
    """Tenants with their own table, role or region, by tenant id; see below."""
    suspended_tenants: list[Tenant] = []
    """Tenants whose requests are refused."""
    readiness_tenant: Tenant | None = None
    """The tenant whose session checks that the shared table and its indexes can be read; see [readiness](#readiness).
    Without it, they are not checked."""
    policies_dir: Path | None = None
    """The directory of the reviewed IAM policies, which must match the model. Without it, `policies` in production and
    no check in the sandbox."""
    domains: list[Words] = []
    """The served domains, by entry point or module; see [your own domain](your-own-domain.md). Required in production;
    if empty, the sandbox serves the demo domains."""

    # who may call
    issuers: list[IssuerSettings] = Field(min_length=1)
    """The trusted token issuers, each with the settings below."""
    support_revocations: Path | None = None
    """A file with the ids of revoked [support grants](identity.md#support-access), one a line. It is read again for
    every request with a grant. If it cannot be read, every grant is refused."""
    cursor_secret: SecretStr = Field(min_length=32)
    """Encrypts cursors, and the ids of items whose key contains personal data: at least 32 characters, the same in
    every process. After a change, the cursors and these ids that clients hold are invalid."""

    # how the service behaves
    environment: Literal["production", "sandbox"] = "production"
    """`sandbox` allows http, and is set only by `gateway dev`."""
    host: str = "127.0.0.1"
    """The address to listen on; `0.0.0.0` in a container."""
    port: int = Field(default=8000, ge=0, le=65_535)
    """The port to listen on."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """The log is JSON lines on standard output, one line for each operation."""
    introspection: bool = False
    """Allows introspection of the schema, and suggestions in error messages."""
    playground: bool = False
    """Serves GraphiQL at `/playground`. Outside the sandbox it asks for a token. Needs `introspection`, and excludes
    `trusted_documents_only`."""
    explain: bool = False
    """Lets callers request which DynamoDB calls an operation made and which statements allowed them."""
    cors_origins: list[Origin] = []
    """Origins of your front ends as browsers send them: `https://shop.example.org`, without a path."""
    max_body_bytes: int = Field(default=1_000_000, ge=1_000)
    """Larger requests get 413. The limit also holds for the decompressed content of a gzip body."""
    gzip_min_bytes: int = Field(default=1_400, ge=0)
    """Responses of this size and larger are compressed for clients that accept gzip."""
    request_timeout_seconds: float = Field(default=10, gt=0, le=60)
    """After this time, an operation and its DynamoDB calls are cancelled."""
    drain_timeout_seconds: float = Field(default=15, ge=0, le=120)
    """How long `/readyz` answers 503 after SIGTERM or SIGHUP before the process stops accepting requests; see
    [stopping](#stopping)."""
    max_dynamodb_connections: int = Field(default=100, ge=1, le=5_000)
    """Connections to each DynamoDB endpoint."""
    max_concurrent_operations: int = Field(default=64, ge=1)
    """Operations that run at the same time. Under [overload](graphql.md#overload), tenants share them by cost."""
    max_queued_per_tenant: int = Field(default=1_000, ge=0)
    """Operations of one tenant that may wait. Beyond it, the oldest are refused with `THROTTLED`."""
    max_subscription_connections: int = Field(default=1_000, ge=0)
    """Open WebSockets and event streams of one tenant in this process; see [subscriptions](subscriptions.md)."""
    max_subscriptions_per_connection: int = Field(default=100, ge=1)
    """Operations that one WebSocket may have open."""
    max_subscriptions_per_tenant: int = Field(default=10_000, ge=1)
    """Subscriptions that one tenant may have open in this process, over all its connections."""
    max_subscription_message_bytes: int = Field(default=131_072, ge=1_000)
    """The longest message that a client may send over a WebSocket."""
    metrics_port: int | None = Field(default=None, ge=0, le=65_535)
    """Serves [metrics](metrics.md) for Prometheus on this port, without authentication. Without it, no metrics."""
    metrics_host: str = "127.0.0.1"
    """The address of the metrics port. The default suits a sidecar; use another address only inside your network."""
    workers: int = Field(default=1, ge=1, le=64)
    """Processes that share the port; see [workers](#workers)."""

    # how much one operation may request
    max_page_size: int = Field(default=100, ge=1, le=1_000)
    """The largest `first`, `last` and list of ids."""
    max_depth: int = Field(default=12, ge=2)
    """Levels of a document, with its fragments expanded."""
    max_aliases: int = Field(default=50, ge=1)
    """Aliases in a document, with its fragments expanded."""
    max_root_fields: int = Field(default=50, ge=1)
    """Root fields of an operation, with its fragments expanded."""
    max_directives: int = Field(default=50, ge=1)
    """Directives in a document, with its fragments expanded."""
    max_document_chars: int = Field(default=65_536, ge=1_000)
    """Characters of a document, checked before it is parsed. Long values belong in the variables."""
    max_document_tokens: int = Field(default=5_000, ge=100)
    """Tokens of a document."""
    max_document_token_bytes: int = Field(default=16_384, ge=100)
    """Bytes of one token, such as a string or a name."""
    max_list_length: int = Field(default=1_000, ge=1)
    """Members of one list or object in the variables."""
    max_nested_queries: int = Field(default=100, ge=1)
    """Query calls of one operation. A list inside a list takes one for each item of the outer list."""
    max_cost: PositiveFloat = 2_000
    """Capacity units that one operation may take by its [estimate](graphql.md#cost)."""
    max_cost_by_role: dict[str, PositiveFloat] = {}
    """Limits for single roles in place of `max_cost`: `{"support": 200}`."""

    # read caches
    cache: Literal["off", "ttl", "dax", "ttl+dax"] = "off"
    """Where reads that the model declares as cached are kept: `ttl` in the process, `dax` in a DAX cluster,
    `ttl+dax` in both."""
    cache_max_bytes: int = Field(default=64_000_000, ge=1_000_000)
    """Memory for the cache of the process, for all tenants together."""
    dax_endpoint: DaxUrl | None = None
    """The `daxs://` address of a cluster that all pooled tenants share."""
    dax_role_arn: RoleArn | None = None
    """The role that the gateway assumes to read from that cluster. Without it, the gateway's own role signs, which
    `policies/gateway-role.json` denies `dax:*`."""
    dax_accept_gateway_only_isolation: bool = False
    """Must be true if tenants share a cluster: there, only the gateway keeps them apart, and IAM does not."""
    dax_item_ttl_seconds: PositiveFloat = 300
    """How long the clusters keep items, as their parameter group says."""
    dax_query_ttl_seconds: PositiveFloat = 300
    """How long the clusters keep pages, as their parameter group says."""
    dax_timeout_seconds: float = Field(default=1, gt=0, le=10)
    """After this time, the gateway reads from the table instead."""
    dax_threads: int = Field(default=16, ge=1, le=256)
    """Calls to one cluster at the same time. Further reads go to the table."""

    # the table's stream
    stream: Literal["off", "inside", "bus"] = "off"
    """How this process learns about changes of the shared table: from the `bus`, which `gateway stream` fills; by
    reading the table's stream `inside` this process, which must be the only one; or not at all. See
    [streams](streams.md)."""
    stream_role_arn: RoleArn | None = None
    """The role that is assumed to read the stream, with the permissions of `policies/stream-role.json`. Without it,
    `gateway stream` reads with its own credentials, whose role needs these permissions."""
    dynamodb_streams_endpoint: Url | None = None
    """Another address for DynamoDB Streams, such as a VPC endpoint. Without it, the regional endpoint of AWS."""

    bus_servers: list[BusUrl] = []
    """The NATS servers that carry change notes between processes, as `tls://` addresses. Required for `stream = "bus"`
    and for `gateway stream`."""
    bus_stream: BusStream = "gateway-changes"
    """The JetStream stream of the notes, one for each table. `gateway stream` creates it if it is missing."""
    bus_user: Words | None = None
    """The user name at the NATS servers. Use different users for web processes and `gateway stream`; see
    [streams](streams.md#the-bus-between-processes)."""
    bus_password: SecretStr | None = None
    """The password of that user."""
    bus_ca: Path | None = None
    """A file with the certificates that sign those of the NATS servers. Without it, the certificates of the system."""
    bus_replicas: int = Field(default=3, ge=1, le=5)
    """How many servers hold each note, if `gateway stream` creates the stream. With one, a lost disk loses notes."""

    # which operations may run
    trusted_documents: Path | None = None
    """A manifest of [trusted documents](graphql.md#trusted-documents), from relay-compiler, GraphQL Code Generator or
    `gateway documents`. It is checked against the schema at start."""
    trusted_documents_only: bool = False
    """Refuses every document that is not in the manifest, introspection included."""

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
        """The directory whose policies must match the model; None if nothing is checked."""
        if self.policies_dir is None and self.environment == "production":
            return Path("policies")
        return self.policies_dir

    @property
    def served_domains(self) -> Sequence[str]:
        """The demo domains are served only if the sandbox is started without any domain."""
        return self.domains or (DEMO_DOMAINS if self.environment == "sandbox" else ())

    @field_validator(
        "tenants",
        "silos",
        "suspended_tenants",
        "warm_up_roles",
        "issuers",
        "cors_origins",
        "domains",
        "max_cost_by_role",
        "bus_servers",
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
        """Reports wrong values together with contradictions between the other settings."""
        try:
            settings, faults = handler(values), list[str]()
        except ValidationError as error:
            wrong = {str(item["loc"][0]) for item in error.errors()}
            right = {name: value for name, value in values.items() if name not in wrong}
            settings = cast(Self, KnownSettings(handler({**_STAND_INS, **right}), frozenset(wrong)))
            faults = [_fault(item) for item in error.errors()]
        faults += faults_of(CONTRADICTIONS, settings)
        if faults:
            raise SettingsError(faults, settings)
        return settings


class SettingsError(ConfigurationError):
    """`known` holds the valid settings, for further checks."""

    def __init__(self, faults: list[str], known: Settings) -> None:
        super().__init__(faults)
        self.known = known


def load_settings(config: Path | None = None, checks: Sequence[Check] = (), unneeded: Sequence[str] = ()) -> Settings:
    """Reads the settings; raises one `ConfigurationError` that lists every fault, including those of `checks`.
    Settings in `unneeded` may be left out, because the process does not read them.
    """
    content = {name: _STAND_INS[name] for name in unneeded} | (_read(config) if config else {})
    unknown = [*filter(_unknown, sorted(os.environ)), *sorted(set(content) - set(Settings.model_fields))]
    faults = [unknown_setting(name) for name in unknown]
    try:
        settings = Settings(**{name: value for name, value in content.items() if name in Settings.model_fields})
    except SettingsError as error:
        raise ConfigurationError(faults + error.faults + faults_of(checks, error.known)) from error
    if faults := faults + faults_of(checks, settings):
        raise ConfigurationError(faults)
    return settings


def domains_in_environment() -> list[str]:
    """The setting `domains` alone, for commands that need no other setting."""
    text = next((value for name, value in os.environ.items() if name.upper() == f"{_PREFIX}DOMAINS"), "[]")
    try:
        names = json.loads(text)
    except ValueError as error:
        raise ConfigurationError([f"domains: expected JSON: {error}"]) from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigurationError(["domains: must be a JSON list of names"])
    return names


def settings_values(settings: Settings) -> dict[str, Any]:
    """The settings as JSON values, including secrets, for `Settings(**values)` in another process."""
    values = settings.model_dump(mode="json", exclude_none=True)
    secrets = {name: getattr(settings, name) for name in values if isinstance(getattr(settings, name), SecretStr)}
    return {**values, **{name: secret.get_secret_value() for name, secret in secrets.items()}}


def environment_without(*prefixes: str) -> dict[str, str]:
    """Our environment without the gateway's settings and without variables that start with one of the prefixes."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith((_PREFIX, *prefixes))}


def environment_with(settings: Settings, aws: Mapping[str, str]) -> dict[str, str]:
    """Our environment for a child process, with these settings and AWS variables instead of ours."""
    # INVARIANT: the developer's own AWS credentials never reach a process that gets others.
    kept, values = environment_without("AWS_"), settings_values(settings)
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in values.items()}
    return {**kept, **{f"{_PREFIX}{name.upper()}": text for name, text in texts.items()}, **aws}


def unknown_setting(name: str) -> str:
    """The fault of a setting, or of a variable, that does not exist."""
    return f"{name}: unknown setting{similar(name.lower().removeprefix(_PREFIX.lower()), Settings.model_fields)}"


def _unknown(variable: str) -> bool:
    name = variable.lower()  # variable names are case-insensitive
    prefix = _PREFIX.lower()
    return name.startswith(prefix) and name.removeprefix(prefix) not in Settings.model_fields


def _read(config: Path) -> dict[str, Any]:
    try:
        content = json.loads(config.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError([f"config file `{config}` cannot be read: {error}"]) from error
    if not isinstance(content, dict):
        raise ConfigurationError([f"config file `{config}` must hold a JSON object"])
    return content


def _fault(item: Any) -> str:
    where = ".".join(str(part) for part in item["loc"])
    if item["type"] == "missing":
        return f"{where}: required; set {_PREFIX}{where.upper()}" if len(item["loc"]) == 1 else f"{where}: required"
    if item["type"] == "too_short" and item["ctx"]["field_type"] == "Value":
        # a secret, of which pydantic counts the characters as items
        return f"{where}: expected at least {item['ctx']['min_length']} characters"
    return f"{where}: {item['msg'].removeprefix('Value error, ')}"
