"""The weak spots of public samples for tenants in one table, each as a regression test."""

import copy
from collections.abc import Mapping
from typing import Any

import pytest

from gateway.aws.sts.session import Session
from gateway.aws.sts.tenants import Tenancy
from gateway.aws.wire.credentials import Credentials
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.aws.wire.endpoint import AwsTarget
from gateway.demo import MODEL
from gateway.errors import IsolationBreach
from gateway.iam.language.evaluator import evaluate
from gateway.iam.language.verdict import Authorisation
from gateway.iam.policies.policies import generated, permissions_at
from gateway.model.tenant import tenant_id
from gateway.store.access import Access
from gateway.store.plan import Window, plan_listing
from gateway.store.rows import Rows
from gateway.store.table import Table
from tests.policies.cases import context_of
from tests.policies.fixtures import DEPLOYMENT, NAME, REGION, SHIPPED, TABLE, TENANT_ROLE, alone, rendered

ACME = tenant_id("acme")
PERMISSIONS = permissions_at(generated(MODEL), MODEL)(DEPLOYMENT, ACME, "admin")


def key(pk: str) -> dict[str, Any]:
    return {"TableName": NAME, "Key": {"PK": {"S": pk}, "SK": {"S": "PROFILE"}}}


@pytest.mark.parametrize("twin", ["acme2", "acme-shop", "acmeUSER", "acm", "acme ", "ACME", "a"])
def test_tenants_that_share_a_prefix_are_different_tenants(twin: str) -> None:
    assert PERMISSIONS.check("GetItem", key("TENANT#acme#USER#1")).allowed
    assert not PERMISSIONS.check("GetItem", key(f"TENANT#{twin}#USER#1")).allowed
    assert not PERMISSIONS.check("GetItem", key(f"TENANT#{twin}")).allowed


@pytest.mark.parametrize("role", ["admin", "editor", "support", "viewer"])
@pytest.mark.parametrize("more", [{}, {"IndexName": "GSI1"}, {"Segment": 0, "TotalSegments": 4}])
def test_an_unscoped_list_is_denied_to_everybody(role: str, more: dict[str, Any]) -> None:
    verdict = permissions_at(generated(MODEL), MODEL)(DEPLOYMENT, ACME, role).check("Scan", {"TableName": NAME, **more})
    assert not verdict.allowed
    assert getattr(verdict, "explicit", False)


@pytest.mark.parametrize("name", ["tenant-role.json", "boundary.json", "session-admin.json", "session-viewer.json"])
def test_a_missing_null_guard_would_open_the_table(name: str) -> None:
    """ForAllValues holds for an empty set: the guard is what stops a request without keys."""
    request = Authorisation("dynamodb:Query", TABLE, context_of("Query", None))
    assert not evaluate(alone(rendered(name)), request).allowed
    unguarded = copy.deepcopy(dict(SHIPPED[name]))
    unguarded["Statement"] = [clause for clause in unguarded["Statement"] if clause["Sid"] != "NeverWithoutKey"]
    for clause in unguarded["Statement"]:
        clause.get("Condition", {}).get("Null", {}).pop("dynamodb:LeadingKeys", None)
    assert evaluate(alone(rendered(name, unguarded)), request).allowed


def test_index_poisoning_passes_iam_and_is_stopped_by_the_row_check() -> None:
    """A limit of IAM: it sees the table's partition key of a write and no other value."""
    poisoned = {
        "PK": {"S": "TENANT#acme#USER#1"},
        "SK": {"S": "PROFILE"},
        "EntityType": {"S": "User"},
        "GSI1PK": {"S": "TENANT#globex#EMAIL#ann@example.com"},
        "GSI1SK": {"S": "USER#1"},
    }
    assert PERMISSIONS.check("PutItem", {"TableName": NAME, "Item": poisoned}).allowed
    assert Rows(MODEL).own(tenant_id("globex"), MODEL.table.indexes[0], [poisoned]) == []
    with pytest.raises(IsolationBreach):
        Rows(MODEL).item(tenant_id("globex"), poisoned, "User", frozenset({"userId"}), "GSI1SK")


class Pages(DynamoDB):
    """Every partition of an index has three pages of one row, of which only the last has no more."""

    def __init__(self) -> None:
        self.queried: list[str] = []

    async def call(
        self,
        operation: str,
        body: Mapping[str, Any],
        *,
        credentials: Credentials,
        target: AwsTarget,
        deadline: float | None = None,
    ) -> dict[str, Any]:
        partition = body["ExpressionAttributeValues"][":pk"]["S"]
        self.queried.append(partition)
        page = self.queried.count(partition)
        number = f"{partition[-1]}{page}"
        row = {
            "PK": {"S": f"TENANT#acme#ORDER#{number}"},
            "SK": {"S": "META"},
            "EntityType": {"S": "Order"},
            "orderId": {"S": number},
            "GSI2SK": {"S": f"2026-01-0{page}T00:00:00.000000Z#{number}"},
        }
        more = {"LastEvaluatedKey": {"PK": row["PK"], "SK": row["SK"]}} if page < 3 else {}
        return {"Items": [row], **more}


async def test_a_fan_out_follows_the_pages_of_every_shard() -> None:
    client = Pages()
    tenancy = Tenancy(NAME, TENANT_ROLE, AwsTarget("http://127.0.0.1:1", REGION), REGION)
    session = Session(ACME, "admin", Credentials("AKID", "secret"), tenancy, PERMISSIONS)
    plan = plan_listing(
        MODEL, MODEL.listing("ordersByStatus"), ACME, {"status": "PENDING"}, Window(50), frozenset({"orderId"})
    )

    async def renew(given: Session) -> Session:
        return given

    page = await Table(client, MODEL, renew).query(Access(session), plan)
    shards = len(plan.groups[0])
    assert shards > 1
    assert len(client.queried) == 3 * shards
    assert len({item.values["orderId"] for item in page.items}) == 3 * shards
    assert not page.more
