import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.demo import MODEL
from gateway.errors import ConfigurationError
from gateway.iam.policies.generate import documents, session_file
from gateway.sandbox.assembly import build, engine_for
from gateway.sandbox.aws.policies import read_policies
from gateway.sandbox.ready import Options, Ready
from tests.sandbox.conftest import some_rows
from tests.sandbox.documents import DEPLOYMENT, RAW, TABLE, written
from tests.sandbox.wire import assume, boto, closed, listening, serving

USER = {"PK": {"S": "TENANT#acme#USER#u-1001"}, "SK": {"S": "PROFILE"}}


def test_files_and_generated_documents_are_read_alike(tmp_path: Path) -> None:
    for name, document in documents(MODEL).items():
        (tmp_path / name).write_text(json.dumps(document, indent=2))
    assert read_policies(DEPLOYMENT, MODEL, tmp_path) == read_policies(DEPLOYMENT, MODEL)


def test_every_faulty_file_is_named_at_once(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "boundary.json").unlink()
    (tmp_path / "gateway-role.json").write_text('{"Version": "2012-10-17", "Statement": []}')
    (tmp_path / "tenant-role.json").write_text(json.dumps(RAW["tenant-role.json"]).replace(TABLE, "<unknown>"))
    with pytest.raises(ConfigurationError) as refused:
        read_policies(DEPLOYMENT, MODEL, tmp_path)
    assert [fault.partition("`: ")[0].rpartition("/")[2] for fault in refused.value.faults] == [
        "tenant-role.json",
        "boundary.json",
        "gateway-role.json",
    ]


@pytest.fixture(scope="module")
def shipped() -> Iterator[Ready]:
    """A sandbox that enforces what is shipped."""
    options = Options(account="123412341234")
    engine = engine_for(options)
    with listening() as (found, url):
        made = asyncio.run(build(options, engine, url, some_rows))
        with serving(made.app, found):
            yield made.ready
    closed(engine)


def _client_of(ready: Ready, tenant: str, role: str):  # type: ignore[no-untyped-def]  # a context manager of a boto3 client
    session = assume(
        ready.url,
        ready.gateway,
        tenant,
        json.dumps(documents(MODEL)[session_file(role)], separators=(",", ":")),
        RoleArn=ready.role_arn,
        RoleSessionName=f"{role}@{tenant}",
        Tags=[{"Key": "TenantId", "Value": tenant}, {"Key": "GatewayRole", "Value": role}],
    )
    return boto("dynamodb", ready.url, session)


@pytest.mark.parametrize("role", ["viewer", "editor", "admin"])
def test_the_shipped_policies_let_a_role_read_its_own_tenant_alone(shipped: Ready, role: str) -> None:
    with _client_of(shipped, "acme", role) as client:
        assert client.get_item(TableName=TABLE, Key=USER)["Item"]["userId"] == {"S": "u-1001"}
        foreign = {**USER, "PK": {"S": "TENANT#globex#USER#u-1001"}}
        with pytest.raises(ClientError, match="AccessDenied"):
            client.get_item(TableName=TABLE, Key=foreign)


def test_the_shipped_policies_hide_personal_attributes_from_support(shipped: Ready) -> None:
    with _client_of(shipped, "acme", "support") as client:
        found = client.get_item(TableName=TABLE, Key=USER, ProjectionExpression="userId, createdAt")["Item"]
        assert set(found) == {"userId", "createdAt"}
        for projection in ({}, {"ProjectionExpression": "email"}):
            with pytest.raises(ClientError, match="AccessDenied"):
                client.get_item(TableName=TABLE, Key=USER, **projection)


def test_the_shipped_policies_let_support_find_an_id_by_an_exact_address_and_nothing_else(shipped: Ready) -> None:
    def by(key: str, **more: str) -> dict[str, Any]:
        values = {":pk": {"S": key}}
        arguments = {"KeyConditionExpression": "GSI1PK = :pk", "ExpressionAttributeValues": values, **more}
        return dict(client.query(TableName=TABLE, IndexName="GSI1", **arguments))

    address = "TENANT#acme#EMAIL#ann@example.com"
    with _client_of(shipped, "acme", "support") as client:
        assert by(address, ProjectionExpression="userId")["Items"] == []
        assert by(address, Select="COUNT")["Count"] == 0
        for more in ({}, {"ProjectionExpression": "userId, verified"}, {"ProjectionExpression": "email"}):
            with pytest.raises(ClientError, match="AccessDenied"):
                by(address, **more)
        with pytest.raises(ClientError, match="AccessDenied"):
            by(address, FilterExpression="begins_with(email, :pk)", ProjectionExpression="userId")
        for other in (address.replace("acme", "globex"), "TENANT#acme#PHONE#49301"):
            with pytest.raises(ClientError, match="AccessDenied"):
                by(other, ProjectionExpression="userId")
        begins = "begins_with(GSI1PK, :pk)"
        with pytest.raises(ClientError):
            by(address, KeyConditionExpression=begins, ProjectionExpression="userId")


def test_the_shipped_trust_policy_wants_a_known_role(shipped: Ready) -> None:
    with pytest.raises(ClientError, match="AccessDenied"):
        assume(shipped.url, shipped.gateway, "acme", RoleArn=shipped.role_arn)
