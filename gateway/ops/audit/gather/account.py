"""The audited account: boto3 behind two functions that turn every failure into a reason."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

from gateway.aws.wire.credentials import Credentials
from gateway.errors import ConfigurationError
from gateway.ops.audit.facts import Missing, NotHere, UnknownFact

T = TypeVar("T")

_DENIED: Final = ("AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError")
_ENDPOINT: Final = "dynamodb"


@dataclass(frozen=True, slots=True)
class AuditedAccount:
    """Where to send requests. An `endpoint` has only DynamoDB, as in the sandbox: no other service is called."""

    region: str
    endpoint: str | None = None
    profile: str | None = None
    credentials: Credentials | None = field(default=None, repr=False)


class FactUnavailable(Exception):
    """A fact cannot be determined; `missing` says why."""

    def __init__(self, missing: Missing, code: str = "") -> None:
        super().__init__(missing.reason)
        self.missing = missing
        self.code = code


class Live:
    """Read-only: every operation that is called here describes, gets or lists."""

    def __init__(self, account: AuditedAccount) -> None:
        self._account = account
        # boto3 is typed by literal service names; here the name is a variable
        self._session: Any = _session(account)
        self._clients: dict[str, Any] = {}

    def call(self, service: str, operation: str, **parameters: Any) -> Mapping[str, Any]:
        """The answer, or `FactUnavailable` with the reason."""
        return self._call(service, operation, lambda: getattr(self._client(service), operation)(**parameters))

    def pages(self, service: str, operation: str, key: str, **parameters: Any) -> list[Any]:
        """The members of every page."""

        def collect() -> list[Any]:
            paginator = self._client(service).get_paginator(operation)
            return [member for page in paginator.paginate(**parameters) for member in page.get(key, ())]

        return self._call(service, operation, collect)

    def expect(self, service: str) -> None:
        """Raises `FactUnavailable` if there is no such service."""
        if self._account.endpoint is not None and service != _ENDPOINT:
            raise FactUnavailable(NotHere(f"there is no {service} at {self._account.endpoint}, only DynamoDB"))

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _client(self, service: str) -> Any:
        self.expect(service)
        client = self._clients.get(service)
        if client is None:
            endpoint = self._account.endpoint if service == _ENDPOINT else None
            config = Config(connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 4})
            client = self._session.client(service, endpoint_url=endpoint, config=config)
            self._clients[service] = client
        return client

    def _call(self, service: str, operation: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except ClientError as error:
            code = str(error.response.get("Error", {}).get("Code", ""))
            raise FactUnavailable(_unknown(service, operation, code), code) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise FactUnavailable(UnknownFact("there are no AWS credentials", "log in, or pass `--profile`")) from error
        except (BotoCoreError, ValueError) as error:
            # botocore raises ValueError for a malformed address
            raise FactUnavailable(UnknownFact(f"{service} cannot be called: {str(error).rstrip('.')}")) from error


def _session(account: AuditedAccount) -> boto3.Session:
    keys = account.credentials
    try:
        return boto3.Session(
            profile_name=account.profile,
            region_name=account.region,
            aws_access_key_id=keys.access_key if keys else None,
            aws_secret_access_key=keys.secret_key if keys else None,
            aws_session_token=keys.session_token if keys else None,
        )
    except BotoCoreError as error:
        raise ConfigurationError([f"--profile: `{account.profile}` cannot be used: {error}"]) from error


def learn(gather: Callable[[], T]) -> T | Missing:
    try:
        return gather()
    except FactUnavailable as error:
        return error.missing


def _unknown(service: str, operation: str, code: str) -> UnknownFact:
    action = f"{service}:{''.join(word.capitalize() for word in operation.split('_'))}"
    if code in _DENIED:
        return UnknownFact(f"no permission for `{action}`", "grant it to the auditor: docs/audit.md has the policy")
    return UnknownFact(f"`{action}` failed: {code or 'no reason given'}")
