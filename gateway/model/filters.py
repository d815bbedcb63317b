"""Filters of listings: which comparisons a type allows, and the comparisons in a request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.model.entity import Attribute
from gateway.model.types import AttributeType, Boolean, EnumOf, Id, ListOf, SetOf

FILTER = "filter"  # the argument of a list
BETWEEN = "between"
CONTAINS = "contains"

_ORDERED = ("eq", "gt", "ge", "lt", "le", BETWEEN)
_TEXT = ("eq", "in", "beginsWith", CONTAINS)


def operators(attribute: Attribute) -> tuple[str, ...]:
    """The comparisons of an attribute; none if its stored form cannot be compared."""
    kind = attribute.type
    if attribute.compressed:
        return ()
    match kind:
        case Boolean():
            return ("eq",)
        case EnumOf() | Id():
            return ("eq", "in")
        case SetOf(of) | ListOf(of):
            return (CONTAINS,) if _has_text(of) else ()
    return _ORDERED if kind.ordered else _TEXT if _has_text(kind) else ()


def _has_text(kind: AttributeType) -> bool:
    return kind.tag == "S" and kind.scalar is not None and kind.scalar.name in ("String", "ID")


@dataclass(frozen=True, slots=True)
class Comparison:
    """`value` is a tuple for `in`."""

    attribute: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Filter:
    """Every comparison must hold; they are sorted, so that equal filters are equal."""

    comparisons: tuple[Comparison, ...]


def filter_of(argument: Mapping[str, Any]) -> Filter | None:
    """The caller's filter, or None if it compares nothing."""
    comparisons = [
        comparison for attribute, values in argument.items() if values for comparison in _comparisons(attribute, values)
    ]
    return (
        Filter(tuple(sorted(comparisons, key=lambda comparison: (comparison.attribute, comparison.operator))))
        if comparisons
        else None
    )


def _comparisons(attribute: str, operators: Mapping[str, Any]) -> Iterator[Comparison]:
    for operator, value in operators.items():
        if value is None:
            continue
        if operator == BETWEEN:
            ends = (("ge", value.get("from")), ("le", value.get("to")))
            yield from (Comparison(attribute, f"from {end}", limit) for end, limit in ends if limit is not None)
        else:
            yield Comparison(attribute, operator, tuple(value) if isinstance(value, list) else value)
