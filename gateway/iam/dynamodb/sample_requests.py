"""Builds small DynamoDB requests in their wire form, for checks and proofs of policies."""

from typing import Any, Final

from gateway.model.table import TableSpec

Body = dict[str, Any]

IMPOSSIBLE: Final = "attribute_exists(#guard) AND attribute_not_exists(#guard)"
"""A condition that no item meets: a write that is wrongly allowed changes nothing."""


def key(spec: TableSpec, pk: str, sk: str) -> Body:
    return {spec.pk: {"S": pk}, spec.sk: {"S": sk}}


def projection(names: tuple[str, ...]) -> Body:
    if not names:
        return {}
    aliases = {f"#n{position}": name for position, name in enumerate(names)}
    return {"ProjectionExpression": ",".join(aliases), "ExpressionAttributeNames": aliases}


def get(table: str, item: Body, names: tuple[str, ...] = ()) -> Body:
    return {"TableName": table, "Key": item, **projection(names)}


def batch_get(table: str, items: list[Body], names: tuple[str, ...] = ()) -> Body:
    return {"RequestItems": {table: {"Keys": items, **projection(names)}}}


def transact_get(table: str, items: list[Body], names: tuple[str, ...] = ()) -> Body:
    return {"TransactItems": [{"Get": get(table, item, names)} for item in items]}


def query(table: str, spec: TableSpec, pk: str, names: tuple[str, ...] = (), index: str | None = None) -> Body:
    attribute = next((declared.pk for declared in spec.indexes if declared.name == index), spec.pk)
    chosen = projection(names)
    return {
        "TableName": table,
        **({} if index is None else {"IndexName": index}),
        **chosen,
        "KeyConditionExpression": "#pk = :pk",
        "ExpressionAttributeNames": {**chosen.get("ExpressionAttributeNames", {}), "#pk": attribute},
        "ExpressionAttributeValues": {":pk": {"S": pk}},
    }


def guarded(spec: TableSpec) -> Body:
    return {"ConditionExpression": IMPOSSIBLE, "ExpressionAttributeNames": {"#guard": spec.pk}}


def put(table: str, item: Body, guard: Body) -> Body:
    return {"TableName": table, "Item": item, **guard}


def delete(table: str, item: Body, guard: Body) -> Body:
    return {"TableName": table, "Key": item, **guard}


def condition_check(table: str, item: Body, spec: TableSpec) -> Body:
    return {"TableName": table, "Key": item, "ConditionExpression": f"attribute_exists({spec.pk})"}


def update(table: str, item: Body, attribute: str, guard: Body) -> Body:
    names = {**guard.get("ExpressionAttributeNames", {}), "#set": attribute}
    return {
        "TableName": table,
        "Key": item,
        **guard,
        "UpdateExpression": "SET #set = :set",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": {":set": {"S": "isolation probe"}},
    }


def batch_write(table: str, puts: list[Body], deletes: list[Body]) -> Body:
    written = [{"PutRequest": {"Item": item}} for item in puts]
    return {"RequestItems": {table: written + [{"DeleteRequest": {"Key": item}} for item in deletes]}}


def transact_write(*members: tuple[str, Body]) -> Body:
    """Members by their kind: Put, Update, Delete or ConditionCheck."""
    return {"TransactItems": [{kind: body} for kind, body in members]}
