"""Which files a role may access: those of its attributes, and of own rows only the subject's."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.model.entity import Attribute, Entity
from gateway.model.role import Role, named
from gateway.model.role_reach import SUBJECT, hidden_attributes, is_owned, read_places

if TYPE_CHECKING:
    from gateway.model.model import Model


@dataclass(frozen=True, slots=True)
class FileReach:
    """Prefixes of keys after the tenant: `Document/scan/*`, or `Document/scan/{subject}/*` for files with an owner."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()


def file_paths(model: "Model") -> tuple[str, ...]:
    return tuple(_path(entity, attribute) for entity, attribute in _all(model))


def file_reach(model: "Model", role: Role) -> FileReach:
    """A role may access the files of an attribute as it may access the attribute."""
    hidden, read = hidden_attributes(model, role), {place.entity.name for place in read_places(model, role)}
    open_to = [(entity, attribute) for entity, attribute in _all(model) if attribute.name not in hidden]

    def paths(names: set[str]) -> tuple[str, ...]:
        return tuple(
            _path(entity, attribute, is_owned(role, entity)) for entity, attribute in open_to if entity.name in names
        )

    return FileReach(
        paths(read),
        paths({name for name in read if role.writes_entity(name)}),
        paths({name for name in read if named(role.removable, name)}),
    )


def _all(model: "Model") -> Iterator[tuple[Entity, Attribute]]:
    return ((entity, attribute) for entity in model.entities.values() for attribute in entity.files)


def _path(entity: Entity, attribute: Attribute, owned: bool = False) -> str:
    return f"{entity.name}/{attribute.name}/{f'{SUBJECT}/' if owned else ''}*"
