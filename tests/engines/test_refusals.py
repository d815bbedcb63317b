"""What a real engine refuses arrives as the gateway's own error."""

from typing import Any

import pytest

from gateway.aws.errors import (
    ConditionFailed,
    InvalidRequest,
    ResourceBusy,
    TableMissing,
    TransactionCancelled,
)
from gateway.domains import MODEL
from gateway.errors import Forbidden, GatewayError
from gateway.model.describe import create_table
from gateway.store.plan import Window, plan_lookup
from tests.engines.engine import Quirks
from tests.engines.shop import Shop, order, user


async def code_of(shop: Shop, operation: str, body: dict[str, Any]) -> str:
    with pytest.raises(GatewayError) as raised:
        await shop.ask(operation, body)
    return raised.value.code


async def test_a_missing_table_is_unavailable(shop: Shop) -> None:
    nowhere = Shop(shop.client, shop.url, "nowhere", shop.tenant)
    with pytest.raises(TableMissing) as raised:
        await nowhere.get("user", {"userId": "u"})
    assert raised.value.code == "UNAVAILABLE"
    with pytest.raises(TableMissing):
        await nowhere.get("user", {"userId": "u"}, {"userId": "v"})
    with pytest.raises(TableMissing):
        await nowhere.page("ordersOfUser", userId="u")


async def test_a_table_that_exists_is_not_made_twice(shop: Shop) -> None:
    with pytest.raises(ResourceBusy):
        await shop.ask("CreateTable", create_table(MODEL, shop.table))


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("GetItem", {"Key": {"PK": {"S": "a"}}}),
        ("GetItem", {"Key": {"PK": {"N": "1"}, "SK": {"S": "a"}}}),
        ("PutItem", {"Item": {"SK": {"S": "a"}}}),
        ("PutItem", {"Item": {"PK": {"S": ""}, "SK": {"S": "a"}}}),
        (
            "Query",
            {
                "KeyConditionExpression": "PK = :pk AND SK BETWEEN :b AND :a",
                "ExpressionAttributeValues": {":pk": {"S": "p"}, ":a": {"S": "a"}, ":b": {"S": "b"}},
            },
        ),
        (
            "Query",
            {
                "IndexName": "GSI1",
                "ConsistentRead": True,
                "KeyConditionExpression": "GSI1PK = :pk",
                "ExpressionAttributeValues": {":pk": {"S": "p"}},
            },
        ),
        (
            "Query",
            {
                "IndexName": "GSI9",
                "KeyConditionExpression": "GSI9PK = :pk",
                "ExpressionAttributeValues": {":pk": {"S": "p"}},
            },
        ),
    ],
)
async def test_what_the_engine_does_not_understand_is_our_own_fault(
    shop: Shop, operation: str, body: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest) as raised:
        await shop.ask(operation, body)
    assert raised.value.code == "INTERNAL"
    assert raised.value.aws_code == "ValidationException"
    # what AWS says is for the log only
    assert raised.value.message == "the database did not understand the request"


async def test_a_batch_takes_a_hundred_different_keys_and_no_more(shop: Shop) -> None:
    keys = [{"PK": {"S": f"TENANT#{shop.tenant}#{number}"}, "SK": {"S": "a"}} for number in range(101)]
    assert await code_of(shop, "BatchGetItem", {"RequestItems": {shop.table: {"Keys": keys}}}) == "INTERNAL"
    twice = {"RequestItems": {shop.table: {"Keys": keys[:1] * 2}}}
    assert await code_of(shop, "BatchGetItem", twice) == "INTERNAL"


async def test_a_condition_that_does_not_hold_is_a_conflict(shop: Shop, quirks: Quirks) -> None:
    [row] = shop.rows("User", user("u"))
    await shop.write([row])
    with pytest.raises(ConditionFailed) as raised:
        await shop.ask(
            "PutItem",
            {
                "Item": row,
                "ConditionExpression": "attribute_not_exists(PK)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            },
        )
    assert raised.value.code == "CONFLICT"
    assert raised.value.item == (row if quirks.shows_item_of_failed_condition else None)


async def test_a_cancelled_transaction_gives_a_reason_for_each_item(shop: Shop) -> None:
    [original, copy] = shop.rows("Order", order(1))
    await shop.write([copy])
    absent = "attribute_not_exists(PK)"
    puts = [{"Put": {"TableName": shop.table, "Item": row, "ConditionExpression": absent}} for row in (original, copy)]
    with pytest.raises(TransactionCancelled) as raised:
        await shop.ask("TransactWriteItems", {"TransactItems": puts})
    assert [reason.code for reason in raised.value.reasons] == ["None", "ConditionalCheckFailed"]
    # nothing of it was written
    assert await shop.get("order", {"orderId": "o0001"}) == [None]


async def test_values_that_no_expression_uses_are_refused(shop: Shop, quirks: Quirks) -> None:
    body = {
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": {"S": "p"}, ":unused": {"S": "x"}},
    }
    if quirks.refuses_unused_values:
        assert await code_of(shop, "Query", body) == "INTERNAL"
    else:
        assert (await shop.ask("Query", body))["Items"] == []


async def test_the_start_key_of_another_partition_is_refused(shop: Shop, quirks: Quirks) -> None:
    """Why positions are not start keys: an engine, or a cache, may forgive what would mix two partitions."""
    await shop.add("Order", order(1), order(2))
    [_, copy] = shop.rows("Order", order(1))
    body = {
        "KeyConditionExpression": "PK = :pk",
        "ExpressionAttributeValues": {":pk": copy["PK"]},
        "ExclusiveStartKey": {"PK": {"S": "TENANT#other#USER#u"}, "SK": copy["SK"]},
    }
    if quirks.refuses_foreign_start_key:
        assert await code_of(shop, "Query", body) == "INTERNAL"
    else:
        assert (await shop.ask("Query", body))["Items"] == []


@pytest.mark.parametrize("limit", [4, 5])
async def test_a_full_page_has_a_key_to_go_on_from(shop: Shop, quirks: Quirks, limit: int) -> None:
    await shop.add("Order", *(order(number) for number in range(4)))
    answer = await shop.ask(
        "Query",
        {
            "KeyConditionExpression": "PK = :pk",
            "ExpressionAttributeValues": {":pk": {"S": f"TENANT#{shop.tenant}#USER#u"}},
            "Limit": limit,
        },
    )
    assert len(answer["Items"]) == 4
    assert ("LastEvaluatedKey" in answer) is (limit == 4 and quirks.full_page_goes_on)


async def test_a_policy_refuses_before_the_engine_is_asked(shop: Shop) -> None:
    neighbour = shop.neighbour()
    await neighbour.add("User", user("u"))
    plan = plan_lookup(MODEL, MODEL.lookup("user"), shop.tenant, ({"userId": "u"},), frozenset({"name"}))
    forged = Shop(shop.client, shop.url, shop.table, shop.tenant)
    forged.access.session = _with_permissions_of(forged, neighbour)
    with pytest.raises(Forbidden):
        await forged.reader.get(forged.access, plan)
    with pytest.raises(Forbidden):
        await forged.page("ordersOfUser", Window(5), userId="u")
    assert forged.access.calls == []


def _with_permissions_of(shop: Shop, other: Shop) -> Any:
    from dataclasses import replace

    return replace(shop.access.session, permissions=other.access.session.permissions)
