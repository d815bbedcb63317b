"""A counterexample is a request: it reads like one, the evaluator allows it, and sent to the sandbox it succeeds."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.domains import MODEL
from gateway.iam.deployment import Deployment, render
from gateway.iam.formal.counterexample import Counterexample, request_of
from gateway.iam.formal.meaning import role_meaning
from gateway.iam.formal.proof import prove
from gateway.iam.formal.theorems import of_document, subject
from gateway.iam.generate import BOUNDARY_FILE, TENANT_FILE
from gateway.iam.roles import ROLES
from gateway.iam.variables import Value
from gateway.iam.verdict import Authorisation
from gateway.sandbox.rig import Rig
from tests.iam.formal.test_mutants import named
from tests.policies.world import SHIPPED

NAME = "shop-table"
EVERYTHING = {
    "Version": "2012-10-17",
    "Statement": [{"Sid": "All", "Effect": "Allow", "Action": "*", "Resource": "*"}],
}
SCHEMA: dict[str, Any] = {
    "TableName": NAME,
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [{"AttributeName": "PK", "KeyType": "HASH"}, {"AttributeName": "SK", "KeyType": "RANGE"}],
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("PK", "SK")],
}
OWN = "TENANT#${aws:PrincipalTag/TenantId}"


@pytest.fixture(scope="module")
def rig() -> Iterator[Rig]:
    with Rig() as made:
        admin = made.client("dynamodb", made.admin)
        admin.create_table(**SCHEMA)
        for tenant in ("acme", "acme2", "globex"):
            item = {"PK": {"S": f"TENANT#{tenant}#USER#1"}, "SK": {"S": "META"}, "email": {"S": f"{tenant}@x"}}
            admin.put_item(TableName=NAME, Item=item)
        yield made


FOREIGN = ("globex@x", "acme2@x")
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}


def deployment(rig: Rig) -> Deployment:
    role, gateway = (f"arn:aws:iam::{rig.account}:role/{name}" for name in ("tenant", "gateway"))
    return Deployment("aws", rig.region, rig.account, NAME, role, gateway)


def leak(rig: Rig, name: str, title: str) -> tuple[Counterexample, Mapping[str, Any]]:
    mutant = named(name, title)
    roles = [role_meaning(MODEL, role) for role in ROLES]
    made = subject(MODEL, roles, {**SHIPPED, name: mutant.document}, deployment(rig))
    found = (each.example for each in prove(of_document(made, name), deployment(rig)) if each.example)
    return next(found), mutant.document


def plant(rig: Rig, example: Counterexample) -> None:
    """A row of another tenant wherever the request leads: which of the foreign keys it names is the solver's choice."""
    for key in example.asked.context.get("dynamodb:LeadingKeys", ()):
        if key and not key.startswith("TENANT#acme#"):
            item = {"PK": {"S": key}, "SK": {"S": "META"}, "email": {"S": FOREIGN[0]}}
            rig.client("dynamodb", rig.admin).put_item(TableName=NAME, Item=item)


def sent(rig: Rig, name: str, document: Mapping[str, Any], operation: str, body: Mapping[str, Any]) -> Any:
    """With a session of acme that this one document restricts."""
    policy = render(document, deployment(rig))
    role = rig.role(
        "tenant",
        policy if name == TENANT_FILE else EVERYTHING,
        boundary=policy if name == BOUNDARY_FILE else None,
    )
    session = json.dumps(policy) if name.startswith("session-") else None
    client = rig.client("dynamodb", rig.assume(role, {"TenantId": "acme", "GatewayRole": "viewer"}, session))
    return client._make_api_call(operation, body)  # type: ignore[attr-defined]  # by its name, as the request has it


@pytest.mark.parametrize(
    ("name", "title", "shows"),
    [
        ("session-viewer.json", f"OwnItems: `{OWN}#*` to `{OWN}*`", "acme2@x"),
        ("session-viewer.json", "OwnItems: drop Condition", "globex@x"),
        ("session-viewer.json", "a further Allow of dynamodb:* on *", "globex@x"),
        ("boundary.json", "OwnItems: ForAllValues:StringLike to ForAnyValue:StringLike", "globex@x"),
        ("boundary.json", f"OwnItems: `{OWN}#*` to `TENANT#*#*`", "globex@x"),
        ("session-support.json", "NeverPersonal: drop `email`", "acme@x"),
        ("session-support.json", "NeverWholeItems: drop the statement", "acme@x"),
    ],
)
def test_a_counterexample_succeeds_on_the_sandbox_and_not_with_the_shipped_document(
    rig: Rig, name: str, title: str, shows: str
) -> None:
    example, document = leak(rig, name, title)
    request = request_of(example.asked, MODEL.table)
    assert request is not None, example
    plant(rig, example)
    answer = json.dumps(sent(rig, name, document, *request), default=str)
    # which action and which foreign tenant the solver names is its choice; a write that succeeds is the leak itself
    leaked = FOREIGN if shows in FOREIGN else (shows,)
    assert any(each in answer for each in leaked) or request[0] in WRITES
    with pytest.raises(ClientError, match="AccessDenied"):
        sent(rig, name, SHIPPED[name], *request)


def test_it_reads_like_a_request() -> None:
    context: dict[str, Value] = {
        "dynamodb:LeadingKeys": ("TENANT#globex#USER#1",),
        "aws:PrincipalTag/TenantId": "acme",
    }
    asked = Authorisation("dynamodb:GetItem", f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}", context)
    example = Counterexample(asked, "globex", None, {"a further policy allows": True, "a further policy denies": False})
    assert example.lines() == [
        f"dynamodb:GetItem on arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}",
        "    dynamodb:LeadingKeys = TENANT#globex#USER#1",
        "    aws:PrincipalTag/TenantId = acme",
        "    where a further policy allows",
        "    which reaches rows of 'globex'",
    ]


@pytest.mark.parametrize(
    ("action", "operation"),
    [
        *((name, name) for name in ("GetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "Scan")),
        *((name, name) for name in ("BatchGetItem", "BatchWriteItem", "DescribeTable")),
        ("ConditionCheckItem", "TransactWriteItems"),
        ("PartiQLSelect", "ExecuteStatement"),
    ],
)
def test_every_action_has_its_request(action: str, operation: str) -> None:
    context: dict[str, str | tuple[str, ...]] = {
        "dynamodb:LeadingKeys": ("TENANT#a#1",),
        "dynamodb:ReturnValues": "NONE",
    }
    table = f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}"
    made = request_of(Authorisation(f"dynamodb:{action}", table, context), MODEL.table)
    assert made is not None
    assert made[0] == operation


def test_what_no_request_asks_for_has_none() -> None:
    table = f"arn:aws:dynamodb:eu-west-1:123456789012:table/{NAME}"
    several = Authorisation("dynamodb:GetItem", table, {"dynamodb:LeadingKeys": ("a", "b")})
    assert request_of(several, MODEL.table) is None
    assert request_of(Authorisation("dynamodb:GetItem", table, {}), MODEL.table) is None
    assert request_of(Authorisation("kms:Decrypt", "*", {}), MODEL.table) is None
