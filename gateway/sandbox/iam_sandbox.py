"""AWS in this process for tests: your own tables and policies, with IAM enforced as on AWS."""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, overload

import boto3

from gateway.aws.wire.credentials import Credentials
from gateway.iam.language.document import parse
from gateway.iam.sts import trust
from gateway.sandbox.aws.account import Account, AccountRole, Registry, administrator, role_holder
from gateway.sandbox.aws.embedded import Embedded
from gateway.sandbox.aws.front import Front
from gateway.sandbox.server import address_of, listen, served_in_thread

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sts import STSClient

Policy = Mapping[str, Any] | str

_APPLICATION = "application"
_ASSUMING = ["sts:AssumeRole", "sts:TagSession", "sts:SetSourceIdentity"]


class IamSandbox:
    """Use it as a context manager. `application` holds the keys of a role that may assume every role created here."""

    def __init__(self, region: str = "eu-west-1") -> None:
        self.region = region
        self.account = "".join(secrets.choice("123456789") for _ in range(12))
        self._roles: dict[str, AccountRole] = {}
        self._engine = Embedded(self.account, region)
        self._account = Account(self.account, region, self._roles)
        self._registry = Registry()
        allowed = parse(_document(Action=_ASSUMING, Resource="*"), "identity")
        admin, application = administrator(self._account), role_holder(self._account, _APPLICATION, (allowed,))
        for caller in (admin, application):
            self._registry.add(caller)
        self.admin, self.application = admin.credentials, application.credentials
        self._open = ExitStack()

    def __enter__(self) -> "IamSandbox":
        self._open.callback(lambda: asyncio.run(self._engine.close()))
        listening = self._open.enter_context(listen(0))
        self.url = address_of(listening)
        app = Front(self._account, self._registry, self._engine).app()
        self._open.enter_context(served_in_thread(app, listening))
        return self

    def __exit__(self, *failure: object) -> None:
        self._open.close()

    def table_arn(self, name: str) -> str:
        return f"arn:aws:dynamodb:{self.region}:{self.account}:table/{name}"

    def role(self, name: str, policy: Policy, *, boundary: Policy | None = None, trusts: Policy | None = None) -> str:
        """Creates or changes a role; returns its ARN. Without `trusts` the application may assume it with any tags."""
        arn = self._account.role_arn(name)
        principal = {"AWS": self._account.role_arn(_APPLICATION)}
        trusted = parse(trusts or _document(Action=_ASSUMING, Principal=principal), "trust")
        limit = None if boundary is None else parse(boundary, "boundary")
        self._roles[arn] = AccountRole(trust.AssumableRole(arn, trusted), (parse(policy, "identity"),), limit)
        return arn

    def assume(self, role_arn: str, tags: Mapping[str, str], policy: str | None = None) -> Credentials:
        """Calls AssumeRole and returns the keys of the session; raises boto3's errors."""
        request: dict[str, Any] = {
            "RoleArn": role_arn,
            "RoleSessionName": "test",
            "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
            **({} if policy is None else {"Policy": policy}),
        }
        keys = self.client("sts", self.application).assume_role(**request)["Credentials"]
        ends = keys["Expiration"].timestamp()
        return Credentials(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"], ends)

    @overload
    def client(self, api: Literal["dynamodb"], credentials: Credentials) -> "DynamoDBClient": ...

    @overload
    def client(self, api: Literal["sts"], credentials: Credentials) -> "STSClient": ...

    def client(self, api: Literal["dynamodb", "sts"], credentials: Credentials) -> Any:
        """A boto3 client for this sandbox with these keys; it is closed with the sandbox."""
        client = _session().client(
            api,
            endpoint_url=self.url,
            region_name=self.region,
            aws_access_key_id=credentials.access_key,
            aws_secret_access_key=credentials.secret_key,
            aws_session_token=credentials.session_token,
        )
        self._open.callback(client.close)
        return client


@cache
def _session() -> boto3.Session:
    """It keeps what it reads of the services, which takes longer than a test."""
    return boto3.Session()


def _document(**statement: Any) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": {"Effect": "Allow", **statement}}
