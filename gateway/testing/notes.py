"""Change notes of the engine in memory, as the table's stream would lead to them."""

from collections.abc import Mapping
from typing import Any

from gateway.model.model import Model
from gateway.model.tenant import tenant_of
from gateway.stream.bus import InProcessBus
from gateway.stream.note import ChangeNote, Kind

Row = Mapping[str, Any]
Rows = Mapping[tuple[str, str], Row]
SHARD = "memory"


class NotesOfMemory:
    """Compares the rows before and after a call and publishes what has changed."""

    def __init__(self, model: Model, bus: InProcessBus) -> None:
        self._model = model
        self._bus = bus
        self._sequence = 0

    async def publish(self, before: Rows, after: Rows) -> None:
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        notes = [note for key in changed if (note := self._note(key, before.get(key), after.get(key))) is not None]
        await self._bus.publish(notes)

    def _note(self, key: tuple[str, str], before: Row | None, after: Row | None) -> ChangeNote | None:
        table, tenant = self._model.table, tenant_of(key[0])
        if tenant is None:
            return None
        row = after or before or {}
        names = {name for name in {**(before or {}), **(after or {})} if _value(before, name) != _value(after, name)}
        kind: Kind = "created" if before is None else "removed" if after is None else "changed"
        self._sequence += 1
        return ChangeNote(
            tenant=tenant,
            entity=_text(row, table.entity_type),
            place=_text(row, table.copy_of) or "primary",
            pk=key[0],
            sk=key[1],
            kind=kind,
            attributes=frozenset(names),
            before=self._indexes(before),
            after=self._indexes(after),
            shard=SHARD,
            sequence=str(self._sequence),
        )

    def _indexes(self, row: Row | None) -> dict[str, tuple[str, str]]:
        return {
            index.name: (_text(row, index.pk), _text(row, index.sk))
            for index in self._model.table.indexes
            if row is not None and index.pk in row and index.sk in row
        }


def _value(row: Row | None, name: str) -> Any:
    return None if row is None else row.get(name)


def _text(row: Row | None, name: str) -> str:
    return str((row or {}).get(name, {}).get("S", ""))
