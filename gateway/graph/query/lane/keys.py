"""Keys that rows lead to: of the item that a reference names, and of a row's own global id."""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Protocol

from gateway.errors import BadUserInput
from gateway.graph.global_id import global_id
from gateway.graph.query.lane.columns import moment
from gateway.graph.query.lane.generated import function
from gateway.graph.query.lane.step_back import Reason, StepBack
from gateway.model.entity import Attribute, Entity
from gateway.model.keys import ItemKey, item_key, key_parts
from gateway.model.template import Hole, Template
from gateway.model.types import (
    MAX_KEY_TEXT,
    Choice,
    Flag,
    Id,
    Integer,
    KeyText,
    Number,
    Text,
    Timestamp,
    key_pattern,
)
from gateway.store.codec import decoder

# the keys of the items that rows lead to, or None where a row lacks what the key is made of
Keys = Callable[[list[Any], str, Any], list[ItemKey | None]]
Read = Callable[[Any], Any]


class HasFields(Protocol):
    """Where a row keeps an attribute."""

    @property
    def fields(self) -> Mapping[str, str]: ...


def value_reader(attribute: Attribute) -> Read:
    """The value of an attribute as the model has it, from the typed value of a row."""
    match attribute.type:
        case Text() | Id() | KeyText() if not attribute.compressed:
            return lambda wire: wire.S
        case Flag():
            return lambda wire: wire.BOOL
        case Timestamp():
            return lambda wire: moment(wire.S)
        case Choice(enum):
            return lambda wire: enum[wire.S]
        case Integer() | Number():
            return _number_reader(whole=isinstance(attribute.type, Integer))
    return _checked(decoder(attribute.type))


def _number_reader(*, whole: bool) -> Read:
    def read(wire: Any) -> int | Decimal:
        try:
            return int(Decimal(wire.N)) if whole else Decimal(wire.N)
        except (ValueError, OverflowError, InvalidOperation) as error:
            raise StepBack(Reason.ROW) from error

    return read


def _checked(decode: Read) -> Read:
    def read(wire: Any) -> Any:
        try:
            return decode(wire)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise StepBack(Reason.ROW) from error

    return read


def valid_id(text: str) -> str:
    if _id(text) is None:
        raise StepBack(Reason.ROW)
    return text


def valid_key_text(text: str) -> str:
    if _key_text(text) is None or len(text.encode()) > MAX_KEY_TEXT:
        raise StepBack(Reason.ROW)
    return text


_id, _key_text = key_pattern(Id()).fullmatch, key_pattern(KeyText()).fullmatch


def reference_keys(rows: HasFields, owner: Entity, target: Entity, bind: Mapping[str, str]) -> Keys:
    """`bind` names the attribute of the owner for each part of the target's key."""
    place = target.primary
    plain = place.shards is None and place.bucket is None and place.when is None
    if plain and all(isinstance(owner.attribute[bind[name]].type, Id | KeyText) for name in target.key_names):
        return _text_keys(rows, owner, target, bind)
    return _any_keys(rows, owner, target, bind)


def _text_keys(rows: HasFields, owner: Entity, target: Entity, bind: Mapping[str, str]) -> Keys:
    """Keys whose parts are texts already: written by one expression."""
    names: dict[str, Any] = {"valid_id": valid_id, "valid_key_text": valid_key_text, "ItemKey": ItemKey}
    fields = {name: f"row.{rows.fields[bind[name]]}" for name in target.key_names}
    parts = {}
    for name, field in fields.items():
        check = "valid_id" if isinstance(owner.attribute[bind[name]].type, Id) else "valid_key_text"
        parts[name] = f"{{{check}({field}.S)}}"
    pk, sk = (
        _expression(template, parts, names, letter)
        for template, letter in zip((target.primary.pk, target.primary.sk), "ps", strict=True)
    )
    absent = " or ".join(f"{field} is None" for field in fields.values())
    lines = ["def keys(rows, own, tenant):", "  found = []", "  for row in rows:"]
    if absent:
        lines += [f"    if {absent}:", "      found.append(None)", "      continue"]
    return function("keys", [*lines, f"    found.append((own + {pk}, {sk}))", "  return found"], names)


def _expression(template: Template, parts: Mapping[str, str], names: dict[str, Any], letter: str) -> str:
    """A template as an f-string; its words are values too."""
    text = []
    for number, segment in enumerate(template.segments):
        if isinstance(segment, Hole):
            text.append(parts[segment.name])
        else:
            names[f"{letter}{number}"] = segment.text
            text.append(f"{{{letter}{number}}}")
    return 'f"' + "#".join(text) + '"'


def _any_keys(rows: HasFields, owner: Entity, target: Entity, bind: Mapping[str, str]) -> Keys:
    """Keys of any form, made as everywhere else."""
    read = {name: (rows.fields[bind[name]], value_reader(owner.attribute[bind[name]])) for name in target.key_names}

    def keys(found: list[Any], own: str, tenant: Any) -> list[ItemKey | None]:
        made: list[ItemKey | None] = []
        for row in found:
            values = {}
            for name, (field, value) in read.items():
                wire = getattr(row, field)
                values[name] = None if wire is None else value(wire)
            made.append(None if None in values.values() else checked_key(tenant, target, values))
        return made

    return keys


def argument_key(entity: Entity) -> Callable[[Mapping[str, Any], str, Any], ItemKey]:
    """The key of an item from the arguments of a field: `(values, own, tenant)`."""
    place = entity.primary
    plain = place.shards is None and place.bucket is None and place.when is None
    if not plain or not all(isinstance(entity.attribute[name].type, Id) for name in entity.key_names):
        return lambda values, own, tenant: checked_key(tenant, entity, values)
    names: dict[str, Any] = {"fallback": checked_key, "entity": entity, "fits": _id, "ItemKey": ItemKey}
    parts, lines = {}, ["def key(values, own, tenant):"]
    for number, name in enumerate(entity.key_names):
        names[f"n{number}"] = name
        lines.append(f"  v{number} = values.get(n{number})")
        lines.append(f"  if type(v{number}) is not str or fits(v{number}) is None:")
        lines.append("    return fallback(tenant, entity, values)")
        parts[name] = f"{{v{number}}}"
    pk, sk = _expression(place.pk, parts, names, "p"), _expression(place.sk, parts, names, "s")
    return function("key", [*lines, f"  return ItemKey(own + {pk}, {sk})"], names)


def checked_key(tenant: Any, entity: Entity, values: Mapping[str, Any]) -> ItemKey:
    try:
        return item_key(tenant, entity, values)
    except BadUserInput as error:
        raise StepBack(Reason.ARGUMENT) from error


def identity(rows: HasFields, entity: Entity) -> Callable[[Any, Any], str]:
    """The global id of the item of a row."""
    read = [(name, rows.fields[name], value_reader(entity.attribute[name])) for name in entity.key_names]

    def made(row: Any, tenant: Any) -> str:
        values = {}
        for name, field, value in read:
            wire = getattr(row, field)
            if wire is None:
                raise StepBack(Reason.ROW)
            values[name] = value(wire)
        try:
            parts = {**key_parts(entity, entity.primary.pk, values), **key_parts(entity, entity.primary.sk, values)}
        except BadUserInput as error:
            raise StepBack(Reason.ROW) from error
        return global_id(tenant, entity.name, tuple(parts[name] for name in entity.key_names))

    return made
