"""The typed rows of a read, and the generated functions that turn them into results."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from gateway.graph.query.lane.code_fields import CodeColumn, is_column
from gateway.graph.query.lane.columns import (
    ANY_VALUE,
    Column,
    Numbers,
    NumberValue,
    StringValue,
    column,
    int32,
    one_of,
    versions,
)
from gateway.graph.query.lane.fallback import FallBack, NoLane, Reason
from gateway.graph.query.lane.generated import function
from gateway.graph.query.lane.keys import identity
from gateway.graph.query.lane.values import value_reader
from gateway.graph.query.tree import (
    AttributeField,
    CodeField,
    IdField,
    ItemSelection,
    StructFields,
    Typename,
    VersionField,
)
from gateway.model.entity import Attribute, Entity
from gateway.model.model import Model
from gateway.model.table import Index
from gateway.store.cursor import Cursors
from gateway.store.plan import Attributes

Shape = Callable[[list[Any], str, str], list[Any]]
_KEY = "a{}"


class RowType:
    """The type of the rows of one read: of one entity, or of an item and its collection.

    `fields` has the field of the row for each attribute. An attribute that a field of the response needs is required in
    the row's type, so that msgspec checks it while decoding; if a read returns rows of two entities, the generated
    functions check it.
    """

    def __init__(
        self,
        model: Model,
        selections: Iterable[ItemSelection],
        position: str,
        *,
        also: dict[str, Attributes],
        denied: Attributes,
        through: Index | None = None,
    ) -> None:
        """`through` is the index that leads to the rows, if they are read from the table."""
        self.model = model
        self.denied = denied
        self._selections = tuple(selections)
        entities = list(dict.fromkeys([*(selection.entity.name for selection in self._selections), *also]))
        self.entities = [model.stored[name] for name in entities]
        self.mixed = len(entities) > 1
        self.expires = any(entity.expiry is not None for entity in self.entities)
        table = model.table
        requested = frozenset[str]().union(*(selection.attributes for selection in self._selections), *also.values())
        names = sorted(requested - denied)
        self.fields = {name: _KEY.format(number) for number, name in enumerate(names)}
        required = set() if self.mixed else self._required()
        # the sort key by which the rows are ordered; in the table itself this is `sk`
        self.position = "sk" if position == table.sk else "position"
        fields: list[tuple[str, Any, Any]] = [
            ("pk", StringValue, msgspec.UNSET),
            ("sk", StringValue, msgspec.UNSET),
            ("kind", one_of(*entities), msgspec.UNSET),
        ]
        rename = {"pk": table.pk, "sk": table.sk, "kind": table.entity_type, "ttl": table.ttl}
        optional: list[tuple[str, Any, Any]] = [("ttl", NumberValue | None, None)]
        if through is not None:  # the item may have left the index
            optional.append(("position", StringValue | None, None))
            rename["position"] = position
            if not through.local:  # a local index has the partition key of the table
                optional.append(("partition", StringValue | None, None))
                rename["partition"] = through.pk
        elif position != table.sk:
            fields.append(("position", StringValue, msgspec.UNSET))
            rename["position"] = position
        if any(entity.upgrades for entity in self.entities):
            optional.append(("schema", NumberValue | None, None))
            rename["schema"] = table.schema
        for name, key in self.fields.items():
            wire = self._wire(name)
            rename[key] = name
            if name in required:
                fields.append((key, wire, msgspec.UNSET))
            else:
                optional.append((key, wire | None, None))
        specs = [(key, kind) if default is msgspec.UNSET else (key, kind, default) for key, kind, default in fields]
        self.type = msgspec.defstruct("Row", [*specs, *optional], rename=rename, gc=False)

    def _required(self) -> set[str]:
        """Returns the attributes that some field requires."""
        return {
            field.attribute.name
            for selection in self._selections
            for field in selection.fields
            if isinstance(field, AttributeField) and field.attribute.required and not field.attribute.personal
        } | {
            self.model.table.version
            for selection in self._selections
            for field in selection.fields
            if isinstance(field, VersionField)
        }

    def _wire(self, name: str) -> Any:
        if name == self.model.table.version:
            return NumberValue
        kinds = {column(entity.attribute[name], ()).wire for entity in self.entities if name in entity.attribute}
        return kinds.pop() if len(kinds) == 1 else ANY_VALUE

    def column(self, attribute: Attribute, below: StructFields = ()) -> Column:
        """Raises `NoLane` if two entities store an attribute of the same name differently."""
        stored_column = column(attribute, below)
        if self._wire(attribute.name) == stored_column.wire:
            return stored_column
        raise NoLane


def entry_type(model: Model, index: Index) -> Any:
    """Returns the type of an index entry that only contains the key of its item."""
    table = model.table
    fields = [("pk", StringValue), ("sk", StringValue), ("position", StringValue)]
    rename = {"pk": table.pk, "sk": table.sk, "position": index.sk, "ttl": table.ttl}
    if not index.local:
        fields.append(("partition", StringValue))
        rename["partition"] = index.pk
    return msgspec.defstruct("Entry", [*fields, ("ttl", NumberValue | None, None)], rename=rename, gc=False)


class OutType:
    """The type of the results of one selection; loaded fields are filled in later, by number."""

    def __init__(self, keys: list[str]) -> None:
        self.size = len(keys)
        self.type = msgspec.defstruct(
            "Out",
            [(f"f{number}", Any) for number in range(len(keys))],
            rename={f"f{number}": key for number, key in enumerate(keys)},
            gc=False,
        )


class _ShapeSource:
    """Collects the source of a shape: the checks on its rows, and the values of a result."""

    def __init__(self, rows: RowType, denied: Attributes) -> None:
        self.rows = rows
        self.denied = denied
        self.names: dict[str, Any] = {"FallBack": FallBack, "Reason": Reason}
        self.checks = ["    if not row.pk.S.startswith(own): raise FallBack(Reason.FOREIGN_ROW)"]
        self.columns: list[str] = []  # lines that encode the numbers of all rows together
        # the variable for one row's number, and the variable for the list of all
        self.sources: list[tuple[str, str]] = []
        self.values: list[str] = []

    def name(self, prefix: str, value: Any) -> str:
        name = f"{prefix}{len(self.names)}"
        self.names[name] = value
        return name

    def need(self, key: str) -> None:
        if self.rows.mixed:
            self.checks.append(f"    if {key} is None: raise FallBack(Reason.ROW)")

    def attribute(self, field: AttributeField) -> str:
        """Returns the expression for an attribute."""
        attribute = field.attribute
        nullable = attribute.personal or not attribute.required
        if attribute.name in self.denied:
            if not nullable:
                raise NoLane
            return "None"
        stored_column, key = self.rows.column(attribute, field.below), f"row.{self.rows.fields[attribute.name]}"
        if nullable:
            return f"None if {key} is None else {self._written(stored_column).format(key)}"
        self.need(key)
        if stored_column.numbers is not None:
            return self.column(key, stored_column.numbers)
        return self._written(stored_column).format(key)

    def column(self, key: str, numbers: Numbers) -> str:
        """Returns the variable of a row's number; the numbers of all rows are encoded before the first result."""
        number = len(self.columns)
        plain, odd = self.name("plain_", numbers.plain), self.name("odd_", numbers.odd_ones)
        texts = f"all{number}"
        self.names |= numbers.names
        self.columns += [
            f"  {texts} = [{key}.N for row in rows]",
            f'  lines = "\\n".join({texts}) + "\\n"',
            # no number may contain a line feed
            f'  is_plain = {plain}(lines) is not None and lines.count("\\n") == len(rows)',
            f"  {texts} = {numbers.write.format(texts)} if is_plain else {odd}({texts})",
        ]
        self.sources.append((f"c{number}", texts))
        return f"c{number}"

    def _written(self, stored_column: Column) -> str:
        """Encodes a struct with functions of its own, because two selections of one struct are encoded differently."""
        text = stored_column.write
        for before, value in stored_column.names.items():
            if before.startswith("write_"):
                text = text.replace(f"{before}(", f"{self.name(before, value)}(")
            else:
                self.names[before] = value
        return text

    def function(self) -> Shape:
        lines = ["def shape(rows, own, scope):", "  for row in rows:", *self.checks]
        lines += self.columns
        variables, lists = ["row", *(text for text, _ in self.sources)], ["rows", *(text for _, text in self.sources)]
        targets, source = ", ".join(variables), f"zip({', '.join(lists)})" if self.sources else "rows"
        lines.append(f"  return [Out({', '.join(self.values)}) for {targets} in {source}]")
        return function("shape", lines, self.names)


def shape(rows: RowType, selection: ItemSelection, out: OutType, denied: Attributes, cursors: Cursors) -> Shape:
    """Returns the function that turns rows into results; it checks the tenant and the required fields of each row."""
    source = _ShapeSource(rows, denied)
    # the row's type is for readers of the generated source: it shows which attribute a field holds
    source.names |= {"Out": out.type, "Row": rows.type}
    if not rows.expires:
        source.checks.append("    if row.ttl is not None: raise FallBack(Reason.EXPIRY)")
    if selection.entity.upgrades:
        source.names["current"] = str(selection.entity.schema)
        source.checks.append("    if row.schema is None or row.schema.N != current: raise FallBack(Reason.OLD_SCHEMA)")
    for field in selection.fields:
        match field:
            case Typename():
                value = source.name("t", field.value)
            case VersionField():
                key = f"row.{rows.fields[rows.model.table.version]}"
                source.need(key)
                value = source.column(key, versions(version))
            case IdField():
                value = f"{source.name('g', identity(rows, selection.entity, cursors))}(row, own, scope)"
            case AttributeField():
                value = source.attribute(field)
            case CodeField() if is_column(field, denied):
                value = f"{source.name('code', CodeColumn(rows, selection.entity, field, denied))}(row)"
            case _:
                value = "None"  # a load fills it in
        source.values.append(value)
    return source.function()


def version(text: str) -> int:
    try:
        return int32(int(text))
    except ValueError as error:
        raise FallBack(Reason.ROW) from error


def check_row(row: Any, entity: Entity, own: str) -> None:
    """Makes the checks of `shape` for a row that is not shown."""
    if not row.pk.S.startswith(own):
        raise FallBack(Reason.FOREIGN_ROW)
    if row.ttl is not None and entity.expiry is None:
        raise FallBack(Reason.EXPIRY)
    if entity.upgrades and (row.schema is None or str(entity.schema) != row.schema.N):
        raise FallBack(Reason.OLD_SCHEMA)


def converted(row: Any, kind: Any) -> Any:
    """Converts a row that another read of the operation has returned."""
    if type(row) is kind:
        return row
    try:
        return msgspec.convert(msgspec.to_builtins(row), kind)
    except msgspec.MsgspecError as error:
        raise FallBack(Reason.ROW) from error


def is_expired(row: Any, now: float) -> bool:
    if row.ttl is None:
        return False
    try:
        return float(row.ttl.N) <= now
    except ValueError as error:
        raise FallBack(Reason.ROW) from error


def number_shape(rows: RowType, entity: Entity, name: str) -> Shape:
    """Returns the function that turns rows into numbers instead of results, for a total."""
    if name not in rows.fields:
        raise NoLane
    field, read = rows.fields[name], value_reader(entity.attribute[name])

    def numbers(read_rows: list[Any], own: str, tenant: Any) -> list[Any]:
        values: list[Any] = []
        for row in read_rows:
            check_row(row, entity, own)
            wire = getattr(row, field)
            values.append(0 if wire is None else read(wire))
        return values

    return numbers
