"""Reads the rows of a file as inputs of a mutation: JSON lines or CSV, each with its number and its values or
faults."""

import csv
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import orjson
from graphql import (
    GraphQLError,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    get_nullable_type,
    validate_input_value,
)

from gateway.errors import ConfigurationError

_WORDS = {"true": True, "false": False}
_NUMBERS = {"Int": int, "Float": float}


@dataclass(frozen=True, slots=True)
class RowError:
    """Why a row is not imported; `field` is the path of the wrong value."""

    code: str
    field: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Row:
    """`number` counts from 1, without empty lines and the header; `errors` are errors in its format."""

    number: int
    values: Any
    errors: tuple[RowError, ...] = ()


class RowReader:
    """Reads rows for one input type; `is_csv` is the format."""

    def __init__(self, kind: GraphQLInputObjectType, *, is_csv: bool) -> None:
        self._kind = kind
        self._is_csv = is_csv

    def read(self, file: TextIO) -> Iterator[Row]:
        return self._csv(file) if self._is_csv else self._json(file)

    def _json(self, file: TextIO) -> Iterator[Row]:
        lines = (line for line in file if line.strip())
        for number, line in enumerate(lines, 1):
            try:
                yield self._checked(number, orjson.loads(line))
            except orjson.JSONDecodeError as error:
                yield Row(number, line.rstrip("\n"), (_invalid(None, f"the line is not JSON: {error}"),))

    def _csv(self, file: TextIO) -> Iterator[Row]:
        rows = csv.DictReader(file, strict=True)
        names = rows.fieldnames or []
        unknown = [name for name in names if name not in self._kind.fields]
        if unknown or not names:
            field_names = ", ".join(self._kind.fields)
            named = f"has the columns {unknown}, which" if unknown else "has no header; these"
            raise ConfigurationError([f"the file {named} are not fields of {self._kind.name}: {field_names}"])
        for number, cells in enumerate(rows, 1):
            if None in cells or None in cells.values():
                yield Row(
                    number, cells.get(None) or cells, (_invalid(None, f"the row does not have {len(names)} cells"),)
                )
                continue
            values = {name: _cell(self._kind.fields[name].type, text) for name, text in cells.items() if text}
            yield self._checked(number, values)

    def _checked(self, number: int, values: Any) -> Row:
        """The row with every error that GraphQL would report; one such row would make GraphQL refuse the whole
        request."""
        errors: list[RowError] = []

        def note(error: GraphQLError, path: Sequence[str | int]) -> None:
            errors.append(_invalid(".".join(map(str, path)) or None, error.message))

        if not isinstance(values, dict):
            return Row(number, values, (_invalid(None, "the line is not a JSON object"),))
        validate_input_value(values, self._kind, note)
        return Row(number, values, tuple(errors))


def _cell(kind: GraphQLInputType, text: str) -> Any:
    """The text of a cell as the JSON of its type; an unreadable cell stays text, and is then a fault of the row."""
    inner: Any = get_nullable_type(kind)
    try:
        if isinstance(inner, GraphQLList | GraphQLInputObjectType):
            return orjson.loads(text)
        if inner.name == "Boolean":
            return _WORDS.get(text.lower(), text)
        return _NUMBERS[inner.name](text) if inner.name in _NUMBERS else text
    except ValueError:
        return text


def _invalid(field: str | None, message: str) -> RowError:
    return RowError("INVALID", field, message)


def chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while chunk := list(islice(iterator, size)):
        yield chunk


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
