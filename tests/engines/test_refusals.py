"""What a real engine refuses arrives as the gateway's own error."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.wire.errors import (
    AwsUnavailable,
    ConditionFailed,
    InvalidRequest,
    ResourceBusy,
    TableMissing,
    TransactionCancelled,
)
from gateway.demo import MODEL
from gateway.errors import Forbidden, GatewayError
from gateway.store.access import Access
from gateway.store.plan import plan_lookup
from tests.engines.engine import Quirks
from tests.engines.shop import Shop, order, user

pytestmark = pytest.mark.slow


async def code_of(shop: Shop, operation: str, body: dict[str, Any]) -> str:
    with pytest.raises(GatewayError) as raised:
        await shop.call(operation, body)
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
        await shop.call("CreateTable", MODEL.table.create_request(shop.table))


def query(condition: str = "PK = :pk", **more: Any) -> dict[str, Any]:
    values = {":pk": {"S": "p"}, **more.pop("values", {})}
    return {"KeyConditionExpression": condition, "ExpressionAttributeValues": values, **more}


# requests that DynamoDB refuses with a ValidationException
WRONG: dict[str, tuple[str, dict[str, Any]]] = {
    "half a key": ("GetItem", {"Key": {"PK": {"S": "a"}}}),
    "a key of a wrong type": ("GetItem", {"Key": {"PK": {"N": "1"}, "SK": {"S": "a"}}}),
    "an item without its key": ("PutItem", {"Item": {"SK": {"S": "a"}}}),
    "an empty key": ("PutItem", {"Item": {"PK": {"S": ""}, "SK": {"S": "a"}}}),
    "a number of 39 digits": ("PutItem", {"Item": {"PK": {"S": "p"}, "SK": {"S": "s"}, "a": {"N": "1" * 39}}}),
    "a range that ends before it starts": (
        "Query",
        query("PK = :pk AND SK BETWEEN :b AND :a", values={":a": {"S": "a"}, ":b": {"S": "b"}}),
    ),
    "a consistent read of an index": ("Query", query("GSI1PK = :pk", IndexName="GSI1", ConsistentRead=True)),
    "a query without a partition": ("Query", query("SK = :pk")),
    "a page of nothing": ("Query", query(Limit=0)),
    "a value that no expression uses": ("Query", query(values={":unused": {"S": "x"}})),
    "a reserved word": ("Query", query(ProjectionExpression="PK, name")),
    # why positions are not start keys: what an engine forgives would mix two partitions
    "a start key of another partition": (
        "Query",
        query(ExclusiveStartKey={"PK": {"S": "another"}, "SK": {"S": "s"}}),
    ),
}


@pytest.mark.parametrize("title", WRONG)
async def test_what_the_engine_does_not_understand_is_our_own_fault(shop: Shop, quirks: Quirks, title: str) -> None:
    operation, body = WRONG[title]
    if title in quirks.forgives:
        await shop.call(operation, body)
        return
    if title in quirks.breaks_on:
        with pytest.raises(AwsUnavailable):
            await shop.call(operation, body)
        return
    with pytest.raises(InvalidRequest) as raised:
        await shop.call(operation, body)
    assert (raised.value.code, raised.value.aws_code) == ("INTERNAL", "ValidationException")
    # what AWS says is for the log only
    assert raised.value.message == "the database did not understand the request"


def test_what_an_engine_forgives_is_a_case_of_this_file(quirks: Quirks) -> None:
    assert quirks.forgives | quirks.breaks_on <= set(WRONG)


async def test_a_missing_index_is_refused(shop: Shop, quirks: Quirks) -> None:
    with pytest.raises(quirks.missing_index):
        await shop.call("Query", query("GSI9PK = :pk", IndexName="GSI9"))


async def test_a_batch_takes_a_hundred_different_keys_and_no_more(shop: Shop) -> None:
    keys = [{"PK": {"S": f"TENANT#{shop.tenant}#{number}"}, "SK": {"S": "a"}} for number in range(101)]
    assert await code_of(shop, "BatchGetItem", {"RequestItems": {shop.table: {"Keys": keys}}}) == "INTERNAL"
    twice = {"RequestItems": {shop.table: {"Keys": keys[:1] * 2}}}
    assert await code_of(shop, "BatchGetItem", twice) == "INTERNAL"


async def test_a_condition_that_does_not_hold_is_a_conflict(shop: Shop, quirks: Quirks) -> None:
    [row] = shop.rows("User", user("u"))
    await shop.write([row])
    with pytest.raises(ConditionFailed) as raised:
        await shop.call(
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
        await shop.call("TransactWriteItems", {"TransactItems": puts})
    assert [reason.code for reason in raised.value.reasons] == ["None", "ConditionalCheckFailed"]
    # nothing of it was written
    assert await shop.get("order", {"orderId": "o0001"}) == [None]


@pytest.mark.parametrize("limit", [4, 5])
async def test_a_full_page_has_a_key_to_go_on_from(shop: Shop, quirks: Quirks, limit: int) -> None:
    await shop.add("Order", *(order(number) for number in range(4)))
    answer = await shop.call(
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
    forged = replace(shop.access.session, permissions=neighbour.access.session.permissions)
    access = Access(forged)
    with pytest.raises(Forbidden):
        await shop.reader.get(access, plan)
    assert access.calls == []
