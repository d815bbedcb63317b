"""Filters as DynamoDB expressions, and filtered pages, which may hold fewer items than requested."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, NamedTuple, TypeVar

from gateway.errors import BadUserInput
from gateway.model.entity import Entity
from gateway.model.filters import CONTAINS, Comparison, Filter
from gateway.model.types import ListOf, SetOf

Row = TypeVar("Row")

MOST_VALUES = 50  # in one `in`; DynamoDB accepts 100
_SIGNS = {"eq": "=", "gt": ">", "ge": ">=", "lt": "<", "le": "<=", "from ge": ">=", "from le": "<="}
_FUNCTIONS = {"beginsWith": "begins_with", CONTAINS: "contains"}


@dataclass(frozen=True, slots=True)
class FilterExpression:
    """`reads` is how many items one partition may read, including those that the filter removes."""

    text: str
    names: Mapping[str, str]
    values: Mapping[str, Any]
    reads: int


def filter_expression(entity: Entity, item_filter: Filter, reads: int) -> FilterExpression:
    """INVARIANT: the expression names every attribute: a role that may not read one cannot filter by it either."""
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    parts = []
    for comparison in item_filter.comparisons:
        alias = next((alias for alias, name in names.items() if name == comparison.attribute), f"#f{len(names)}")
        names[alias] = comparison.attribute
        members = comparison.value if comparison.operator == "in" else (comparison.value,)
        if not 1 <= len(members) <= MOST_VALUES:
            raise BadUserInput(f"the filter of `{comparison.attribute}` takes 1 to {MOST_VALUES} values")
        marks = []
        for member in members:
            marks.append(f":f{len(values)}")
            values[marks[-1]] = _encoded(entity, comparison, member)
        parts.append(_part(comparison.operator, alias, marks))
    return FilterExpression(" AND ".join(parts), names, values, reads)


def _encoded(entity: Entity, comparison: Comparison, value: Any) -> Any:
    name, kind = comparison.attribute, entity.attribute[comparison.attribute].type
    if comparison.operator in _FUNCTIONS:
        if value == "":
            raise BadUserInput(f"the filter of `{name}` needs at least one character")
        if not isinstance(kind, SetOf | ListOf):
            return {"S": value}  # a part of a text, which need not be a valid value by itself
    return (kind.of if isinstance(kind, SetOf | ListOf) else kind).encode(name, value)


def _part(operator: str, alias: str, marks: list[str]) -> str:
    if operator == "in":
        return f"{alias} IN ({','.join(marks)})"
    if operator in _FUNCTIONS:
        return f"{_FUNCTIONS[operator]}({alias}, {marks[0]})"
    return f"{alias} {_SIGNS[operator]} {marks[0]}"


def passes(entity: Entity, item_filter: Filter, values: Mapping[str, Any]) -> bool:
    """Whether an item passes the filter, as DynamoDB would decide from its stored attributes."""
    return all(_holds(entity, comparison, values.get(comparison.attribute)) for comparison in item_filter.comparisons)


def _holds(entity: Entity, comparison: Comparison, value: Any) -> bool:
    if value is None or isinstance(value, Exception):
        return False
    expected = comparison.value
    match comparison.operator:
        case "in":
            return value in expected
        case "beginsWith":
            return bool(value.startswith(expected))
        case "contains":
            return expected in value
    kind = entity.attribute[comparison.attribute].type
    stored, bound = (_comparable(kind.encode(comparison.attribute, operand)) for operand in (value, expected))
    # they have the names of Python's functions
    return bool(getattr(operator, comparison.operator.removeprefix("from "))(stored, bound))


def _comparable(wire: Any) -> Any:
    """Compares as DynamoDB does: numbers as numbers, and texts by their UTF-8 bytes."""
    [(tag, inner)] = wire.items()
    return Decimal(inner) if tag == "N" else inner.encode() if tag == "S" else inner


class Reading:
    """Decides how many items the next Query of one partition reads: a page, then twice as many, up to the limit."""

    __slots__ = ("_left", "_next")

    def __init__(self, limit: int, reads: int) -> None:
        self._left = reads
        self._next = limit

    def next(self) -> int:
        """Returns 0 if no more may be read."""
        return min(self._next, self._left)

    def read(self, count: int) -> None:
        self._left -= max(count, 1)
        self._next *= 2


@dataclass(frozen=True, slots=True)
class Stretch(Generic[Row]):
    """The rows read from one partition; `stop` is the position where reading ended, None at the partition's end."""

    rows: list[Row]
    stop: str | None


class FilteredRows(NamedTuple):
    rows: list[Any]
    more: bool
    reached: str | None  # where to continue, if that is not the last row


def merged_stretches(
    stretches: Sequence[Stretch[Row]], position: Callable[[Row], str], *, forward: bool, limit: int
) -> FilteredRows:
    """Returns a page of `limit` rows over all shards.

    INVARIANT: nothing is skipped: a row is only shown up to where every partition has been read.
    """
    stops = [stretch.stop for stretch in stretches if stretch.stop is not None]
    edge = (min if forward else max)(stops) if stops else None
    rows = [row for stretch in stretches for row in stretch.rows]
    if edge is not None:
        rows = [row for row in rows if (position(row) <= edge if forward else position(row) >= edge)]
    rows.sort(key=position, reverse=not forward)
    if len(rows) > limit:
        return FilteredRows(rows[:limit], True, None)
    return FilteredRows(rows, edge is not None, edge)
