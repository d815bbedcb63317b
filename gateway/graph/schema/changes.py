"""What a new schema changes for clients of an old one, and whether the changelog says so."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graphql import (
    BreakingChange,
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
    """`coordinate` is the name of what changes, such as `Order.note`."""

    coordinate: str
    description: str


@dataclass(frozen=True, slots=True)
class Changes:
    """Breaking ones fail operations that worked; dangerous ones may surprise them."""

    breaking: tuple[SchemaChange, ...]
    dangerous: tuple[SchemaChange, ...]


def changes(old: str, new: GraphQLSchema) -> Changes:
    try:
        before = build_schema(old)
    except GraphQLError as error:
        raise BadUserInput(f"the old schema is not valid: {error.message}") from error
    return Changes(
        tuple(_change(each) for each in find_breaking_changes(before, new)),
        tuple(_change(each) for each in find_dangerous_changes(before, new)),
    )


def _change(found: BreakingChange | object) -> SchemaChange:
    words = str(getattr(found, "description", found))
    return SchemaChange(_coordinate(words), words)


def _coordinate(words: str) -> str:
    if found := _COORDINATE.search(words):
        return found[0]
    named = _OWNER.search(words) or _TYPE.match(words)
    return named["name"] if named else words


def unannounced(breaking: Sequence[SchemaChange], changelog: str) -> list[SchemaChange]:
    """Those that the newest version's "Changed" and "Removed" do not name in backticks."""
    parts = _VERSION.split(changelog)
    newest = parts[1] if len(parts) > 1 else ""
    told = "\n".join(section["text"] for section in _SECTION.finditer(newest))
    return [change for change in breaking if f"`{change.coordinate}`" not in told]
