"""Values to DynamoDB JSON and back, compiled once for each attribute type."""

import base64
import decimal
import zlib
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum as PythonEnum
from typing import Any

from gateway.errors import BadUserInput, Internal
from gateway.model.entity import Attribute
from gateway.model.types import (
    AttributeType,
    Blob,
    Boolean,
    Decimal,
    Enum,
    Field,
    Id,
    Integer,
    KeyString,
    ListOf,
    SetOf,
    Struct,
    Text,
    Timestamp,
    key_text,
    number_of,
    timestamp_text,
)

Wire = dict[str, Any]
Decode = Callable[[Wire], Any]

_COMPRESS_FROM = 1_024  # below that, compression costs more than it saves
_MAX_INFLATED = 4_000_000
_TEXT_MAGIC, _BYTES_MAGIC = b"\x01t", b"\x01b"


def encode_attribute(attribute: Attribute, value: Any) -> Wire:
    """One attribute as it is stored; a wrong value is a `BadUserInput` that names the attribute."""
    kind = attribute.type
    # most attributes are ids and texts
    wire = (
        {"S": _bounded_text(attribute.name, value, kind.max_length)}
        if type(kind) is Text
        else encode(attribute.name, kind, value)
    )
    if not attribute.compressed:
        return wire
    magic, raw = (_TEXT_MAGIC, value.encode()) if isinstance(value, str) else (_BYTES_MAGIC, value)
    return wire if len(raw) < _COMPRESS_FROM else _deflated(attribute.name, magic, raw)


def encode(name: str, kind: AttributeType, value: Any) -> Wire:  # noqa: C901  one short case for each type
    match kind:
        case Text(max_length):
            return {"S": _bounded_text(name, value, max_length)}
        case Id() | KeyString():
            return {"S": key_text(name, kind, value)}
        case Integer():
            return {"N": str(_whole(name, value))}
        case Decimal():
            return {"N": str(number_of(name, value))}
        case Boolean():
            return {"BOOL": _instance(name, value, bool, "true or false")}
        case Timestamp():
            return {"S": timestamp_text(name, value)}
        case Enum():
            return {"S": key_text(name, kind, value)}
        case Blob(max_length):
            return _blob(name, _bounded_bytes(name, value, max_length))
        case SetOf(of):
            return _set(name, of, value)
        case ListOf(of, max_items):
            return {"L": [encode(name, of, item) for item in _bounded_list(name, value, max_items)]}
        case Struct(_, fields):
            return {"M": _encode_fields(name, fields, value)}


def _encode_fields(name: str, fields: tuple[Field, ...], value: Any) -> Wire:
    given = _instance(name, value, Mapping, "an object")
    unknown = set(given) - {field.name for field in fields}
    if unknown:
        raise BadUserInput(f"`{name}` has no field `{min(unknown)}`", name)
    wire: Wire = {}
    for field in fields:
        if given.get(field.name) is not None:
            wire[field.name] = encode(f"{name}.{field.name}", field.type, given[field.name])
        elif field.required:
            raise BadUserInput(f"`{name}.{field.name}` is required", f"{name}.{field.name}")
    return wire


def _blob(name: str, content: bytes) -> Wire:
    # what only looks compressed is compressed, or it could not be read back
    if content.startswith(_BYTES_MAGIC):
        return _deflated(name, _BYTES_MAGIC, content)
    return {"B": base64.b64encode(content).decode()}


def _deflated(name: str, magic: bytes, raw: bytes) -> Wire:
    if len(raw) > _MAX_INFLATED:
        raise BadUserInput(f"`{name}` has {len(raw)} bytes, at most {_MAX_INFLATED} can be stored", name)
    return {"B": base64.b64encode(magic + zlib.compress(raw, 6)).decode()}


def _set(name: str, of: Text | Id | KeyString | Integer | Decimal, value: Any) -> Wire:
    letter = "N" if isinstance(of, Integer | Decimal) else "S"
    members = [encode(name, of, member)[letter] for member in _instance(name, value, set | frozenset, "a set")]
    if not members:
        raise BadUserInput(f"`{name}` is an empty set; leave it out instead", name)
    return {f"{letter}S": sorted(members)}


def _instance(name: str, value: Any, kind: Any, words: str) -> Any:
    if not isinstance(value, kind):
        raise BadUserInput(f"`{name}` needs {words}", name)
    return value


def _whole(name: str, value: Any) -> int:
    number = number_of(name, value)
    if number != int(number):
        raise BadUserInput(f"`{name}` needs a whole number", name)
    return int(number)


def _bounded_text(name: str, value: Any, limit: int) -> str:
    text: str = value if type(value) is str else _instance(name, value, str, "a string")
    if len(text) > limit:
        raise BadUserInput(f"`{name}` has {len(text)} characters, at most {limit} are allowed", name)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadUserInput(f"`{name}` is not valid Unicode text", name) from error
    return text


def _bounded_bytes(name: str, value: Any, limit: int) -> bytes:
    content: bytes = _instance(name, value, bytes, "bytes")
    if len(content) > limit:
        raise BadUserInput(f"`{name}` has {len(content)} bytes, at most {limit} are allowed", name)
    return content


def _bounded_list(name: str, value: Any, limit: int) -> list[Any] | tuple[Any, ...]:
    items: list[Any] = _instance(name, value, list | tuple, "a list")
    if len(items) > limit:
        raise BadUserInput(f"`{name}` has {len(items)} members, at most {limit} are allowed", name)
    return items


def decoder(kind: AttributeType) -> Decode:  # noqa: C901  one short case for each type
    """The function that reads a stored value of this type."""
    match kind:
        case Text() | Id() | KeyString():
            return _text
        case Integer():
            return lambda wire: int(wire["N"]) if wire["N"].lstrip("-").isdigit() else int(decimal.Decimal(wire["N"]))
        case Decimal():
            return lambda wire: decimal.Decimal(wire["N"])
        case Boolean():
            return lambda wire: wire["BOOL"]
        case Timestamp():
            return lambda wire: datetime.fromisoformat(wire["S"])
        case Enum(enum):
            return _choice_decoder(enum)
        case Blob():
            return _bytes
        case SetOf(of):
            return _set_decoder(of)
        case ListOf(of):
            return _list_decoder(decoder(of))
        case Struct(_, fields):
            return _struct_decoder({field.name: decoder(field.type) for field in fields})


def _choice_decoder(enum: type[PythonEnum]) -> Decode:
    members = {member.name: member for member in enum}
    return lambda wire: members[wire["S"]]


def _list_decoder(inner: Decode) -> Decode:
    return lambda wire: [inner(item) for item in wire["L"]]


def _set_decoder(of: Text | Id | KeyString | Integer | Decimal) -> Decode:
    letter = "NS" if isinstance(of, Integer | Decimal) else "SS"
    inner, single = decoder(of), letter[0]
    return lambda wire: frozenset(inner({single: member}) for member in wire[letter])


def _struct_decoder(fields: Mapping[str, Decode]) -> Decode:
    known = tuple(fields.items())
    return lambda wire: {name: read(wire["M"][name]) for name, read in known if name in wire["M"]}


def _text(wire: Wire) -> str:
    plain: str | None = wire.get("S")
    return plain if plain is not None else _inflated(base64.b64decode(wire["B"]), _TEXT_MAGIC).decode()


def _bytes(wire: Wire) -> bytes:
    raw = base64.b64decode(wire["B"])
    return _inflated(raw, _BYTES_MAGIC) if raw.startswith(_BYTES_MAGIC) else raw


def _inflated(raw: bytes, magic: bytes) -> bytes:
    if not raw.startswith(magic):
        raise Internal("a stored attribute has an unknown compression")
    inflate = zlib.decompressobj()
    try:
        content = inflate.decompress(raw[len(magic) :], _MAX_INFLATED)
    except zlib.error as error:
        raise Internal("a stored attribute cannot be decompressed") from error
    if not inflate.eof:
        raise Internal("a stored attribute is cut off or larger than it may be")
    return content
