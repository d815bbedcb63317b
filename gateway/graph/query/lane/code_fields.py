"""Fields with code in a lane: columns computed from other columns, and one call for all rows of a level.

If code fails or returns a value that its type does not allow, the lane falls back: the reference executor reports the
error and reuses what the lane has loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.errors import BadUserInput
from gateway.graph.query.code import ComputedCode, LoadedCode, code_arguments
from gateway.graph.query.lane.columns import Write, writer
from gateway.graph.query.lane.fallback import FallBack, NoLane, Reason
from gateway.graph.query.lane.request import LaneRequest
from gateway.graph.query.lane.values import Read, value_reader
from gateway.graph.query.tree import CodeField
from gateway.model.code import Computed
from gateway.model.entity import Entity
from gateway.model.model import Model
from gateway.store.plan import Attributes

if TYPE_CHECKING:
    from gateway.graph.query.lane.rows import RowType

_NONE: Mapping[str, Any] = {}


def refused_attribute(field: CodeField, denied: Attributes) -> str | None:
    """Returns the first attribute that the field needs and the role may not read."""
    return next((name for name in field.declared.needs if name in denied), None)


def is_column(field: CodeField, denied: Attributes) -> bool:
    """Whether the row alone determines the value; fields with arguments and loaded fields are filled in later."""
    declared = field.declared
    return refused_attribute(field, denied) is not None or (isinstance(declared, Computed) and not declared.arguments)


class CodeValues:
    """Reads the attributes that a field needs from a row."""

    def __init__(self, rows: "RowType", entity: Entity, field: CodeField, denied: Attributes) -> None:
        self._readers: list[tuple[str, str, Read]] = []
        for name in field.declared.needs:
            if name not in denied:
                attribute = entity.attribute[name]
                rows.column(attribute)
                self._readers.append((name, rows.fields[name], value_reader(attribute)))

    def of(self, row: Any) -> dict[str, Any]:
        values = {}
        for name, key, read in self._readers:
            wire = getattr(row, key)
            values[name] = None if wire is None else read(wire)
        return values


class CodeWriter:
    """Encodes a value that code has returned."""

    def __init__(self, entity: Entity, field: CodeField) -> None:
        self._write: Write | None = writer(field.declared.type, field.below)
        personal = any(entity.attribute[name].personal for name in field.declared.needs)
        self.nullable = personal or not field.declared.required

    def written(self, value: Any) -> Any:
        if value is None:
            if self.nullable:
                return None
            raise FallBack(Reason.CODE)
        return value if self._write is None else self._write(value)


class CodeColumn:
    """A computed field, or any refused field, for which the rows are still read, as in the reference executor."""

    def __init__(self, rows: "RowType", entity: Entity, field: CodeField, denied: Attributes) -> None:
        self._values = CodeValues(rows, entity, field, denied)
        self._writer = CodeWriter(entity, field)
        self._code: ComputedCode | None = None
        needs = ", ".join(field.declared.needs)
        self.description = f"{entity.name}.{field.declared.name}, computed from {needs}"
        if refused_attribute(field, denied) is None and isinstance(field.declared, Computed):
            self._code = ComputedCode(entity.name, field.declared)
        elif not self._writer.nullable:
            raise NoLane
        else:
            self.description = f"{entity.name}.{field.declared.name}, refused"

    def __call__(self, row: Any, arguments: Mapping[str, Any] = _NONE) -> Any:
        values = self._values.of(row)
        if self._code is None:
            return None
        try:
            value = self._code.value(values, arguments)
        except Exception as error:
            raise FallBack(Reason.CODE) from error
        return self._writer.written(value)


def _arguments(request: LaneRequest, field: CodeField) -> dict[str, Any]:
    try:
        return code_arguments(field.declared.arguments, field.arguments.values(request.variables))
    except BadUserInput as error:
        raise FallBack(Reason.ARGUMENT) from error


@dataclass(frozen=True, slots=True)
class ComputedLoad:
    """Fills a computed field with arguments, which are the same for all rows of the request."""

    part: int
    slot: str
    field: CodeField
    column: CodeColumn

    async def fill(self, request: LaneRequest, rows: list[list[Any]], outs: list[list[Any]]) -> None:
        if rows[self.part]:
            arguments = _arguments(request, self.field)
            for row, out in zip(rows[self.part], outs[self.part], strict=True):
                setattr(out, self.slot, self.column(row, arguments))


@dataclass(frozen=True, slots=True)
class LoadedWant:
    part: int
    slot: str
    field: CodeField
    values: CodeValues
    writer: CodeWriter


@dataclass(frozen=True, slots=True)
class LoadedLoad:
    """Fills one loaded field of an entity, for all its places in a level that have the same arguments."""

    model: Model
    code: LoadedCode
    wants: tuple[LoadedWant, ...]

    async def fill(self, request: LaneRequest, rows: list[list[Any]], outs: list[list[Any]]) -> None:
        groups: dict[str, tuple[dict[str, Any], list[LoadedWant]]] = {}
        for want in self.wants:
            if rows[want.part]:
                arguments = _arguments(request, want.field)
                groups.setdefault(repr(sorted(arguments.items())), (arguments, []))[1].append(want)
        jobs = [self._group(request, arguments, wants, rows, outs) for arguments, wants in groups.values()]
        if jobs:
            await request.run_all(jobs)

    async def _group(
        self,
        request: LaneRequest,
        arguments: dict[str, Any],
        wants: list[LoadedWant],
        rows: list[list[Any]],
        outs: list[list[Any]],
    ) -> None:
        requested = [want.values.of(row) for want in wants for row in rows[want.part]]
        # two roots may load the same rows concurrently
        key = (self.code.owner, self.code.declared.name, repr(arguments), repr(requested))
        caller = request.code_reader(self.model).caller
        results = await request.once(key, lambda: self.code.values(caller, request.access, requested, arguments))
        failure = next((value for value in results if isinstance(value, Exception)), None)
        if failure is not None:
            raise FallBack(Reason.CODE) from failure
        values = iter(results)
        for want in wants:
            for out in outs[want.part]:
                setattr(out, want.slot, want.writer.written(next(values)))
