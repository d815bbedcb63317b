"""The settings of a gateway under test, and stand-ins for AWS and the identity provider."""

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import orjson
from pydantic import SecretStr

from gateway.aws.sts.assume_role import AssumeRole, Sts
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.errors import ConfigurationError
from gateway.sandbox.dev.issuer import AUDIENCE, TokenIssuer
from gateway.setting_types import IssuerSettings
from gateway.settings import Settings, settings_values, unknown_setting

REGION = "eu-west-1"
TABLE = "app"
TENANT_ROLE = "arn:aws:iam::123456789012:role/gateway-tenant"
_ISSUER = "http://issuer.test"


@cache
def issuer() -> TokenIssuer:
    """Signs for any tenant; created once per process, because generating a key is slow."""
    return TokenIssuer(_ISSUER, None)


@cache
def token(
    tenant: str = "acme", role: str = "viewer", subject: str | None = None, roles: tuple[str, ...] | None = None
) -> str:
    """A signed token, one of each kind for the whole run; `roles` are those of the model under test."""
    token_issuer = issuer() if roles is None else replace(issuer(), roles=roles)
    return token_issuer.token(tenant, role, subject)


async def fetch_keys(url: str) -> bytes:
    return orjson.dumps(issuer().jwks())


class MemorySts(Sts):
    """Opens a session for any caller; the in-memory engine checks no signature."""

    def __init__(self) -> None:
        self.requests: list[AssumeRole] = []

    async def assume_role(self, request: AssumeRole) -> Credentials:
        self.requests.append(request)
        return Credentials(f"ASIA{request.session_name}", "secret", "token", time.time() + request.seconds)


class CallLog(DynamoDB):
    """Forwards every call and records its operation."""

    def __init__(self, engine: DynamoDB) -> None:
        self._engine = engine
        self.operations: list[str] = []

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        self.operations.append(operation)
        return await self._engine.call(operation, body, credentials=credentials, target=target, deadline=deadline)


@cache
def _settings() -> Settings:
    return Settings(
        environment="sandbox",
        table_name=TABLE,
        files_bucket=f"{TABLE}-files",
        region=REGION,
        tenant_role_arn=TENANT_ROLE,
        issuers=[IssuerSettings(issuer=_ISSUER, audience=[AUDIENCE], jwks_url=f"{_ISSUER}/keys", algorithms=["RS256"])],
        cursor_secret=SecretStr("c" * 32),
        introspection=True,
        # generous limits for slow machines, where time is not what is tested
        request_timeout_seconds=60,
    )


def settings(**changes: Any) -> Settings:
    """Settings of a gateway under test. Changes are not validated."""
    return _settings().model_copy(update=changes)


def checked_settings(**changes: Any) -> Settings:
    """Does the same for settings that somebody else has written; raises `ConfigurationError` if they are wrong."""
    unknown = sorted(changes.keys() - Settings.model_fields.keys())
    if unknown:
        raise ConfigurationError(list(map(unknown_setting, unknown)))
    return Settings(**{**settings_values(_settings()), **changes})
