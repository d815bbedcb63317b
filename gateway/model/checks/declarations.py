"""Python mistakes in declarations: a tuple without its comma, `str` as a type, `Id` without parentheses."""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from decimal import Decimal
from typing import Any

from gateway.model.entity import Attribute, Collection, Copy, Entity, OnIndex, Reference, Total, Upgrade
from gateway.model.types import AttributeType, EnumOf, Field, ListOf, SetOf, Struct

Members = Mapping[str, type | tuple[type, ...]]

_ENTITY: Members = {
    "attributes": Attribute,
    "indexes": OnIndex,
    "copies": Copy,
    "relations": (Reference, Collection, Total),
    "unique": str,
    "upgrades": Upgrade,
}
_INSTEAD: Mapping[type, str] = {
    str: "Text(), Id() or KeyString()",
    int: "Integer()",
    float: "DecimalNumber()",
    Decimal: "DecimalNumber()",
    bool: "Boolean()",
    datetime: "Timestamp()",
    bytes: "Blob()",
    list: "ListOf(...)",
    set: "SetOf(...)",
    dict: "Struct(...)",
}
_ANY = "a type of gateway.model.types, such as Text() or Id()"
_SET_MEMBERS = ("S", "N")


def tuple_faults(declared: object, members: Members) -> Iterator[str]:
    """What is wrong with the fields of a declaration that hold several members."""
    for name, kind in members.items():
        value = getattr(declared, name)
        if isinstance(value, tuple):
            strange = [member for member in value if not isinstance(member, kind)]
            yield from (f"`{name}` holds a `{type(each).__name__}`; it takes {_words(kind)}" for each in strange)
        elif isinstance(value, str):
            yield f"`{name}` must be a tuple; write `({value!r},)`, with a comma after the only member"
        elif isinstance(value, kind):
            yield f"`{name}` must be a tuple; put a comma after its only member"
        else:
            yield f"`{name}` must be a tuple, not a `{type(value).__name__}`"


def _words(kind: type | tuple[type, ...]) -> str:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return " or ".join("strings" if each is str else each.__name__ for each in kinds)


def entity_tuple_faults(entity: Entity) -> Iterator[str]:
    faults = [*tuple_faults(entity, _ENTITY)]
    yield from faults
    if faults:
        return
    for place in entity.indexes:
        if place.when is not None:
            faults = [*tuple_faults(place.when, {"values": str})]
            yield from (f"the condition on {place.index}: {fault}" for fault in faults)
    for upgrade in entity.upgrades:
        faults = [*tuple_faults(upgrade, {"needs": Attribute, "gives": str})]
        yield from (f"the upgrade to {upgrade.to}: {fault}" for fault in faults)


def type_faults(kind: Any) -> Iterator[str]:
    """What is wrong with what stands where a type of the model is expected, and what to write instead."""
    match kind:
        case type() if issubclass(kind, AttributeType):
            yield f"its type is the class {kind.__name__}; write `{_called(kind)}`"
        case type() if _is_enum(kind):
            yield f"its type is the enum {kind.__name__}; write `EnumOf({kind.__name__})`"
        case type():
            yield f"its type is Python's `{kind.__name__}`; use {_INSTEAD.get(kind, _ANY)}"
        case SetOf(AttributeType() as of) if of.tag not in _SET_MEMBERS:
            yield f"a set holds strings or numbers, not {of.documentation}; use `ListOf`"
        case SetOf(of) | ListOf(of):
            yield from type_faults(of)
        case Struct(name):
            yield from (f"{name}: {fault}" for fault in field_faults(kind, "fields"))
        case EnumOf() if not _is_enum(kind.enum):
            yield "EnumOf takes an enum class, such as `EnumOf(Colour)`"
        case _ if not isinstance(kind, AttributeType):
            yield f"its type is {kind!r}; use {_ANY}"


def _is_enum(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def field_faults(declared: object, name: str) -> Iterator[str]:
    """What is wrong with the fields under this name, and with their types."""
    faults = [*tuple_faults(declared, {name: Field})]
    yield from faults
    for field in () if faults else getattr(declared, name):
        yield from (f"`{field.name}`: {fault}" for fault in type_faults(field.type))


def _called(kind: type[AttributeType]) -> str:
    parameters = fields(kind)  # type: ignore[arg-type]  # every type is a dataclass
    needed = any(field.default is MISSING and field.default_factory is MISSING for field in parameters)
    return f"{kind.__name__}(...)" if needed else f"{kind.__name__}()"
