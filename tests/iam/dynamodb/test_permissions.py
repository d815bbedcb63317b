"""What a session may do, asked in the wire form of a request."""

from typing import Any

import pytest

from gateway.iam.dynamodb.key_schemas import KeySchema, TableRegistry
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.language.document import parse
from gateway.iam.language.evaluator import PolicySet
from gateway.iam.language.verdict import Allow, Deny
from tests.iam.place import INDEXES, ORDERS, PLACE

TAG = "${aws:PrincipalTag/TenantId}"
ACTIONS = ["GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"]
OWN = {
    "ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"TENANT#{TAG}", f"TENANT#{TAG}#*"]},
    "Null": {"dynamodb:LeadingKeys": "false", "aws:PrincipalTag/TenantId": "false"},
}
ROWS = {
    "Sid": "OwnRows",
    "Effect": "Allow",
    "Action": [f"dynamodb:{name}" for name in ACTIONS],
    "Resource": [ORDERS, f"{ORDERS}/index/GSI1"],
    "Condition": OWN,
}
NEVER = {"Sid": "Never", "Effect": "Deny", "Action": ["dynamodb:Scan", "dynamodb:PartiQL*"], "Resource": "*"}
HIDDEN = {
    "Sid": "Personal",
    "Effect": "Deny",
    "Action": "dynamodb:*",
    "Resource": "*",
    "Condition": {"ForAnyValue:StringEquals": {"dynamodb:Attributes": ["email", "phone"]}},
}
USER = {"id": {"S": "TENANT#acme"}}
READS = {"Sid": "Reads", "Effect": "Allow", "Action": "dynamodb:*", "Resource": "*"}


def document(*statements: dict[str, Any]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def permissions(*session: dict[str, Any], tenant: str = "acme", place: TableRegistry = PLACE) -> Permissions:
    identity = parse(document(ROWS, NEVER), "identity")
    narrowed = (parse(document(*session), "session"),) if session else None
    return Permissions(PolicySet((identity,), session=narrowed), {"aws:PrincipalTag/TenantId": tenant}, place)


def key(tenant: str, path: str = "USER#1") -> dict[str, Any]:
    return {"PK": {"S": f"TENANT#{tenant}#{path}"}, "SK": {"S": "PROFILE"}}


def get(tenant: str, **more: Any) -> dict[str, Any]:
    return {"TableName": "orders", "Key": key(tenant), **more}


def update(**more: Any) -> dict[str, Any]:
    return get("acme", UpdateExpression="SET nick = :n", **more)


def test_an_own_row_is_read_and_a_foreign_one_is_not() -> None:
    allowed = permissions().check("GetItem", get("acme"))
    assert allowed == Allow(("identity/OwnRows",))
    denied = permissions().check("GetItem", get("globex"))
    assert isinstance(denied, Deny)
    assert denied.condition == "ForAllValues:StringLike dynamodb:LeadingKeys"
    assert (denied.action, denied.resource) == ("dynamodb:GetItem", ORDERS)


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", get("acme2")),
        ("GetItem", get("acme") | {"Key": {"PK": {"S": "TENANT#"}, "SK": {"S": "x"}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key("acme", str(n)) for n in range(99)] + [key("b")]}}}),
        (
            "BatchGetItem",
            {"RequestItems": {"orders": {"Keys": [key("acme")]}, "users": {"Keys": [{"id": {"S": "x"}}]}}},
        ),
        ("PutItem", {"TableName": "orders", "Item": key("globex")}),
        ("DeleteItem", get("globex")),
        ("UpdateItem", get("globex", UpdateExpression="SET a = :a")),
        ("BatchWriteItem", {"RequestItems": {"orders": [{"PutRequest": {"Item": key("acme")}}]}}),
        ("TransactGetItems", {"TransactItems": [{"Get": get("acme")}, {"Get": get("globex")}]}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": get("acme")}, {"ConditionCheck": get("globex")}]}),
        ("Scan", {"TableName": "orders"}),
        ("DescribeTable", {"TableName": "orders"}),
        ("SearchVectors", {"TableName": "orders", "IndexName": "GSI1"}),
        ("ListTables", {}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders WHERE PK = 'TENANT#acme'"}),
    ],
)
def test_what_is_not_wholly_the_tenants_own_is_denied(operation: str, body: dict[str, Any]) -> None:
    assert not permissions().check(operation, body).allowed


def test_every_member_of_a_transaction_counts() -> None:
    members = [{"Put": {"TableName": "orders", "Item": key("acme")}}, {"Delete": get("acme")}]
    assert permissions().check("TransactWriteItems", {"TransactItems": members}) == Allow(("identity/OwnRows",))


def test_a_query_of_an_index_is_authorised_by_the_key_of_the_index() -> None:
    body = {"TableName": "orders", "IndexName": "GSI1", "KeyConditionExpression": "GSI1PK = :v"}
    own = {"ExpressionAttributeValues": {":v": {"S": "TENANT#acme#EMAIL#x"}}}
    foreign = {"ExpressionAttributeValues": {":v": {"S": "TENANT#globex#EMAIL#x"}}}
    assert permissions().check("Query", {**body, **own}).allowed
    assert not permissions().check("Query", {**body, **foreign}).allowed


def test_what_is_not_understood_is_denied_with_the_reason() -> None:
    verdict = permissions(READS).check("GetItem", {"TableName": "orders"})
    assert isinstance(verdict, Deny)
    assert (verdict.layer, verdict.explicit, verdict.action) == ("request", False, "dynamodb:GetItem")
    assert (
        verdict.reason
        == "the request is not understood: partition key `PK` is missing or not a string, number or binary value"
    )


def test_what_is_not_understood_is_denied_even_where_everything_is_allowed() -> None:
    everything = Permissions(PolicySet((parse(document(READS), "identity"),)), {}, PLACE)
    assert everything.check("Scan", {"TableName": "orders"}).allowed
    requests: list[tuple[str, dict[str, Any]]] = [
        ("Teleport", {}),
        ("GetItem", {"TableName": "orders", "Key": {}}),
        ("BatchGetItem", {"RequestItems": {}}),
        ("ExecuteStatement", {"Statement": "SELECT * FROM orders"}),
        ("Query", {"TableName": "orders"}),
    ]
    for operation, body in requests:
        assert not everything.check(operation, body).allowed


def test_an_explicit_denial_is_the_reason_even_when_the_request_is_not_understood() -> None:
    verdict = permissions().check("ExecuteStatement", {"Statement": "SELECT * FROM orders"})
    assert isinstance(verdict, Deny)
    assert (verdict.explicit, verdict.statement, verdict.action) == (True, "Never", "dynamodb:PartiQLSelect")


@pytest.mark.parametrize("body", [None, 7, "x", [], {"TableName": {}}, {"RequestItems": {"orders": {"Keys": 7}}}])
@pytest.mark.parametrize("operation", ["GetItem", "BatchGetItem", "Query", "Scan", "DescribeTable", None, ["GetItem"]])
def test_a_check_never_raises(operation: Any, body: Any) -> None:
    assert not permissions().check(operation, body).allowed


def test_trouble_in_the_evaluator_is_a_denial(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> Allow:
        raise ZeroDivisionError

    monkeypatch.setattr("gateway.iam.dynamodb.permissions.decide", broken)
    verdict = permissions().check("GetItem", get("acme"))
    assert isinstance(verdict, Deny)
    assert (verdict.layer, verdict.reason) == ("evaluator", "the decision failed: ZeroDivisionError")
    refused = permissions().check("ExecuteStatement", {"Statement": "SELECT * FROM orders"})
    assert isinstance(refused, Deny)
    assert refused.layer == "request"
    assert "name" in permissions().attributes_denied(["name"], "GetItem", "orders", leading_key="TENANT#acme#")


def test_the_principal_cannot_be_overwritten_by_the_request() -> None:
    odd = Permissions(
        permissions().policies,
        {"aws:PrincipalTag/TenantId": "acme", "dynamodb:LeadingKeys": ("TENANT#globex#1",)},
        PLACE,
    )
    assert not odd.check("GetItem", get("acme")).allowed


def test_a_rule_on_attributes_denies_the_item_of_a_failed_condition() -> None:
    on_failure = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    assert permissions().check("UpdateItem", update(**on_failure)).allowed
    assert permissions(READS, HIDDEN).check("UpdateItem", update()).allowed
    verdict = permissions(READS, HIDDEN).check("UpdateItem", update(**on_failure))
    assert isinstance(verdict, Deny)
    assert "whole item" in verdict.reason


def test_a_rule_on_return_values_denies_the_item_of_a_failed_condition_in_a_transaction() -> None:
    rule = {**READS, "Condition": {"StringEquals": {"dynamodb:ReturnValues": "NONE"}}}
    for choice, allowed in (("NONE", True), ("ALL_OLD", False)):
        member = {"Delete": get("acme", ReturnValuesOnConditionCheckFailure=choice)}
        assert permissions(rule).check("TransactWriteItems", {"TransactItems": [member]}).allowed is allowed


@pytest.mark.parametrize("projection", ["email", "#e", "phone.home", "name, phone[0]"])
def test_a_hidden_attribute_is_not_read_by_any_path(projection: str) -> None:
    body = get("acme", ProjectionExpression=projection, ExpressionAttributeNames={"#e": "email"})
    verdict = permissions(READS, HIDDEN).check("GetItem", body)
    assert isinstance(verdict, Deny)
    assert verdict.statement == "Personal"


def test_a_hidden_attribute_is_not_filtered_by() -> None:
    body = {
        "TableName": "orders",
        "KeyConditionExpression": "PK = :v",
        "FilterExpression": "begins_with(email, :v)",
        "ExpressionAttributeValues": {":v": {"S": "TENANT#acme#USER#1"}},
        "ProjectionExpression": "name",
    }
    assert not permissions(READS, HIDDEN).check("Query", body).allowed


def test_attributes_denied_shows_which_and_why() -> None:
    granted = permissions(READS, HIDDEN)
    names = ["name", "email", "phone"]
    denied = granted.attributes_denied(names, "GetItem", "orders", leading_key="TENANT#acme#")
    assert list(denied) == ["email", "phone"]
    assert denied["email"].statement == "Personal"
    assert permissions().attributes_denied(names, "GetItem", "orders", leading_key="TENANT#acme#") == {}
    assert granted.attributes_denied(["name"], "Query", "orders", leading_key="TENANT#acme#", index="GSI1") == {}


def test_attributes_denied_denies_all_where_nothing_may_be_read() -> None:
    granted = permissions(READS)
    for operation, table, leading_key, index in [
        ("GetItem", "orders", "TENANT#globex#", None),
        ("GetItem", "unknown", "TENANT#acme#", None),
        ("Scan", "orders", "TENANT#acme#", None),
        ("Query", "orders", "TENANT#acme#", "GSI9"),
        ("GetItem", "orders", "", None),
    ]:
        denied = granted.attributes_denied(["name"], operation, table, leading_key=leading_key, index=index)
        assert list(denied) == ["name"]


def test_an_allow_list_of_attributes_needs_the_keys_too() -> None:
    listed = {"ForAllValues:StringEquals": {"dynamodb:Attributes": ["PK", "SK", "name"]}}
    narrow = permissions({**READS, "Condition": listed})
    denied = narrow.attributes_denied(["name", "email"], "GetItem", "orders", leading_key="TENANT#acme#")
    assert list(denied) == ["email"]


def test_the_fingerprint_is_that_of_the_policies_and_not_of_the_tenant() -> None:
    assert permissions(tenant="acme").fingerprint == permissions(tenant="globex").fingerprint
    assert permissions().fingerprint != permissions(READS).fingerprint


def test_a_table_in_another_place_is_another_resource() -> None:
    elsewhere = TableRegistry("us-east-1", "123456789012", tables={"orders": KeySchema("PK", INDEXES)})
    assert not permissions(place=elsewhere).check("GetItem", get("acme")).allowed
    assert permissions().check("GetItem", {**get("acme"), "TableName": ORDERS}).allowed


def test_two_principal_keys_that_differ_only_in_case_are_refused() -> None:
    tags = {"aws:PrincipalTag/TenantId": "acme", "aws:PrincipalTag/tenantid": "globex"}
    with pytest.raises(ValueError, match="differ only in case"):
        Permissions(permissions().policies, tags, PLACE)
