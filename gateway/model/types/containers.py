"""Types composed of other types: sets, lists and nested records."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

from gateway.errors import BadUserInput
from gateway.model.types.base import AttributeType, Decode, Field, Wire, expect


def with_inner(kind: AttributeType) -> Iterator[AttributeType]:
    """The type and every type inside it."""
    yield kind
    match kind:
        case SetOf(of) | ListOf(of):
            yield from with_inner(of)
        case Struct(_, fields):
            for field in fields:
                yield from with_inner(field.type)


@final
@dataclass(frozen=True, slots=True)
class SetOf(AttributeType):
    """A set of strings or numbers: without order, and never empty in the table."""

    of: AttributeType

    @property
    def tag(self) -> str:  # type: ignore[override]  # depends on the members
        return f"{self.of.tag}S"

    @property
    def documentation(self) -> str:
        return f"set of: {self.of.documentation}"

    @property
    def sample(self) -> frozenset[Any]:
        return frozenset({self.of.sample})

    def encode(self, name: str, value: Any) -> Wire:
        values = expect(name, value, set | frozenset, "a set")
        if not values:
            raise BadUserInput(f"`{name}` is an empty set; leave it out instead", name)
        return {self.tag: sorted(self.of.encode(name, member)[self.of.tag] for member in values)}

    def normalised(self, value: Any) -> Any:
        return frozenset(map(self.of.normalised, value)) if isinstance(value, set | frozenset) else value

    def broken_rules(self, path: str, value: Any) -> Iterator[BadUserInput]:
        for member in sorted(value, key=str):
            yield from self.of.broken_rules(path, member)

    def decoder(self) -> Decode:
        inner, tag, member_tag = self.of.decoder(), self.tag, self.of.tag
        return lambda wire: frozenset(inner({member_tag: member}) for member in wire[tag])


@final
@dataclass(frozen=True, slots=True)
class ListOf(AttributeType):
    """A list of values of one type."""

    of: AttributeType
    max_items: int = 100

    tag = "L"

    @property
    def documentation(self) -> str:
        return f"list of at most {self.max_items}: {self.of.documentation}"

    @property
    def sample(self) -> list[Any]:
        return [self.of.sample]

    def encode(self, name: str, value: Any) -> Wire:
        items = expect(name, value, list | tuple, "a list")
        if len(items) > self.max_items:
            raise BadUserInput(f"`{name}` has {len(items)} members, at most {self.max_items} are allowed", name)
        return {"L": [self.of.encode(f"{name}.{position}", item) for position, item in enumerate(items)]}

    def normalised(self, value: Any) -> Any:
        return [self.of.normalised(item) for item in value] if isinstance(value, list | tuple) else value

    def faults(self, path: str, value: Any) -> Iterator[BadUserInput]:
        if not isinstance(value, list | tuple) or len(value) > self.max_items:
            yield from AttributeType.faults(self, path, value)
            return
        for position, item in enumerate(value):
            yield from self.of.faults(f"{path}.{position}", item)

    def decoder(self) -> Decode:
        inner = self.of.decoder()
        return lambda wire: [inner(item) for item in wire["L"]]


@dataclass(frozen=True, slots=True)
class Struct(AttributeType):
    """A nested record, such as an address; `fields` are declared like attributes."""

    name: str
    fields: tuple[Field, ...]
    description: str = ""

    tag = "M"

    @property
    def documentation(self) -> str:
        return f"{self.name}: {', '.join(field.name + ('' if field.required else '?') for field in self.fields)}"

    @property
    def sample(self) -> dict[str, Any]:
        return {field.name: field.type.sample for field in self.fields}

    def encode(self, name: str, value: Any) -> Wire:
        record = expect(name, value, Mapping, "an object")
        unknown = set(record) - {field.name for field in self.fields}
        if unknown:
            raise BadUserInput(f"`{name}` has no field `{min(unknown)}`", name)
        wire: Wire = {}
        for field in self.fields:
            if record.get(field.name) is not None:
                wire[field.name] = field.type.encode(f"{name}.{field.name}", record[field.name])
            elif field.required:
                raise BadUserInput(f"`{name}.{field.name}` is required", f"{name}.{field.name}")
        return {"M": wire}

    def normalised(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        kinds = {field.name: field.type for field in self.fields}
        return {
            name: kinds[name].normalised(part) if name in kinds and part is not None else part
            for name, part in value.items()
        }

    def faults(self, path: str, value: Any) -> Iterator[BadUserInput]:
        if not isinstance(value, Mapping) or set(value) - {field.name for field in self.fields}:
            yield from AttributeType.faults(self, path, value)
            return
        for field in self.fields:
            part = value.get(field.name)
            if part is not None:
                yield from field.type.faults(f"{path}.{field.name}", part)
            elif field.required:
                yield BadUserInput(f"`{path}.{field.name}` is required", f"{path}.{field.name}")

    def decoder(self) -> Decode:
        decoders = tuple((field.name, field.type.decoder()) for field in self.fields)
        return lambda wire: {name: decode(wire["M"][name]) for name, decode in decoders if name in wire["M"]}
