"""Builds keys from rows: the key of the item that a reference names, and the global id of a row."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from re import compile as pattern
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

from gateway.errors import BadUserInput
from gateway.graph.global_id import item_id
from gateway.graph.query.lane.fallback import FallBack, NoLane, Reason
from gateway.graph.query.lane.generated import function
from gateway.graph.query.lane.values import Read, value_reader
from gateway.model.entity import Attribute, Entity
from gateway.model.keys import ItemKey, item_key, key_identity, key_parts
from gateway.model.tenant import TenantId, partition
from gateway.model.types import MAX_KEY_STRING, Id, KeyString, ListOf
from gateway.store.cursor import Cursors

# Builds the keys of the items that rows lead to, from `(rows, own, tenant)`: one for each row, or None if the row lacks
# a part of the key; or many for each row.
Keys = Callable[[list[Any], str, Any], list[Any]]


class HasFields(Protocol):
    """Maps attributes to the fields of a row."""

    @property
    def fields(self) -> Mapping[str, str]: ...

    def column(self, attribute: Attribute) -> Any: ...


_NONE: Mapping[str, Any] = MappingProxyType({})


class KeyTexts:
    """The key of an entity as f-strings, split at the marks in a key that the model has built.

    This works only if the variable parts appear in the key unchanged; otherwise it raises `NotPlain`.
    """

    def __init__(self, entity: Entity, marks: Mapping[str, str], names: dict[str, Any]) -> None:
        place = entity.primary
        kinds = {name: entity.attribute[name].type for name in marks}
        derived = place.shards is not None or place.bucket is not None or place.when is not None
        if derived or not all(isinstance(kind, Id | KeyString) and kind.plain for kind in kinds.values()):
            raise NotPlain
        self._entity = entity
        self._names = names
        self._pieces = 0
        self._variables = marks  # the variable of the generated function for each variable part
        names |= {"FallBack": FallBack, "Reason": Reason, "is_id": _id, "is_key_text": _key_text}
        self.kinds = kinds
        self.checks = {name: self._check(variable, kinds[name]) for name, variable in marks.items()}

    @staticmethod
    def _check(variable: str, kind: Any) -> str:
        if isinstance(kind, Id):
            return f"if not is_id({variable})"
        return f"if not is_key_text({variable}) or len({variable}.encode()) > {MAX_KEY_STRING}"

    def pair(self, given: Mapping[str, Any] = _NONE) -> str:
        """Returns the expression for both parts of a key; `given` are the parts without marks."""
        marks = {name: f"mark-{number}-" for number, name in enumerate(self._variables)}
        key = item_key(_EXAMPLE, self._entity, {**marks, **given})
        path = key.pk.removeprefix(partition(_EXAMPLE, ""))
        return f"({self._text('{own}', path)}, {self._text('', key.sk)})"

    def partition_text(self) -> tuple[str, str]:
        """Returns the expression for the partition key, and the sort key that all items of the entity share."""
        if self._entity.primary.sk.holes:
            raise NotPlain
        marks = {name: f"mark-{number}-" for number, name in enumerate(self._variables)}
        key = item_key(_EXAMPLE, self._entity, marks)
        return self._text("{own}", key.pk.removeprefix(partition(_EXAMPLE, ""))), key.sk

    def _text(self, start: str, text: str) -> str:
        variables, pieces = list(self._variables.values()), [start]
        for number, piece in enumerate(_MARK.split(text)):
            if number % 2:
                pieces.append(f"{{{variables[int(piece)]}}}")
            elif piece:
                name = f"k{self._pieces}"
                self._pieces += 1
                self._names[name] = piece
                pieces.append(f"{{{name}}}")
        return f'f"{"".join(pieces)}"' if len(pieces) > 2 else pieces[-1].strip("{}")


class NotPlain(Exception):
    """Only the model's own functions can build this key."""


_MARK = pattern(r"mark-([0-9]+)-")
_EXAMPLE = TenantId("any")
_id, _key_text = Id().key_pattern.fullmatch, KeyString().key_pattern.fullmatch
# matches many ids, each on its own line
_ids = pattern(f"(?:(?>{Id().key_pattern.pattern})\n)*+").fullmatch


@dataclass(frozen=True, slots=True)
class Binding:
    """How rows of `owner` lead to items of `target`: `bind` names the owner's attribute for each part of the key."""

    rows: HasFields
    owner: Entity
    target: Entity
    bind: Mapping[str, str]

    def readers(self) -> dict[str, tuple[str, Read]]:
        return {
            name: (self.rows.fields[own], value_reader(self.owner.attribute[own])) for name, own in self.bind.items()
        }

    def variables(self, names: dict[str, Any]) -> tuple[KeyTexts, dict[str, str]]:
        """Returns the texts of the key, and the fields of a row that fill their variables."""
        if not all(isinstance(self.owner.attribute[own].type, Id | KeyString) for own in self.bind.values()):
            raise NotPlain
        marks = {name: f"t{number}" for number, name in enumerate(self.bind)}
        fields = {name: f"row.{self.rows.fields[own]}" for name, own in self.bind.items()}
        return KeyTexts(self.target, marks, names), fields


def _filled(texts: KeyTexts, fields: Mapping[str, str]) -> list[str]:
    """Returns lines that assign the texts of a row to the variables of a key."""
    lines = []
    for number, (name, field) in enumerate(fields.items()):
        lines += [f"    t{number} = {field}.S", f"    {texts.checks[name]}: raise FallBack(Reason.ROW)"]
    return lines


_LOOP = ["def keys(rows, own, tenant):", "  found = []", "  for row in rows:"]


def reference_keys(binding: Binding) -> Keys:
    """Builds one key for each row, or None."""
    names: dict[str, Any] = {}
    try:
        texts, fields = binding.variables(names)
    except NotPlain:
        return _any_reference(binding)
    lines = list(_LOOP)
    if fields:
        absent = " or ".join(f"{field} is None" for field in fields.values())
        lines += [f"    if {absent}:", "      found.append(None)", "      continue"]
    lines += [*_filled(texts, fields), f"    found.append({texts.pair()})", "  return found"]
    return function("keys", lines, names)


class PartitionKeys(NamedTuple):
    """For items that differ only in their partition key: maps `(rows, own)` to one partition key per row, or None."""

    of_rows: Callable[[list[Any], str], list[str | None]]
    sort_key: str


def reference_partitions(binding: Binding) -> PartitionKeys | None:
    """Does the same as `reference_keys` for references by one id to an entity with a fixed sort key; otherwise None."""
    names: dict[str, Any] = {"are_ids": _ids}
    try:
        texts, fields = binding.variables(names)
        if [*map(type, texts.kinds.values())] != [Id]:
            return None
        key_text, sort_key = texts.partition_text()
    except NotPlain:
        return None
    [field] = fields.values()
    lines = ["def partitions(rows, own):", f"  texts = [{field}.S for row in rows if {field} is not None]"]
    # checks all of them together, each on its own line; none may contain a line feed
    lines.append('  lines = "\\n".join(texts) + "\\n"')
    lines.append(
        '  if texts and (are_ids(lines) is None or lines.count("\\n") != len(texts)): raise FallBack(Reason.ROW)'
    )
    lines.append(f"  if len(texts) == len(rows): return [{key_text} for t0 in texts]")
    absent = key_text.replace("{t0}", f"{{{field}.S}}")
    lines.append(f"  return [None if {field} is None else {absent} for row in rows]")
    return PartitionKeys(function("partitions", lines, names), sort_key)


def total_keys(binding: Binding, given: tuple[Mapping[str, Any], ...]) -> Keys:
    """Builds as many keys for each row as `given` has."""
    names: dict[str, Any] = {}
    try:
        texts, fields = binding.variables(names)
    except NotPlain:
        return _any_keys(binding, lambda row: given)
    lines = list(_LOOP)
    lines += [f"    if {field} is None: raise FallBack(Reason.ARGUMENT)" for field in fields.values()]
    pairs = ", ".join(texts.pair(values) for values in given)
    lines += [*_filled(texts, fields), f"    found.append([{pairs}])", "  return found"]
    return function("keys", lines, names)


def member_keys(binding: Binding, free: str, each: str) -> Keys:
    """Builds the keys that the list `each` of a row names: `free` is the part that a member fills."""
    members, kind = binding.rows.fields[each], binding.owner.attribute[each].type
    names: dict[str, Any] = {}
    try:
        if not isinstance(kind, ListOf) or not isinstance(kind.of, Id):
            raise NotPlain
        if not isinstance(binding.target.attribute[free].type, Id):
            raise NotPlain
        _, fields = binding.variables(names)
        marks = {**{name: f"t{number}" for number, name in enumerate(fields)}, free: "each"}
        texts = KeyTexts(binding.target, marks, names)
    except NotPlain:
        return _any_members(binding, free, members, value_reader(binding.owner.attribute[each]))
    lines = [*_LOOP, f"    if row.{members} is None or not row.{members}.L:"]
    lines += ["      found.append([])", "      continue"]
    lines += [f"    if {field} is None: raise FallBack(Reason.ARGUMENT)" for field in fields.values()]
    lines += [*_filled(texts, fields), f"    members = [member.S for member in row.{members}.L]"]
    lines.append("    if not all(map(is_id, members)): raise FallBack(Reason.ROW)")
    lines += [f"    found.append([{texts.pair()} for each in members])", "  return found"]
    return function("keys", lines, names)


def _any_reference(binding: Binding) -> Keys:
    """Builds keys of any form with the model's functions."""
    read, target = binding.readers(), binding.target

    def keys(rows: list[Any], own: str, tenant: Any) -> list[ItemKey | None]:
        row_values = [_values(row, read) for row in rows]
        return [None if None in values.values() else checked_key(tenant, target, values) for values in row_values]

    return keys


def _any_members(binding: Binding, free: str, field: str, members: Read) -> Keys:
    def given(row: Any) -> list[Mapping[str, Any]]:
        wire = getattr(row, field)
        return [] if wire is None else [{free: member} for member in members(wire)]

    return _any_keys(binding, given)


def _any_keys(binding: Binding, parts_of: Callable[[Any], Iterable[Mapping[str, Any]]]) -> Keys:
    read, target = binding.readers(), binding.target

    def keys(rows: list[Any], own: str, tenant: Any) -> list[list[ItemKey]]:
        row_keys = []
        for row in rows:
            values = _values(row, read)
            row_keys.append([checked_key(tenant, target, {**values, **own_parts}) for own_parts in parts_of(row)])
        return row_keys

    return keys


def _values(row: Any, read: Mapping[str, tuple[str, Read]]) -> dict[str, Any]:
    values = {}
    for name, (field, value) in read.items():
        wire = getattr(row, field)
        values[name] = None if wire is None else value(wire)
    return values


def argument_key(entity: Entity) -> Callable[[Mapping[str, Any], str, Any], ItemKey]:
    """Returns the function that builds an item's key from the arguments of a field: `(values, own, tenant)`."""
    names: dict[str, Any] = {"fallback": checked_key, "entity": entity}
    marks = {name: f"t{number}" for number, name in enumerate(entity.key_names)}
    try:
        texts = KeyTexts(entity, marks, names)
    except NotPlain:
        return lambda values, own, tenant: checked_key(tenant, entity, values)
    lines = ["def key(values, own, tenant):"]
    for number, name in enumerate(marks):
        names[f"n{number}"] = name
        odd = texts.checks[name].removeprefix("if ")
        lines.append(f"  t{number} = values.get(n{number})")
        lines.append(f"  if type(t{number}) is not str or {odd}: return fallback(tenant, entity, values)")
    return function("key", [*lines, f"  return {texts.pair()}"], names)


def checked_key(tenant: Any, entity: Entity, values: Mapping[str, Any]) -> ItemKey:
    try:
        return item_key(tenant, entity, values)
    except BadUserInput as error:
        raise FallBack(Reason.ARGUMENT) from error


def identity(rows: HasFields, entity: Entity, cursors: Cursors) -> Callable[[Any, str, str], str]:
    """Returns the function for the global id of a row.

    An id that is not encrypted reveals the key, so a role that may not read the whole key has no lane.
    """
    if not entity.id_needs:
        return _encrypted_id(entity, cursors)
    if not rows.fields.keys() >= set(entity.key_names):
        raise NoLane
    read = [(name, rows.fields[name], value_reader(entity.attribute[name])) for name in entity.key_names]

    def made(row: Any, own: str, scope: str) -> str:
        values = {}
        for name, field, value in read:
            wire = getattr(row, field)
            if wire is None:
                raise FallBack(Reason.ROW)
            values[name] = value(wire)
        try:
            parts = {**key_parts(entity, entity.primary.pk, values), **key_parts(entity, entity.primary.sk, values)}
        except BadUserInput as error:
            raise FallBack(Reason.ROW) from error
        return item_id(cursors, scope, entity, tuple(parts[name] for name in entity.key_names))

    return made


def _encrypted_id(entity: Entity, cursors: Cursors) -> Callable[[Any, str, str], str]:
    def made(row: Any, own: str, scope: str) -> str:
        parts = key_identity(own, entity, entity.primary, ItemKey(row.pk.S, row.sk.S))
        if parts is None:
            raise FallBack(Reason.ROW)
        return item_id(cursors, scope, entity, parts)

    return made
