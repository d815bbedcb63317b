"""Generates a module with a typed class for each entity, for `gateway records`."""

import sys
from collections.abc import Iterator
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.model.types import AttributeType, EnumOf, Field, ListOf, SetOf, Struct, with_inner
from gateway.store.record import Record

_HEAD = '''"""Typed items of the domains; written by `gateway records`, do not edit."""

# ruff: noqa: E501, N815, RUF100
from __future__ import annotations
'''


def record_classes(model: Model) -> str:
    """Enums and other types are imported for type checkers only: the domain that declares them imports this module."""
    kinds = [attribute.type for entity in model.entities.values() for attribute in entity.attributes]
    structs = {struct.name: struct for kind in kinds for struct in _structs(kind)}
    inner = (part for kind in kinds for part in with_inner(kind))
    named = {_named(part) for part in inner if not isinstance(part, ListOf | SetOf | Struct)}
    classes = [*map(_struct_class, structs.values()), *map(_entity_class, model.entities.values())]
    text = "".join(f"\n\n{text}" for text in classes)
    typing = [name for name in ("NotRequired", "TypedDict") if name in text]
    checked = _imports(named)
    typing = ["TYPE_CHECKING", *typing] if checked else typing
    standard = f"\nfrom typing import {', '.join(typing)}\n" if typing else ""
    return f"{_HEAD}{standard}\nfrom gateway import Record\n{checked}{text}"


def _imports(named: set[type[Any]]) -> str:
    """The imports of the annotations, the standard library first, as formatters expect."""
    modules: dict[str, list[str]] = {}
    for module, name in sorted((python.__module__, python.__name__) for python in named):
        if module != "builtins":
            modules.setdefault(module, []).append(name)
    lines = [
        (module.partition(".")[0], f"    from {module} import {', '.join(names)}\n")
        for module, names in modules.items()
    ]
    standard = "".join(line for room, line in lines if room in sys.stdlib_module_names)
    others = "".join(line for room, line in lines if room not in sys.stdlib_module_names)
    between = "\n" if standard and others else ""
    return f"\nif TYPE_CHECKING:\n{standard}{between}{others}" if lines else ""


def _entity_class(entity: Entity) -> str:
    fields = "".join(
        f"    {attribute.name}: {_annotation(attribute.type)}{'' if attribute.required else ' | None'}\n"
        for attribute in entity.attributes
    )
    return f'class {entity.name}(Record):\n    """{entity.description}"""\n\n{fields}'


def _struct_class(struct: Struct) -> str:
    return f'class {struct.name}(TypedDict):\n    """{struct.description}"""\n\n' + "".join(map(_member, struct.fields))


def _member(field: Field) -> str:
    kind = _annotation(field.type)
    return f"    {field.name}: {kind if field.required else f'NotRequired[{kind}]'}\n"


def _annotation(kind: AttributeType) -> str:
    match kind:
        case ListOf(of):
            return f"list[{_annotation(of)}]"
        case SetOf(of):
            return f"frozenset[{_annotation(of)}]"
        case Struct(name):
            return name
    return _named(kind).__name__


def _named(kind: AttributeType) -> type[Any]:
    """The Python type of the values of a scalar type: that of its sample."""
    return kind.enum if isinstance(kind, EnumOf) else type(kind.sample)


def _structs(kind: AttributeType) -> Iterator[Struct]:
    match kind:
        case ListOf(of):
            yield from _structs(of)
        case Struct(_, fields):
            for field in fields:
                yield from _structs(field.type)
            yield kind


class StandIn(MetaPathFinder, Loader):
    """Stands in for the generated module, because the domain imports it before it exists or is up to date."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname.rpartition(".")[2] != self._path.stem:
            return None
        folders = (Path(folder or ".").resolve() for folder in (sys.path if path is None else path))
        return ModuleSpec(fullname, self) if self._path.parent in folders else None

    def exec_module(self, module: ModuleType) -> None:
        def stand_in(name: str) -> type[Record]:
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (Record,), {"__annotations__": {}})

        vars(module)["__getattr__"] = stand_in
