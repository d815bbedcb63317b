"""Transactions for the in-memory table: all or nothing, with AWS's cancellation reasons."""

import re

from gateway.aws.wire.errors import CancellationReason, InvalidRequest, TransactionCancelled
from gateway.testing.conditions import Row, holds


def transact(rows: dict[tuple[str, str], Row], body: Row, pk: str, sk: str) -> Row:
    members = [next(iter(action.items())) for action in body["TransactItems"]]
    keys = [_key(kind, member, pk, sk) for kind, member in members]
    if not 1 <= len(members) <= 100 or len(set(keys)) != len(keys):
        raise InvalidRequest("a transaction has 1 to 100 members, each on another item")
    held = [
        holds(member, "ConditionExpression", rows.get(key, {})) for (_, member), key in zip(members, keys, strict=True)
    ]
    if not all(held):
        error = TransactionCancelled("the transaction was cancelled")
        error.reasons = tuple(CancellationReason("None" if ok else "ConditionalCheckFailed", "") for ok in held)
        raise error
    for (kind, member), key in zip(members, keys, strict=True):
        if kind == "Put":
            rows[key] = dict(member["Item"])
        elif kind == "Delete":
            rows.pop(key, None)
        elif kind == "Update":
            rows[key] = _updated(rows.get(key) or dict(member["Key"]), member)
    return {"ConsumedCapacity": [{"TableName": "app", "CapacityUnits": 2.0 * len(members)}]}


def _key(kind: str, member: Row, pk: str, sk: str) -> tuple[str, str]:
    at = member["Item"] if kind == "Put" else member["Key"]
    return at[pk]["S"], at[sk]["S"]


def _updated(row: Row, member: Row) -> Row:
    names, values = member["ExpressionAttributeNames"], member.get("ExpressionAttributeValues", {})
    changed = dict(row)
    for clause, content in re.findall(r"(SET|REMOVE|ADD) (.*?)(?= (?:SET|REMOVE|ADD) |$)", member["UpdateExpression"]):
        for part in content.split(", "):
            if clause == "SET":
                name, value = part.split(" = ")
                changed[names[name]] = values[value]
            elif clause == "REMOVE":
                changed.pop(names[part], None)
            else:
                name, value = part.split(" ")
                changed[names[name]] = _added(changed.get(names[name]), values[value])
    return changed


def _added(before: Row | None, value: Row) -> Row:
    if "SS" in value:
        return {"SS": sorted({*(before or value)["SS"], *value["SS"]})}
    return {"N": str(int((before or {"N": "0"})["N"]) + int(value["N"]))}
