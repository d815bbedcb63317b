"""Change notes of the in-memory engine, made from the records that the table's stream would have."""

from collections.abc import Mapping
from typing import Any

from gateway.model.table import TableSpec
from gateway.stream.bus import InProcessBus
from gateway.stream.records import note_of

Row = Mapping[str, Any]
Rows = Mapping[tuple[str, str], Row]
SHARD = "memory"


class NotesOfMemory:
    """Compares the rows before and after a write, and publishes the changes."""

    def __init__(self, spec: TableSpec, bus: InProcessBus) -> None:
        self._spec = spec
        self._bus = bus
        self._sequence = 0

    async def publish(self, before: Rows, after: Rows) -> None:
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        records = [self._record(key, before.get(key), after.get(key)) for key in changed]
        notes = [note_of(self._spec, SHARD, record) for record in records]
        await self._bus.publish([note for note in notes if note is not None])

    def _record(self, key: tuple[str, str], before: Row | None, after: Row | None) -> dict[str, Any]:
        self._sequence += 1
        keys = {self._spec.pk: {"S": key[0]}, self._spec.sk: {"S": key[1]}}
        content: dict[str, Any] = {"Keys": keys, "SequenceNumber": str(self._sequence)}
        content |= {"OldImage": before} if before is not None else {}
        content |= {"NewImage": after} if after is not None else {}
        name = "INSERT" if before is None else "REMOVE" if after is None else "MODIFY"
        return {"eventName": name, "dynamodb": content}
