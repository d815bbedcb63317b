"""Transactions for the in-memory table: all or nothing, with AWS's cancellation reasons."""

import re
from collections.abc import Mapping
from typing import Any

from gateway.aws.wire.errors import CancellationReason, InvalidRequest, TransactionCancelled

Row = dict[str, Any]

_TERM = re.compile(
    r"(?P<call>attribute_(?:not_)?exists)\((?P<path>[#\w]+)\)|(?P<left>[#\w]+) (?P<op>=|<=|>=) (?P<right>:\w+)"
)


def transact(rows: dict[tuple[str, str], Row], body: Row, pk: str, sk: str) -> Row:
    members = [next(iter(action.items())) for action in body["TransactItems"]]
    keys = [_key(kind, member, pk, sk) for kind, member in members]
    if not 1 <= len(members) <= 100 or len(set(keys)) != len(keys):
        raise InvalidRequest("a transaction has 1 to 100 members, each on another item")
    held = [_holds(member, rows.get(key, {})) for (_, member), key in zip(members, keys, strict=True)]
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


def _holds(member: Row, row: Row) -> bool:
    condition = member.get("ConditionExpression")
    if condition is None:
        return True
    names, values = member.get("ExpressionAttributeNames", {}), member.get("ExpressionAttributeValues", {})
    return _true(condition, row, names, values)


def _true(condition: str, row: Row, names: Mapping[str, str], values: Row) -> bool:
    """Parentheses may surround a whole operand of AND, and are not nested."""
    inner = re.fullmatch(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", condition)
    if inner is not None:
        return _true(inner[1], row, names, values)
    for word, together in ((" OR ", any), (" AND ", all)):
        parts = _split(condition, word)
        if len(parts) > 1:
            return together(_true(part, row, names, values) for part in parts)
    return _term(condition, row, names, values)


def _split(condition: str, word: str) -> list[str]:
    """The parts between words that are outside of all parentheses."""
    parts, depth, start = [], 0, 0
    for position, sign in enumerate(condition):
        depth += (sign == "(") - (sign == ")")
        if not depth and condition.startswith(word, position):
            parts.append(condition[start:position])
            start = position + len(word)
    return [*parts, condition[start:]]


def _term(text: str, row: Row, names: Mapping[str, str], values: Row) -> bool:
    match = _TERM.fullmatch(text)
    if match is None:
        raise InvalidRequest(f"the engine in memory does not know `{text}`")
    if match["call"]:
        exists = names.get(match["path"], match["path"]) in row
        return exists is (match["call"] == "attribute_exists")
    stored = row.get(names.get(match["left"], match["left"]))
    if stored is None:
        return False
    left, right = _comparable(stored), _comparable(values[match["right"]])
    if left[0] != right[0]:
        return False  # another type: as on AWS, the comparison is false
    return {"=": left == right, "<=": left <= right, ">=": left >= right}[match["op"]]


def _comparable(wire: Row) -> tuple[str, Any]:
    [(kind, value)] = wire.items()
    if kind == "SS":
        return kind, sorted(value)
    return kind, float(value) if kind == "N" else value if kind == "BOOL" else value.encode()


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
