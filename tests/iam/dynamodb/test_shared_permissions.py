"""What tenants share: one prepared permission for each shape, one answer for each attribute, and no tenant in it."""

import gc
import logging
import tracemalloc
from typing import Any

import pytest

from gateway.demo import MODEL
from gateway.iam.dynamodb import shared_permissions
from gateway.iam.dynamodb.partial_evaluation import PreparedPermission
from gateway.iam.dynamodb.permissions import Permissions
from gateway.iam.dynamodb.residual import Residual
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.iam.language.verdict import Allow, Deny
from gateway.iam.policies.deployment import Deployment
from gateway.iam.policies.policies import generated, permissions_at
from gateway.model.tenant import TenantId, partition, tenant_id
from tests.iam.dynamodb.test_permissions import HIDDEN, READS, get, key, permissions
from tests.iam.place import PLACE

DEPLOYMENT = Deployment.of_role("arn:aws:iam::123456789012:role/gateway-tenant", "eu-west-1", "pool")

BOTH = {"S": "TENANT#acme#1", "N": "1"}


def pair() -> tuple[Permissions, Permissions]:
    one = permissions()
    return one, Permissions.of_tenant(one.shared, TenantId("globex"))


def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that the full evaluator was asked for from now on."""
    operations: list[str] = []
    real = Permissions._evaluated

    def counted(self: Permissions, operation: str, body: Any) -> Allow | Deny:
        operations.append(operation)
        return real(self, operation, body)

    monkeypatch.setattr(Permissions, "_evaluated", counted)
    return operations


def test_what_one_tenant_asked_is_prepared_for_all_and_still_each_has_only_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    acme, globex = pair()
    assert acme.check("GetItem", get("acme")).allowed
    operations = evaluated(monkeypatch)
    assert globex.check("GetItem", get("globex")).allowed
    assert operations == []
    for foreign in ("acme", "globex-2", "glob", "*"):
        verdict = globex.check("GetItem", get(foreign))
        assert isinstance(verdict, Deny)
        assert "OwnRows" in verdict.reason


def test_a_session_without_a_tenant_gets_nothing_from_what_is_prepared() -> None:
    acme, _ = pair()
    assert acme.check("GetItem", get("acme")).allowed
    for nobody in ("", "*", None):
        without = Permissions.of_tenant(acme.shared, nobody)  # type: ignore[arg-type]  # what no caller may do
        assert not without.check("GetItem", get("acme")).allowed
        assert not without.check("GetItem", get("")).allowed


@pytest.mark.parametrize(
    ("operation", "odd"),
    [
        ("GetItem", get("acme", AttributesToGet=["name"])),
        ("GetItem", get("acme", ConsistentRead=True, Unknown=1)),
        ("GetItem", get("acme", ReturnConsumedCapacity=None)),
        ("GetItem", {"TableName": "orders", "Key": {"PK": BOTH, "SK": {"S": "x"}}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": {"N": "TENANT#acme#1"}, "SK": {"S": "x"}}}),
        ("GetItem", {"TableName": "orders", "Key": {"PK": {"S": ["TENANT#acme#1"]}, "SK": {"S": "x"}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": []}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key("acme"), key("globex")]}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": (key("acme"),)}}}),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key("acme"), key("acme") | {"PK": BOTH}]}}}),
        ("TransactWriteItems", {"TransactItems": []}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": get("acme")}, {"Delete": get("globex")}]}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": get("acme")}], "Unknown": 1}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": get("acme"), "Put": get("acme")}]}),
    ],
)
def test_a_request_that_only_resembles_a_prepared_one_is_decided_by_the_evaluator(
    operation: str, odd: dict[str, Any]
) -> None:
    granted = permissions()
    prepared: list[tuple[str, dict[str, Any]]] = [
        ("GetItem", get("acme")),
        ("GetItem", get("acme", ConsistentRead=True)),
        ("BatchGetItem", {"RequestItems": {"orders": {"Keys": [key("acme")]}}}),
        ("TransactWriteItems", {"TransactItems": [{"Delete": get("acme")}]}),
    ]
    for known, body in prepared:
        assert granted.check(known, body).allowed
        assert granted.check(known, body) == granted.shared.allowed(known, body, granted.own)
    assert granted.check(operation, odd) == permissions()._evaluated(operation, odd)
    assert granted.shared.allowed(operation, odd, granted.own) is None


def test_an_attribute_that_stands_in_a_key_belongs_to_the_shape() -> None:
    granted = permissions(READS, HIDDEN)
    for more, allowed in (({}, True), ({"email": {"S": "x"}}, False)):
        item = key("acme") | more
        named = {"ProjectionExpression": "PK"}
        assert granted.check("GetItem", {"TableName": "orders", "Key": item, **named}).allowed is allowed
        batch = {"RequestItems": {"orders": {"Keys": [key("acme"), item], **named}}}
        assert granted.check("BatchGetItem", batch).allowed is allowed
        members = [{"Put": {"TableName": "orders", "Item": item}}, {"Delete": get("acme")}]
        assert granted.check("TransactWriteItems", {"TransactItems": members}).allowed is allowed


def test_a_query_that_pins_a_second_value_is_decided_by_the_evaluator() -> None:
    body = {
        "TableName": "orders",
        "KeyConditionExpression": "PK = :v AND SK = :w",
        "ExpressionAttributeValues": {":v": {"S": "TENANT#acme#1"}, ":w": {"S": "x"}},
    }
    granted = permissions()
    assert granted.check("Query", body).allowed
    assert granted.shared.allowed("Query", body, granted.own) is None
    wrong = {**body, "ExpressionAttributeValues": {":v": {"S": "TENANT#acme#1"}, ":w": {"M": {}}}}
    assert not granted.check("Query", wrong).allowed


def test_a_prepared_permission_that_differs_from_the_evaluator_is_not_used(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = PreparedPermission(Allow(("identity/Other",)), Residual())
    monkeypatch.setattr(shared_permissions, "prepare", lambda *given: wrong)
    granted = permissions()
    with caplog.at_level(logging.ERROR):
        verdicts = [granted.check("GetItem", get("acme")) for _ in range(2)]
    assert verdicts == [Allow(("identity/OwnRows",))] * 2
    assert len(caplog.records) == 1


def test_shapes_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_permissions, "_KEPT", 3)
    granted = permissions()
    for number in range(9):
        assert granted.check("GetItem", get("acme", ProjectionExpression=f"name{number}")).allowed
        granted.attributes_denied([f"name{number}"], "GetItem", "orders", leading_key="TENANT#acme#")
    assert len(granted.shared._prepared) == len(granted.shared._answers) == 3


def test_an_answer_on_an_attribute_is_given_to_all_tenants(monkeypatch: pytest.MonkeyPatch) -> None:
    acme, globex = pair()
    assert acme.attributes_denied(["name"], "GetItem", "orders", leading_key="TENANT#acme#ANY") == {}
    monkeypatch.setattr("gateway.iam.dynamodb.permissions.decide", None)
    assert globex.attributes_denied(["name"], "GetItem", "orders", leading_key="TENANT#globex#ANY") == {}
    assert globex.attributes_denied(["name"], "GetItem", "orders", leading_key="TENANT#acme#ANY")


@pytest.mark.parametrize(
    "rule",
    [
        {**READS, "Condition": {"StringEquals": {"aws:PrincipalTag/TenantId": "acme"}}},
        {**READS, "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": "TENANT#acme#*"}}},
        {
            **READS,
            "Resource": "arn:aws:dynamodb:*:*:table/orders",
            "Condition": {"StringNotEquals": {"aws:PrincipalTag/TenantId": "globex"}},
        },
    ],
)
def test_an_answer_is_not_given_to_another_tenant_where_policies_tell_tenants_apart(rule: dict[str, Any]) -> None:
    acme = permissions(rule)
    globex = Permissions.of_tenant(acme.shared, TenantId("globex"))
    for _ in range(2):
        assert acme.attributes_denied(["name"], "GetItem", "orders", leading_key="TENANT#acme#ANY") == {}
        assert globex.attributes_denied(["name"], "GetItem", "orders", leading_key="TENANT#globex#ANY")


def test_an_answer_is_not_given_to_another_subject() -> None:
    own = "TENANT#${aws:PrincipalTag/TenantId}#USER#${aws:PrincipalTag/Subject}"
    acme = permissions({**READS, "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": own}}})
    one, other = (Permissions.of_tenant(acme.shared, TenantId("acme"), subject) for subject in ("one", "other"))
    for names in (["name"], frozenset({"name", "price"})):
        at = {"leading_key": "TENANT#acme#USER#one"}
        assert one.attributes_denied(names, "GetItem", "orders", **at) == {}
        assert set(other.attributes_denied(names, "GetItem", "orders", **at)) == set(names)


def test_an_answer_is_not_given_for_other_attributes_operations_or_tenants() -> None:
    """Asked twice: the second answer is one that was kept."""
    acme = permissions(READS, HIDDEN, {"Sid": "No", "Effect": "Deny", "Action": "dynamodb:Query", "Resource": "*"})
    acne = Permissions.of_tenant(acme.shared, TenantId("acne"))
    shown, mixed, at = frozenset({"name"}), frozenset({"name", "email"}), {"leading_key": "TENANT#acme#ANY"}
    for _ in range(2):
        assert acme.attributes_denied(shown, "GetItem", "orders", **at) == {}
        assert set(acme.attributes_denied(mixed, "GetItem", "orders", **at)) == {"email"}
        assert set(acme.attributes_denied(shown, "Query", "orders", **at)) == shown
        assert set(acne.attributes_denied(shown, "GetItem", "orders", **at)) == shown


def test_the_place_and_the_other_tags_are_shared_and_the_tenant_is_not() -> None:
    made = SharedPermissions(permissions().policies, {"aws:PrincipalTag/GatewayRole": "viewer"}, PLACE)
    one = Permissions.of_tenant(made, TenantId("acme"))
    assert one.principal == {"aws:PrincipalTag/GatewayRole": "viewer", "aws:PrincipalTag/TenantId": "acme"}
    assert (one.place, one.own) == (PLACE, "TENANT#acme#")


@pytest.mark.parametrize("role", ["admin", "support"])
@pytest.mark.usefixtures("frozen_heap")
def test_a_tenant_adds_its_tag_and_no_more(role: str) -> None:
    """Also after it has read, written and asked for what it may not see."""
    at = permissions_at(generated(MODEL), MODEL)
    tenants = [tenant_id(f"tenant-{number}") for number in range(500)]
    names = [attribute.name for entity in MODEL.entities.values() for attribute in entity.attributes]

    def used(tenant: TenantId) -> Permissions:
        made, own = at(DEPLOYMENT, tenant, role), partition(tenant, "ANY")
        item = {"PK": {"S": own}, "SK": {"S": "x"}}
        named = {"ProjectionExpression": "PK,SK,orderId"}
        assert made.check("GetItem", {"TableName": "pool", "Key": item, **named}).allowed
        made.check("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "pool", "Item": item}}]})
        made.attributes_denied(names, "GetItem", "pool", leading_key=own)
        return made

    used(tenants[0])
    gc.collect()
    tracemalloc.start()
    kept = [used(tenant) for tenant in tenants]
    gc.collect()
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert size / len(kept) < 200
