"""The checker: what callers received and saw, compared with every state that every row has had."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from gateway.demo import MODEL
from gateway.model.staleness import Staleness
from gateway.model.tenant import tenant_id
from gateway.store.cache.keeper import CacheRules
from gateway.testing.memory import Row
from tests.simulation.network import LAG, State

TENANTS = tuple(tenant_id(name) for name in ("acme", "acme2"))
STOCK = 1_000
_DECLARED = MODEL.entities["Product"].cached
assert _DECLARED is not None
DECLARED: Staleness = _DECLARED
SHARED = CacheRules().flight_seconds
"""Seconds by which a read may be older than who asks: it was under way already, and is shared."""


def _sets() -> dict[str, set[str]]:
    return {tenant: set() for tenant in TENANTS}


@dataclass
class History:
    """Changes by the key that their callers gave them; numbers are of the table as it is at the end."""

    acknowledged: dict[str, set[str]] = field(default_factory=_sets)
    sent: dict[str, set[str]] = field(default_factory=_sets)
    faults: list[str] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    records: dict[str, int] = field(default_factory=dict)
    edits: dict[str, list[str | None]] = field(default_factory=lambda: {tenant: [] for tenant in TENANTS})
    edits_told: dict[str, set[str]] = field(default_factory=_sets)
    reads: int = 0
    cached: int = 0
    events: list[str] = field(default_factory=list)

    def check(self) -> list[str]:
        """What is wrong: something lost, something doubled, a read that is too old, a row of another tenant."""
        found = list(self.faults)
        for tenant in TENANTS:
            made = STOCK - self.left[tenant] + len(self.edits[tenant])
            records, acknowledged = self.records[tenant], self.acknowledged[tenant]
            if made != records:
                found.append(f"{tenant}: {made} changes were made, {records} are recorded")
            if records < len(acknowledged):
                found.append(f"{tenant}: {len(acknowledged)} acknowledged, {records} made")
            if records > len(self.sent[tenant]):
                found.append(f"{tenant}: {len(self.sent[tenant])} asked for, {records} made")
            titles = [title for title in self.edits[tenant] if title is not None]
            if lost := self.edits_told[tenant] - set(titles):
                found.append(f"{tenant}: acknowledged and lost: {sorted(lost)}")
            if len(titles) != len(set(titles)):
                found.append(f"{tenant}: a change was made twice")
        return found


@dataclass(frozen=True, slots=True)
class Looked:
    """When a read was begun, and what the process owes its reader.

    `own` is the newest state by an acknowledged change of the process, and when that was; `dropped` is when its cache
    was last emptied for the tenant.
    """

    begun: float
    own: tuple[int, float] | None = None
    dropped: float = -inf

    def of_item(self, states: Sequence[State], now: float, seen: str | None) -> str | None:
        """What is wrong with an item that a cached lookup answered; None where nothing is."""
        since = self._since(DECLARED.seconds if seen is not None else DECLARED.absence_seconds)
        first = self.own[0] if self.own is not None else -1
        if any(_title(row) == seen for row in _between(states, since, now, first)):
            return None
        if any(_title(row) == seen for row in _between(states, since, now)):
            return "an item was read as it was before a change that this process had acknowledged"
        return f"an item was read that was older than declared, or never there: {seen}"

    def of_page(
        self, states: Sequence[State], now: float, seen: str | None, category: str, *, empty: bool
    ) -> str | None:
        """The same for one product on a page of an index, or missing from it."""
        since = self._since(DECLARED.absence_seconds if empty else DECLARED.seconds)
        if self.own is not None:
            # what the index has, or had when a read that is shared was begun, which was after the change
            acknowledged = self.own[1]
            since = max(since, min(acknowledged, max(acknowledged, self.begun - SHARED) - LAG))
        for row in _between(states, since, now):
            there = row if row is not None and row["categoryId"]["S"] == category else None
            if _title(there) == seen:
                return None
        return f"a page showed what was older than declared, or never there: {seen}"

    def _since(self, seconds: float) -> float:
        return max(self.begun - max(seconds, SHARED), self.dropped) - LAG


def _between(states: Sequence[State], since: float, until: float, first: int = -1) -> list[Row | None]:
    """What the row was at some moment between these, from its `first` state on; before the first it was not there."""
    begins = [-inf, *(begin for begin, _ in states)]
    ends = [*begins[1:], inf]
    rows = [None, *(row for _, row in states)]
    return [
        row
        for at, (begin, end, row) in enumerate(zip(begins, ends, rows, strict=True), -1)
        if at >= first and end >= since and begin <= until
    ]


def _title(row: Row | None) -> str | None:
    return None if row is None else row["title"]["S"]
