"""Generated mutations that create, update and remove the items of an entity."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from gateway.model.entity import Attribute, Entity
from gateway.model.model import is_sound
from gateway.model.mutation import Mutation, Step
from gateway.model.types import Field, Integer, Subject
from gateway.store.rows import Item
from gateway.store.write.change import Change
from gateway.store.write.writer import MutationResult, Writer
from gateway.suggestions import closest

VERSION: Field = Field(
    "version",
    Integer(),
    "The version that you have read; without it, the change applies to any version.",
    required=False,
)

Filled = Mapping[str, Callable[[], Any]]
_NONE: Filled = {}
_VOWELS = ("A", "E", "I", "O", "U")
_CONSONANT_SOUNDS = ("Eu", "Uni", "Us")  # a User, a Unit


def create(entity: Entity, *, filled: Filled = _NONE) -> Mutation:
    """Returns the mutation that creates an item; the gateway sets the attributes in `filled`, such as a timestamp."""

    async def add(writer: Writer, change: Change, _: Item | None, values: dict[str, Any]) -> Item:
        return change.create(entity.name, {**_present(values), **{name: make() for name, make in filled.items()}})

    step = Step(add)
    return Mutation(
        name=f"create{entity.name}",
        description=f"Create {_article(entity.name)} {entity.name}.",
        returns=entity.name,
        input=tuple(_new_field(entity, name) for name in _attributes(entity) if name not in filled),
        run=_StepRun(entity, step),
        faults=(*_unknown(entity, "filled", filled), *_not_made(filled)),
    )


def update(entity: Entity, *, but: tuple[str, ...] = ()) -> Mutation:
    """Returns the mutation that changes an item: an omitted field keeps its value, and null removes it.

    `but` are attributes that cannot be changed.
    """
    keys = _keys(entity)

    async def add(writer: Writer, change: Change, item: Item | None, values: dict[str, Any]) -> Item:
        assert item is not None  # noqa: S101  the step reads it
        changes = {name: value for name, value in values.items() if name not in keys and name != VERSION.name}
        return change.update(item, changes)

    step = Step(add, reads=True)
    fixed = {*but, *(name for name in _attributes(entity) if entity.attribute[name].immutable and name not in keys)}
    open_fields = (_field(entity, name, optional=name not in keys) for name in _attributes(entity) if name not in fixed)
    return Mutation(
        name=f"update{entity.name}",
        description=(
            f"Update {_article(entity.name)} {entity.name}: a field that is left out keeps its value, null removes it."
        ),
        returns=entity.name,
        input=(*open_fields, VERSION),
        run=_StepRun(entity, step),
        faults=_unknown(entity, "but", but),
    )


def remove(entity: Entity) -> Mutation:
    """Returns the mutation that removes an item by its key; if the caller names a version, only that version."""

    async def add(writer: Writer, change: Change, item: Item | None, values: dict[str, Any]) -> Item:
        assert item is not None  # noqa: S101  the step reads it
        return await writer.remove(change, item)

    step = Step(add, reads=True)
    return Mutation(
        name=f"remove{entity.name}",
        description=f"Remove {_article(entity.name)} {entity.name}; the payload has its last values.",
        returns=entity.name,
        input=(*(_field(entity, name) for name in _keys(entity)), VERSION),
        run=_StepRun(entity, step),
        removes=True,
    )


def crud(entity: Entity, *, filled: Filled = _NONE) -> tuple[Mutation, ...]:
    """Returns `create`, `update` and `remove`; attributes that the gateway fills at creation cannot be updated."""
    fixed = tuple(name for name in filled if name in _attributes(entity) and name not in _keys(entity))
    return create(entity, filled=filled), update(entity, but=fixed), remove(entity)


class _StepRun:
    """Runs the step as a change of its own."""

    def __init__(self, entity: Entity, step: Step) -> None:
        self.entity = entity
        self.step = step

    async def __call__(self, writer: Writer, values: dict[str, Any]) -> MutationResult:
        item = None
        if self.step.reads:
            key = {name: values[name] for name in self.entity.key_names}
            item = await writer.stored(self.entity.name, key, values.get(VERSION.name))
        change = writer.change()
        return await writer.commit(change, MutationResult(await self.step.add(writer, change, item, values)))


def now() -> datetime:
    """Returns the time in UTC, for attributes such as `createdAt`."""
    return datetime.now(UTC)


def new_id() -> str:
    """Returns an id that sorts by creation time and is hard to guess."""
    return f"{time.time_ns() // 1_000_000:011x}{secrets.token_hex(8)}"


def _article(name: str) -> str:
    return "an" if name.startswith(_VOWELS) and not name.startswith(_CONSONANT_SOUNDS) else "a"


def _attributes(entity: Entity) -> tuple[str, ...]:
    """Returns no attributes for an invalid entity, whose faults the model reports together with all others.

    Files are omitted, because they have their own mutations.
    """
    return (
        tuple(name for name in entity.attribute if entity.attribute[name] not in entity.files)
        if is_sound(entity)
        else ()
    )


def _declared_names(entity: Entity) -> tuple[str, ...]:
    """Returns the names of the attributes as they are written, also for an invalid entity."""
    declared: object = entity.attributes
    attributes = declared if isinstance(declared, tuple) else ()
    names = [getattr(attribute, "name", None) for attribute in attributes]
    return tuple(name for name in names if isinstance(name, str))


def _keys(entity: Entity) -> tuple[str, ...]:
    return entity.key_names if _attributes(entity) else ()


def _unknown(entity: Entity, option: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names that the entity does not declare, whatever else is wrong with it."""
    attributes = _attributes(entity) or _declared_names(entity)
    unknown = (name for name in names if attributes and name not in attributes)
    return tuple(
        f"`{option}` names `{name}`, which {entity.name} does not declare{closest(name, attributes)}"
        for name in unknown
    )


def _not_made(filled: object) -> Iterator[str]:
    if not isinstance(filled, Mapping):
        yield f"`filled` must be a dict of names and functions, such as `{{'createdAt': now}}`, not {filled!r}"
        return
    for name, make in filled.items():
        if not callable(make):
            yield f"`filled` has {make!r} for `{name}`; give it a function, such as `lambda: {make!r}`"


def _field(entity: Entity, name: str, *, optional: bool = False) -> Field:
    attribute = entity.attribute[name]
    required = attribute.required and not optional
    field = Field(name, attribute.type, attribute.description, required, deprecated=attribute.deprecated)
    return owned_by_caller(field) if required and name == entity.owner else field


def owned_by_caller(field: Field) -> Field:
    """Marks the field as the owner of the item, which defaults to the caller."""
    description = f"{field.description} By default the token's subject."
    return replace(field, required=False, default=Subject(), description=description)


def _new_field(entity: Entity, name: str) -> Field:
    """Returns the field for a new item; it is optional if the attribute has a default."""
    attribute = entity.attribute[name]
    if attribute.default is None:
        return _field(entity, name)
    field = _field(entity, name, optional=True)
    return replace(field, description=f"{field.description} {_default_words(attribute)}")


def _default_words(attribute: Attribute) -> str:
    if callable(attribute.default):
        return "If omitted, the gateway sets it."
    write = attribute.type.json()
    shown = attribute.default if write is None else write(attribute.default)
    return f"Default: {str(shown).lower() if isinstance(shown, bool) else shown}."


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
