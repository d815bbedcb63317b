"""What the clients asked for and what they were told: the truth that the table is compared with."""

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId, partition


@dataclass(slots=True)
class Entry:
    """One mutation with its idempotency key, and what became of it."""

    tenant: TenantId
    mutation: str
    input: dict[str, Any]
    key: str
    # the answer of a change that was made
    item: dict[str, Any] | None = None
    acknowledged: bool = False
    refused: tuple[str, ...] = ()
    # attempts that ended without a result: the change may have been made, or may still be
    uncertain: int = 0
    # by the ledger's own clock: the change was made between these moments, if it was
    began: float = 0
    ended: float = math.inf

    @property
    def settled(self) -> bool:
        return self.acknowledged or bool(self.refused)

    @property
    def record(self) -> ItemKey:
        """Where the gateway keeps the record that the change was made."""
        digest = hashlib.sha256(self.key.encode()).hexdigest()
        return ItemKey(partition(self.tenant, f"IDEMPOTENCY#{digest}"), "IDEMPOTENCY")


@dataclass(slots=True)
class Ledger:
    entries: list[Entry] = field(default_factory=list)
    # what should never happen, noted while it happens
    surprises: list[str] = field(default_factory=list)
    retries: int = 0
    ticks: int = 0

    def open(self, tenant: TenantId, mutation: str, given: dict[str, Any]) -> Entry:
        entry = Entry(tenant, mutation, given, f"{mutation}-{len(self.entries)}", began=self._tick())
        self.entries.append(entry)
        return entry

    def acknowledge(self, entry: Entry, item: dict[str, Any] | None) -> None:
        """A repeat is acknowledged again; the change was made before the first time."""
        entry.acknowledged, entry.item = True, item or entry.item
        entry.ended = min(entry.ended, self._tick())

    def _tick(self) -> int:
        self.ticks += 1
        return self.ticks

    def of(self, tenant: TenantId, *mutations: str) -> Iterator[Entry]:
        return (each for each in self.entries if each.tenant == tenant and each.mutation in mutations)
