"""Evaluates filter expressions as DynamoDB does, in the forms that the gateway sends."""

import operator
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from gateway.aws.wire.errors import InvalidRequest

Row = dict[str, Any]

_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_COMPARED = re.compile(r"(#f\d+) (=|>=?|<=?) (:f\d+)")
_LISTED = re.compile(r"(#f\d+) IN \((:f\d+(?:,:f\d+)*)\)")
_CALLED = re.compile(r"(begins_with|contains)\((#f\d+), (:f\d+)\)")


def matches(body: Row, row: Row) -> bool:
    """Whether a row passes the filter of a Query; every row passes if there is none."""
    text = body.get("FilterExpression")
    return text is None or all(_holds(part, body, row) for part in text.split(" AND "))


def used(body: Row) -> tuple[set[str], set[str]]:
    """The names and the values in the filter."""
    text = body.get("FilterExpression", "")
    return set(re.findall(r"#f\d+", text)), set(re.findall(r":f\d+", text))


def _holds(part: str, body: Row, row: Row) -> bool:
    names, values = body["ExpressionAttributeNames"], body["ExpressionAttributeValues"]
    if match := _COMPARED.fullmatch(part):
        stored, value = row.get(names[match[1]]), values[match[3]]
        return stored is not None and stored.keys() == value.keys() and _SIGNS[match[2]](_plain(stored), _plain(value))
    if match := _LISTED.fullmatch(part):
        return row.get(names[match[1]]) in [values[name] for name in match[2].split(",")]
    match = _CALLED.fullmatch(part)
    if match is None:
        raise InvalidRequest(f"the engine in memory does not know the filter `{part}`")
    stored, value = row.get(names[match[2]], {}), values[match[3]]["S"]
    if match[1] == "begins_with":
        return bool(stored.get("S", "").startswith(value))
    return value in stored.get("S", "") or value in stored.get("SS", ()) or {"S": value} in stored.get("L", ())


def _plain(value: Row) -> Any:
    [(tag, inner)] = value.items()
    return Decimal(inner) if tag == "N" else inner.encode() if tag == "S" else inner
