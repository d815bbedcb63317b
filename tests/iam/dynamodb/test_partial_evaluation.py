"""What policies say of a request before its tenant and its keys are known; what is not understood is not prepared."""

from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.iam.dynamodb.partial_evaluation import PreparedPermission, prepare
from gateway.iam.dynamodb.residual import Residual
from gateway.iam.language.document import read
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import generated, permissions_at
from gateway.model.tenant import tenant_id
from tests.iam.place import ORDERS, PLACE
from tests.iam.random_requests import NAME, Form, forms

TAG = "aws:PrincipalTag/TenantId"
OWN = f"TENANT#${{{TAG}}}"
LK = "dynamodb:LeadingKeys"
ROWS: dict[str, Any] = {"ForAllValues:StringLike": {LK: [OWN, f"{OWN}#*"]}, "Null": {LK: "false", TAG: "false"}}
KEY = {"PK": {"S": "TENANT#any#1"}, "SK": {"S": "x"}}
GET = {"TableName": "orders", "Key": KEY}
ROLES = permissions_at(generated(MODEL), MODEL)
DEPLOYMENT = Deployment.of_role("arn:aws:iam::123456789012:role/gateway-tenant", "eu-west-1", NAME)


def statement(effect: str, condition: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    clause = {"Effect": effect, "Action": "dynamodb:*", "Resource": "*", **more}
    return clause if condition is None else {**clause, "Condition": condition}


def policies(*statements: dict[str, Any], version: str = "2012-10-17") -> PolicySet:
    return PolicySet((read({"Version": version, "Statement": list(statements)}, "identity"),))


def prepared(*statements: dict[str, Any], body: dict[str, Any] = GET, **principal: str) -> PreparedPermission | None:
    return prepare(policies(*statements), "GetItem", body, PLACE, principal)


def on_keys(operator: str, *patterns: str) -> dict[str, Any]:
    return {operator: {LK: list(patterns)}}


def test_own_rows_leave_nothing_but_the_own_prefix() -> None:
    ready = prepared(
        statement("Allow", ROWS, Sid="Rows"), statement("Deny", on_keys("ForAnyValue:StringNotLike", f"{OWN}#*"))
    )
    assert ready is not None
    assert (ready.statements, ready.residual) == (("identity/Rows",), Residual())


@pytest.mark.parametrize(
    ("denied", "residual"),
    [
        (
            on_keys("ForAnyValue:StringLike", f"{OWN}#EMAIL#*", f"{OWN}#PHONE#*"),
            Residual(forbidden=("EMAIL#", "PHONE#")),
        ),
        (on_keys("ForAnyValue:StringLike", f"{OWN}#A#*#B", "SHARED#*"), Residual(forbidden=("A#",))),
        (on_keys("ForAnyValue:StringEquals", f"{OWN}#A#*"), Residual(forbidden=("A#*",))),
        (on_keys("ForAnyValue:StringNotLike", f"{OWN}#A#*"), Residual(required=(("A#",),))),
        (on_keys("ForAnyValue:StringLike", "SHARED#*", OWN), Residual()),
    ],
)
def test_a_denial_of_some_own_keys_is_asked_of_the_keys(denied: dict[str, Any], residual: Residual) -> None:
    ready = prepared(statement("Allow", ROWS), statement("Deny", denied))
    assert ready is not None
    assert ready.residual == residual


def test_a_grant_of_some_own_keys_is_asked_of_the_keys() -> None:
    ready = prepared(statement("Allow", on_keys("ForAllValues:StringLike", f"{OWN}#A#*", f"{OWN}#B#*")))
    assert ready is not None
    assert ready.residual == Residual(required=(("A#", "B#"),))


GRANT = statement("Allow")


@pytest.mark.parametrize(
    "statements",
    [
        # the tenant by another name than its prefix
        [statement("Allow", {"StringEquals": {TAG: "acme"}})],
        [GRANT, statement("Deny", {"StringNotEquals": {TAG: "acme"}})],
        [statement("Allow", on_keys("ForAllValues:StringLike", "TENANT#acme#*"))],
        [statement("Allow", on_keys("ForAllValues:StringLike", f"{OWN}*"))],
        [statement("Allow", on_keys("ForAllValues:StringLike", "TENANT#${aws:PrincipalTag/GatewayRole}#*"))],
        [statement("Allow", on_keys("ForAllValues:StringLike", f"{OWN}#${{{TAG}}}*"))],
        [statement("Allow", {"StringEquals": {"aws:PrincipalTag/GatewayRole": f"${{{TAG}}}"}})],
        # a variable in a resource
        [statement("Allow", Resource=f"{ORDERS[:-6]}${{{TAG}}}")],
        [GRANT, statement("Deny", Resource=f"{ORDERS[:-6]}${{{TAG}}}")],
        # conditions that are not known, or say nothing about prefixes
        [statement("Allow", on_keys("ForNoValue:StringLike", f"{OWN}#*"))],
        [GRANT, statement("Deny", on_keys("ForNoValue:StringLike", f"{OWN}#*"))],
        [GRANT, statement("Deny", on_keys("ForAnyValue:StringEqualsIgnoreCase", f"{OWN}#A"))],
        [GRANT, statement("Deny", on_keys("ForAnyValue:StringLike", "TENANT#*#EMAIL#*"))],
        [GRANT, statement("Deny", on_keys("ForAnyValue:StringLike", f"{OWN}#?*"))],
        [GRANT, statement("Deny", on_keys("ForAnyValue:StringLike", f"{OWN}#*"))],
        [GRANT, statement("Deny", on_keys("ForAnyValue:StringEquals", f"{OWN}#", f"{OWN}#A"))],
        [GRANT, statement("Deny")],
        [statement("Allow", on_keys("StringLike", f"{OWN}#*"))],
    ],
)
def test_what_is_not_understood_is_not_prepared(statements: list[dict[str, Any]]) -> None:
    assert prepared(GRANT) is not None
    assert prepared(*statements) is None


def test_a_variable_in_an_old_document_is_plain_text_and_not_the_tenant() -> None:
    old = policies(statement("Allow", ROWS), version="2008-10-17")
    assert prepare(old, "GetItem", GET, PLACE, {}) is None


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", {**GET, "Unknown": True}),
        ("GetItem", {**GET, "TableName": "unknown"}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": []}}}),
        ("Scan", {"TableName": "orders"}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders"}),
        ("DeleteItem", {**GET, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}),
        ("Nothing", {}),
        (
            "Query",
            {
                "TableName": "orders",
                "IndexName": "Multi",
                "KeyConditionExpression": "#r = :r AND tenant = :t",
                "ExpressionAttributeNames": {"#r": "region"},
                "ExpressionAttributeValues": {":r": {"S": "TENANT#any#"}, ":t": {"S": "TENANT#any#"}},
            },
        ),
    ],
)
def test_a_request_that_the_evaluator_does_not_understand_is_not_prepared(operation: str, body: dict[str, Any]) -> None:
    assert prepare(policies(GRANT), operation, body, PLACE, {}) is None


@pytest.mark.parametrize("key", [TAG.lower(), LK.lower(), "dynamodb:firstpartitionkeyvalues"])
def test_a_principal_that_brings_an_open_key_is_not_prepared(key: str) -> None:
    assert prepare(policies(GRANT), "GetItem", GET, PLACE, {key: "TENANT#any#1"}) is None


def test_preparing_never_raises() -> None:
    broken: Any = 7
    assert prepare(policies(GRANT), "GetItem", broken, PLACE, {}) is None


READING = [
    form for form in forms() if form.operation in ("GetItem", "BatchGetItem", "Query") and "email" not in form.title
]
WRITING = [form for form in forms() if form.operation in ("PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems")]


@pytest.mark.parametrize("role", ["admin", "editor", "support", "viewer"])
@pytest.mark.parametrize("form", [*READING, *WRITING], ids=lambda form: form.title)
def test_every_role_is_prepared_for_what_it_may_do(role: str, form: Form) -> None:
    permissions = ROLES(DEPLOYMENT, tenant_id("any"), role)
    body = form.body(["TENANT#any#USER#1"] * form.most)
    verdict = permissions.check(form.operation, body)
    ready = permissions.shared.prepare(form.operation, body)
    keys = ["TENANT#any#USER#1"] * form.most
    assert (ready is not None and ready.residual.allows(keys, "TENANT#any#")) is verdict.allowed
    if ready is not None and verdict.allowed:
        assert ready.verdict == verdict
        # what is confidential is closed to those who only read, and what hidden attributes name to support
        closed = ("SESSION#", "DRAFT#") if role in ("support", "viewer") else ()
        assert ready.residual == Residual(forbidden=(*(("EMAIL#", "PHONE#") if role == "support" else ()), *closed))
