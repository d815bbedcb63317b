import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.verdict import Deny
from gateway.iam.policies.generate import BOUNDARY_FILE, TENANT_FILE
from gateway.sandbox.aws.account import KeyHolder, lasting_keys
from gateway.sandbox.aws.authorizer import Authorizer, denied
from gateway.sandbox.aws.engine import EngineResponse
from gateway.sandbox.aws.policies import account_with
from gateway.sandbox.aws.responses import AwsFault
from tests.sandbox.documents import DEPLOYMENT, TABLE, policies

ARN = "arn:aws:sts::222233334444:assumed-role/gateway-tenant/viewer@acme"


@dataclass
class Catalogue:
    """An engine with tables and nothing in them, which lists one table a page."""

    tables: dict[str, str]
    called: list[str] = field(default_factory=list)

    async def call(self, target: str, body: bytes) -> EngineResponse:
        operation = target.partition(".")[2]
        self.called.append(operation)
        return EngineResponse(200, json.dumps(getattr(self, f"_{operation.lower()}")(json.loads(body))).encode())

    async def close(self) -> None: ...

    def _listtables(self, body: dict[str, Any]) -> dict[str, Any]:
        names = sorted(self.tables)
        at = names.index(body["ExclusiveStartTableName"]) + 1 if body else 0
        page = names[at : at + 1]
        return {"TableNames": page, **({"LastEvaluatedTableName": page[0]} if at + 1 < len(names) else {})}

    def _describetable(self, body: dict[str, Any]) -> dict[str, Any]:
        key = {"AttributeName": self.tables[body["TableName"]], "KeyType": "HASH"}
        return {"Table": {"KeySchema": [key]}}


def _acme() -> KeyHolder:
    own = policies()
    return KeyHolder(
        lasting_keys(),
        ARN,
        "id",
        PolicySet((own[TENANT_FILE],), None, own[BOUNDARY_FILE]),
        {"aws:PrincipalTag/TenantId": "acme"},
    )


def _get(attribute: str) -> dict[str, Any]:
    return {"TableName": TABLE, "Key": {attribute: {"S": "TENANT#acme#USER#1"}}}


async def test_keys_of_tables_are_looked_up_once() -> None:
    engine = Catalogue({"another": "id", TABLE: "PK"})
    authorizer = Authorizer(account_with(DEPLOYMENT, policies()), engine)
    for _ in range(3):
        await authorizer.check(_acme(), "GetItem", _get("PK"))
    assert engine.called == ["ListTables", "DescribeTable", "ListTables", "DescribeTable"]


async def test_a_table_that_was_recreated_is_described_again() -> None:
    engine = Catalogue({TABLE: "id"})
    authorizer = Authorizer(account_with(DEPLOYMENT, policies()), engine)
    with pytest.raises(AwsFault):
        await authorizer.check(_acme(), "GetItem", _get("PK"))
    engine.tables[TABLE] = "PK"
    authorizer.forget("PutItem")
    with pytest.raises(AwsFault):
        await authorizer.check(_acme(), "GetItem", _get("PK"))
    authorizer.forget("CreateTable")
    await authorizer.check(_acme(), "GetItem", _get("PK"))


async def test_what_is_not_understood_is_refused() -> None:
    authorizer = Authorizer(account_with(DEPLOYMENT, policies()), Catalogue({TABLE: "PK"}))
    for operation, body in (
        ("GetItem", {}),
        ("ExecuteStatement", {"Statement": 'SELECT * FROM "gateway-sandbox"'}),
        ("InventedToday", _get("PK")),
    ):
        with pytest.raises(AwsFault) as refused:
            await authorizer.check(_acme(), operation, body)
        assert refused.value.name == "AccessDeniedException"


@pytest.mark.parametrize(
    ("verdict", "ending"),
    [
        (Deny("", "identity"), " because no identity-based policy allows the dynamodb:GetItem action"),
        (Deny("", "session"), " because no session policy allows the dynamodb:GetItem action"),
        (Deny("", "boundary"), " because no permissions boundary allows the dynamodb:GetItem action"),
        (Deny("", "session", explicit=True), " with an explicit deny in a session policy"),
        (Deny("", "boundary", explicit=True), " with an explicit deny in a permissions boundary"),
        (Deny("", "request"), "perform: dynamodb:GetItem"),
    ],
)
def test_a_denial_names_the_policy_as_aws_does(verdict: Deny, ending: str) -> None:
    fault = denied(_acme(), "dynamodb:GetItem", verdict)
    assert fault.message.startswith(f"User: {ARN} is not authorized to perform: dynamodb:GetItem")
    assert fault.message.endswith(ending)


async def test_a_denial_shows_no_key_of_the_request() -> None:
    authorizer = Authorizer(account_with(DEPLOYMENT, policies()), Catalogue({TABLE: "PK"}))
    with pytest.raises(AwsFault) as refused:
        await authorizer.check(
            _acme(), "GetItem", {"TableName": TABLE, "Key": {"PK": {"S": "TENANT#globex#USER#secret"}}}
        )
    assert "globex" not in refused.value.message
