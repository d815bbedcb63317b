"""Translates plans to DynamoDB requests, and reads parts of its responses; does no I/O."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gateway.aws.wire.errors import AnswerCorrupt
from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.store.plan import QueryPartition

Body = dict[str, Any]

LARGEST_PAGE = 1_000  # items of one Query; larger limits follow the pages


@lru_cache(maxsize=4_096)
def projection(names: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """Gives every name an alias, because any name may be one of DynamoDB's reserved words."""
    aliases = {f"#{position}": name for position, name in enumerate(names)}
    return ",".join(aliases), aliases


def key_of(table: TableSpec, key: ItemKey) -> dict[str, Any]:
    return {table.pk: {"S": key.pk}, table.sk: {"S": key.sk}}


def get_item(table: TableSpec, name: str, key: ItemKey, names: tuple[str, ...], strong: bool) -> Body:
    expression, aliases = projection(names)
    return {
        "TableName": name,
        "Key": key_of(table, key),
        "ProjectionExpression": expression,
        "ExpressionAttributeNames": aliases,
        "ConsistentRead": strong,
        "ReturnConsumedCapacity": "TOTAL",
    }


def batch_get_item(name: str, keys: list[dict[str, Any]], names: tuple[str, ...], strong: bool) -> Body:
    expression, aliases = projection(names)
    request = {
        "Keys": keys,
        "ProjectionExpression": expression,
        "ExpressionAttributeNames": aliases,
        "ConsistentRead": strong,
    }
    return {"RequestItems": {name: request}, "ReturnConsumedCapacity": "TOTAL"}


def query(table: TableSpec, name: str, plan: QueryPartition, names: tuple[str, ...], limit: int) -> Body:
    expression, aliases = projection(names)
    pk, sk = (plan.index.pk, plan.index.sk) if plan.index is not None else (table.pk, table.sk)
    condition, values = _condition(plan)
    body: Body = {
        "TableName": name,
        "KeyConditionExpression": condition,
        "ExpressionAttributeNames": {**aliases, "#pk": pk, **({"#sk": sk} if "#sk" in condition else {})},
        "ExpressionAttributeValues": {":pk": {"S": plan.partition}, **values},
        "ProjectionExpression": expression,
        "ScanIndexForward": plan.forward,
        "Limit": min(limit, LARGEST_PAGE),
        "ReturnConsumedCapacity": "TOTAL",
    }
    if plan.filter is not None:
        body["FilterExpression"] = plan.filter.text
        body["ExpressionAttributeNames"] |= plan.filter.names
        body["ExpressionAttributeValues"] |= plan.filter.values
    if plan.index is not None:
        body["IndexName"] = plan.index.name
    if plan.index is None or plan.index.local:
        body["ConsistentRead"] = plan.strong
    return body


def _condition(plan: QueryPartition) -> tuple[str, Body]:
    bounds = plan.bounds
    if bounds.prefix is not None:
        return "#pk = :pk AND begins_with(#sk, :low)", {":low": {"S": bounds.prefix}}
    match bounds.low, bounds.high:
        case None, None:
            return "#pk = :pk", {}
        case str() as low, None:
            return "#pk = :pk AND #sk >= :low", {":low": {"S": low}}
        case None, str() as high:
            return "#pk = :pk AND #sk <= :high", {":high": {"S": high}}
        case low, high:
            return "#pk = :pk AND #sk BETWEEN :low AND :high", {":low": {"S": low}, ":high": {"S": high}}


def part(answer: Mapping[str, Any], name: str) -> Any:
    # INVARIANT: nothing is lost silently: a response without its rows is not valid, and does not mean "no rows".
    if name not in answer:
        raise AnswerCorrupt("the database's answer is incomplete")
    return answer[name]


# The size and the cost of a DynamoDB response.


def items_in(answer: dict[str, Any]) -> int:
    if "Items" in answer:
        return len(answer["Items"])
    if "Responses" in answer:
        return sum(len(rows) for rows in answer["Responses"].values())
    return 1 if answer.get("Item") else 0


def units_of(consumed: Any) -> float:
    if isinstance(consumed, list) and len(consumed) == 1:
        [consumed] = consumed
    if isinstance(consumed, list):
        return sum(float(capacity.get("CapacityUnits", 0)) for capacity in consumed)
    return float(consumed.get("CapacityUnits", 0)) if consumed else 0.0
