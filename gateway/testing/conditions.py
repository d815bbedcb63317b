"""Evaluates condition and filter expressions as DynamoDB does, in the forms that the gateway sends."""

import operator
import re
from collections.abc import Callable, Mapping
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
_TERM = re.compile(
    r"(?P<exists>attribute_(?:not_)?exists)\((?P<path>[#\w]+)\)"
    r"|(?P<call>begins_with|contains)\((?P<text>[#\w]+), (?P<part>:\w+)\)"
    r"|(?P<left>[#\w]+) (?P<sign>=|>=?|<=?) (?P<right>:\w+)"
    r"|(?P<member>[#\w]+) IN \((?P<listed>:\w+(?:,:\w+)*)\)"
)


def holds(body: Row, parameter: str, row: Row) -> bool:
    """Whether a row meets the expression in this parameter of a request; every row does if there is none."""
    text = body.get(parameter)
    if text is None:
        return True
    return _true(text, row, body.get("ExpressionAttributeNames", {}), body.get("ExpressionAttributeValues", {}))


def filtered_by(body: Row) -> tuple[set[str], set[str]]:
    """The names and the values in the filter of a Query."""
    text = body.get("FilterExpression", "")
    return set(re.findall(r"#f\d+", text)), set(re.findall(r":f\d+", text))


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
    name = match["path"] or match["text"] or match["left"] or match["member"]
    stored = row.get(names.get(name, name))
    if match["exists"]:
        return (stored is not None) is (match["exists"] == "attribute_exists")
    if stored is None:
        return False
    if match["call"]:
        return _contains(match["call"], stored, values[match["part"]]["S"])
    if match["listed"]:
        return stored in [values[value] for value in match["listed"].split(",")]
    value = values[match["right"]]
    # values of other types are never equal, smaller or larger
    return stored.keys() == value.keys() and _SIGNS[match["sign"]](_plain(stored), _plain(value))


def _contains(call: str, stored: Row, part: str) -> bool:
    text: str = stored.get("S", "")
    if call == "begins_with":
        return text.startswith(part)
    return part in text or part in stored.get("SS", ()) or {"S": part} in stored.get("L", ())


def _plain(value: Row) -> Any:
    [(kind, content)] = value.items()
    match kind:
        case "N":
            return Decimal(content)
        case "S" | "B":
            return content.encode()
        case "SS":
            return sorted(content)
    return content
