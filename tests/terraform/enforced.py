"""AWS as the account would authorise it: the sandbox's front, with the documents that Terraform installed in IAM."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.exceptions import ClientError

from gateway.aws.wire.credentials import Credentials
from gateway.demo import MODEL
from gateway.iam.language.document import PolicyDocument, parse
from gateway.iam.sts import trust
from gateway.sandbox.aws.account import Account, AccountRole, Registry, role_holder
from gateway.sandbox.aws.engine import Forwarded
from gateway.sandbox.aws.front import Front
from gateway.sandbox.server import address_of, listen, served_in_thread
from tests.terraform.deployed import NAME, REGION, Deployed


@dataclass(frozen=True, slots=True)
class Enforced:
    url: str
    gateway: Credentials
    tenant_role: str

    def read(self, *, as_tenant: str, owner: str) -> Any:
        """A product of an owner, read in a session of a tenant; the name of the error where AWS says no."""
        sts = self._client("sts", self.gateway.access_key, self.gateway.secret_key, None)
        keys = sts.assume_role(
            RoleArn=self.tenant_role,
            RoleSessionName=f"viewer@{as_tenant}",
            SourceIdentity=as_tenant,
            Tags=[{"Key": "TenantId", "Value": as_tenant}, {"Key": "GatewayRole", "Value": "viewer"}],
        )["Credentials"]
        client = self._client("dynamodb", keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
        key = {MODEL.table.pk: {"S": f"TENANT#{owner}#PRODUCT#p-1"}, MODEL.table.sk: {"S": "DETAILS"}}
        try:
            return client.get_item(TableName=NAME, Key=key)
        except ClientError as error:
            return error.response["Error"]["Code"]

    def _client(self, service: str, key: str, secret: str, token: str | None) -> Any:
        session: Any = boto3.Session(region_name=REGION)
        return session.client(
            service,
            endpoint_url=self.url,
            aws_access_key_id=key,
            aws_secret_access_key=secret,
            aws_session_token=token,
        )


@contextmanager
def enforced(deployed: Deployed) -> Iterator[Enforced]:
    iam = deployed.client("iam")
    role = iam.get_role(RoleName=f"{NAME}-{REGION}-tenant")["Role"]
    boundary = role["PermissionsBoundary"]["PermissionsBoundaryArn"]
    version = iam.get_policy(PolicyArn=boundary)["Policy"]["DefaultVersionId"]
    limits = iam.get_policy_version(PolicyArn=boundary, VersionId=version)["PolicyVersion"]["Document"]
    trusted = trust.AssumableRole(role["Arn"], parse(json.dumps(role["AssumeRolePolicyDocument"]), "trust"))
    tenant_role = AccountRole(trusted, _inline(iam, f"{NAME}-{REGION}-tenant"), parse(json.dumps(limits), "boundary"))
    account = Account("123456789012", REGION, {role["Arn"]: tenant_role})
    registry = Registry()
    gateway = role_holder(account, f"{NAME}-{REGION}-gateway", _inline(iam, f"{NAME}-{REGION}-gateway"))
    registry.add(gateway)
    engine = Forwarded(deployed.url, REGION)
    found = listen(0)
    with served_in_thread(Front(account, registry, engine).app(), found):
        yield Enforced(address_of(found), gateway.credentials, role["Arn"])
    asyncio.run(engine.close())


def _inline(iam: Any, role: str) -> tuple[PolicyDocument, ...]:
    names = iam.list_role_policies(RoleName=role)["PolicyNames"]
    texts = [iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"] for name in names]
    return tuple(parse(json.dumps(text), "identity") for text in texts)
