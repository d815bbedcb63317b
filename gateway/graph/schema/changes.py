"""The changes between two schemas that affect clients, and whether the changelog announces them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphql import (
    GraphQLError,
    GraphQLSchema,
    build_schema,
    find_breaking_changes,
    find_dangerous_changes,
)

from gateway.errors import BadUserInput

# `Order.note`, `Query.order(orderId:)`, `@include(if:)`
_COORDINATE = re.compile(r"@\w+(?:\(\w+:\))?|\w+\.\w+(?:\(\w+:\))?")
_OWNER = re.compile(r"from union type (?P<name>\w+)")
_TYPE = re.compile(r"(?:Standard scalar )?(?P<name>\w+)")
_VERSION = re.compile(r"^## ", re.MULTILINE)
_SECTION = re.compile(r"^### (?:Changed|Removed)\n(?P<text>.*?)(?=^### |\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """`coordinate` is the schema coordinate of the changed element, such as `Order.note`."""

    coordinate: str
    description: str


@dataclass(frozen=True, slots=True)
class Changes:
    """A breaking change makes valid operations fail; a dangerous one may change their behavior."""

    breaking: tuple[SchemaChange, ...]
    dangerous: tuple[SchemaChange, ...]


def changes(old: str, new: GraphQLSchema) -> Changes:
    try:
        before = build_schema(old)
    except GraphQLError as error:
        raise BadUserInput(f"the old schema is not valid: {error.message}") from error
    return Changes(
        tuple(_change(change.description) for change in find_breaking_changes(before, new)),
        tuple(_change(change.description) for change in find_dangerous_changes(before, new)),
    )


def _change(description: str) -> SchemaChange:
    """graphql-core names the changed element only in the description."""
    if coordinate := _COORDINATE.search(description):
        return SchemaChange(coordinate[0], description)
    owner = _OWNER.search(description) or _TYPE.match(description)
    return SchemaChange(owner["name"] if owner else description, description)


def unannounced(breaking: Sequence[SchemaChange], changelog: str) -> list[SchemaChange]:
    """The breaking changes that the newest version does not name, in backticks, under "Changed" or "Removed"."""
    parts = _VERSION.split(changelog)
    newest = parts[1] if len(parts) > 1 else ""
    announced = "\n".join(section["text"] for section in _SECTION.finditer(newest))
    return [change for change in breaking if f"`{change.coordinate}`" not in announced]
