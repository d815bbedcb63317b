"""Access to the table with the operator's own credentials, never with the gateway's or a tenant's."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.aws.wire.errors import AwsError, Retry
from gateway.errors import ConfigurationError, Throttled, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sts import STSClient

_SESSION = "gateway-migrate"
_RENEW_SECONDS = 300.0
_TRIES = 6


class Keys(Protocol):
    async def credentials(self) -> Credentials: ...


@dataclass(frozen=True, slots=True)
class MigrationSource:
    """One table, and the credentials to use."""

    client: DynamoDB
    target: AwsTarget
    table: str
    keys: Keys
    # seconds before the first retry; doubles with each
    pause: float = 1.0

    async def call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Retries for about a minute; every write of a migration may be sent twice."""
        for attempt in range(_TRIES):
            try:
                return await self._call(operation, body)
            except (Throttled, Unavailable) as error:
                if isinstance(error, AwsError) and error.retry is Retry.NEVER:
                    raise
                await asyncio.sleep(self.pause * 2**attempt)
        return await self._call(operation, body)

    async def _call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self.client.call(operation, body, credentials=await self.keys.credentials(), target=self.target)


@dataclass(slots=True)
class OperatorCredentials(Keys):
    """The credentials that boto3 finds for the operator, or those of a role assumed with them."""

    session: boto3.Session
    role_arn: str | None = None
    sts_endpoint: str | None = None
    clock: Callable[[], float] = time.time
    _assumed: Credentials | None = None

    async def credentials(self) -> Credentials:
        if self.role_arn is None:
            return await asyncio.to_thread(self._own)
        assumed = self._assumed
        if assumed is None or assumed.expires_at - self.clock() < _RENEW_SECONDS:
            assumed = self._assumed = await asyncio.to_thread(self._assume, self.role_arn)
        return assumed

    def _own(self) -> Credentials:
        credentials = self.session.get_credentials()
        frozen = credentials.get_frozen_credentials() if credentials is not None else None
        if frozen is None or not frozen.access_key or not frozen.secret_key:
            raise ConfigurationError(["no AWS credentials of your own were found: set a profile or the environment"])
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)

    def _assume(self, role_arn: str) -> Credentials:
        client: STSClient = self.session.client("sts", endpoint_url=self.sts_endpoint)
        try:
            credentials = client.assume_role(RoleArn=role_arn, RoleSessionName=_SESSION)["Credentials"]
        except (BotoCoreError, ClientError) as error:
            raise ConfigurationError([f"the role `{role_arn}` cannot be assumed: {error}"]) from error
        finally:
            client.close()
        ends = credentials["Expiration"].timestamp()
        return Credentials(
            credentials["AccessKeyId"], credentials["SecretAccessKey"], credentials["SessionToken"], ends
        )
