"""Rows of one read, typed for what is selected of them, and the generated functions that turn them into answers."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from gateway.graph.query.lane.code_fields import CodeColumn, is_column
from gateway.graph.query.lane.columns import (
    ANY_VALUE,
    Column,
    NumberValue,
    StringValue,
    column,
    int32,
    one_of,
    plain_integer,
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
from gateway.store.plan import Attributes

Shape = Callable[[list[Any], str, str], list[Any]]
_KEY = "a{}"


class RowType:
    """The rows of one read: of one entity, or of an item and its collection; `fields` has each attribute's field.

    What a field of the answer needs is required of the row by its type, so that msgspec checks it while it decodes;
    where rows of two entities come together, the generated functions check it.
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
        """`through` is the index that leads to the rows, where they are read from the table."""
        self.model = model
        self.denied = denied
        self._selections = tuple(selections)
        entities = list(dict.fromkeys([*(each.entity.name for each in self._selections), *also]))
        self.entities = [model.stored[name] for name in entities]
        self.mixed = len(entities) > 1
        self.expires = any(entity.expiry is not None for entity in self.entities)
        table = model.table
        asked = frozenset[str]().union(*(each.attributes for each in self._selections), *also.values())
        names = sorted(asked - denied)
        self.fields = {name: _KEY.format(number) for number, name in enumerate(names)}
        required = set() if self.mixed else self._required()
        # the sort key of the order in which it was read; in the table itself that is its own
        self.position = "sk" if position == table.sk else "position"
        fields: list[tuple[str, Any, Any]] = [
            ("pk", StringValue, msgspec.UNSET),
            ("sk", StringValue, msgspec.UNSET),
            ("kind", one_of(*entities), msgspec.UNSET),
        ]
        rename = {"pk": table.pk, "sk": table.sk, "kind": table.entity_type, "ttl": table.ttl}
        optional: list[tuple[str, Any, Any]] = [("ttl", NumberValue | None, None)]
        if through is not None:  # the item may have left the index
            optional += [("partition", StringValue | None, None), ("position", StringValue | None, None)]
            rename |= {"partition": through.pk, "position": position}
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
        made = [(key, kind) if default is msgspec.UNSET else (key, kind, default) for key, kind, default in fields]
        self.type = msgspec.defstruct("Row", [*made, *optional], rename=rename, gc=False)

    def _required(self) -> set[str]:
        """Attributes that some field cannot be without."""
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
        """Where two entities store an attribute of one name differently, there is no lane."""
        made = column(attribute, below)
        if self._wire(attribute.name) == made.wire:
            return made
        raise NoLane


def entry_type(model: Model, index: Index) -> Any:
    """An entry of an index that only tells where its item is."""
    table = model.table
    fields = [("pk", StringValue), ("sk", StringValue), ("partition", StringValue), ("position", StringValue)]
    rename = {"pk": table.pk, "sk": table.sk, "partition": index.pk, "position": index.sk, "ttl": table.ttl}
    return msgspec.defstruct("Entry", [*fields, ("ttl", NumberValue | None, None)], rename=rename, gc=False)


class OutType:
    """The object in the answer for one selection; fields that are loaded are filled in later, by number."""

    def __init__(self, keys: list[str]) -> None:
        self.size = len(keys)
        self.type = msgspec.defstruct(
            "Out",
            [(f"f{number}", Any) for number in range(len(keys))],
            rename={f"f{number}": key for number, key in enumerate(keys)},
            gc=False,
        )


def shape(rows: RowType, selection: ItemSelection, out: OutType, denied: Attributes) -> Shape:
    """The function that makes the answers of these rows, and checks each row's tenant and what its fields need."""
    names: dict[str, Any] = {"Out": out.type, "StepBack": FallBack, "Reason": Reason}
    names["Row"] = rows.type  # for whoever reads the function: it tells which attribute a field holds
    checks = ["    if not row.pk.S.startswith(own): raise StepBack(Reason.FOREIGN_ROW)"]
    if not rows.expires:
        checks.append("    if row.ttl is not None: raise StepBack(Reason.EXPIRY)")
    if selection.entity.upgrades:
        names["current"] = str(selection.entity.schema)
        checks.append("    if row.schema is None or row.schema.N != current: raise StepBack(Reason.OLD_SCHEMA)")
    values: list[str] = []
    for number, field in enumerate(selection.fields):
        match field:
            case Typename():
                names[f"t{number}"] = field.value
                values.append(f"t{number}")
            case VersionField():
                key = f"row.{rows.fields[rows.model.table.version]}"
                names |= {"plain_integer": plain_integer, "version": version}
                values.append(f"int(n) if plain_integer(n := {key}.N) else version(n)")
                checks += _needed(rows, key)
            case IdField():
                names[f"g{number}"] = identity(rows, selection.entity)
                values.append(f"g{number}(row, scope)")
            case AttributeField():
                values.append(_value(rows, field, denied, names, checks))
            case CodeField() if is_column(field, denied):
                names[f"c{number}"] = CodeColumn(rows, selection.entity, field, denied)
                values.append(f"c{number}(row)")
            case _:
                values.append("None")  # its load fills it
    lines = ["def shape(rows, own, scope):", "  outs = []", "  add = outs.append", "  for row in rows:"]
    return function("shape", [*lines, *checks, f"    add(Out({', '.join(values)}))", "  return outs"], names)


def _value(rows: RowType, field: AttributeField, denied: Attributes, names: dict[str, Any], checks: list[str]) -> str:
    """The expression for an attribute; what it uses goes to `names`, what it needs to `checks`."""
    attribute = field.attribute
    nullable = attribute.personal or not attribute.required
    if attribute.name in denied:
        if not nullable:
            raise NoLane
        return "None"
    made, key = rows.column(attribute, field.below), f"row.{rows.fields[attribute.name]}"
    # two selections of one struct are written differently
    own = {f"{name}_{len(names)}" if name.startswith("write_") else name: value for name, value in made.names.items()}
    text = made.write
    for before, after in zip(made.names, own, strict=True):
        text = text.replace(f"{before}(", f"{after}(")
    names |= own
    if nullable:
        return f"None if {key} is None else {text.format(key)}"
    checks += _needed(rows, key)
    return text.format(key)


def _needed(rows: RowType, key: str) -> list[str]:
    return [f"    if {key} is None: raise StepBack(Reason.ROW)"] if rows.mixed else []


def version(text: str) -> int:
    try:
        return int32(int(text))
    except ValueError as error:
        raise FallBack(Reason.ROW) from error


def check_row(row: Any, entity: Entity, own: str) -> None:
    """What `shape` checks, for rows of which nothing is shown."""
    if not row.pk.S.startswith(own):
        raise FallBack(Reason.FOREIGN_ROW)
    if row.ttl is not None and entity.expiry is None:
        raise FallBack(Reason.EXPIRY)
    if entity.upgrades and (row.schema is None or str(entity.schema) != row.schema.N):
        raise FallBack(Reason.OLD_SCHEMA)


def converted(row: Any, kind: Any) -> Any:
    """A row that another read of the operation has brought."""
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
    """The numbers of the rows, in place of answers: for a total."""
    if name not in rows.fields:
        raise NoLane
    field, read = rows.fields[name], value_reader(entity.attribute[name])

    def numbers(found: list[Any], own: str, tenant: Any) -> list[Any]:
        values: list[Any] = []
        for row in found:
            check_row(row, entity, own)
            wire = getattr(row, field)
            values.append(0 if wire is None else read(wire))
        return values

    return numbers
