"""Stores cached rows, and drops those that a write, changed policies or a suspension invalidate."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gateway.aws.sts.session import Session
from gateway.errors import Forbidden, IsolationBreach
from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.table import TableSpec
from gateway.model.tenant import TenantId, owns
from gateway.model.types import Wire
from gateway.store.cache.read_path import ReadKey
from gateway.store.cache.recent_writes import RecentWrites, Underway
from gateway.store.cache.segment import CachedRows, Entry, Segment, entry
from gateway.store.cache.segments import Segments
from gateway.store.cache.stats import CacheStats, Counts, GroupOf, Tally
from gateway.store.cache.written_keys import Written, written, written_anywhere
from gateway.store.index_lag import INDEX_LAG_SECONDS


@dataclass(frozen=True, slots=True)
class CacheRules:
    bytes: int = 64_000_000
    # how long replicas and indexes may lag behind a write of this process
    settle_seconds: float = INDEX_LAG_SECONDS
    # the time limit of a read that several requests share
    flight_seconds: float = 10.0
    # concurrent refreshes in the background
    renewals: int = 64


@dataclass(frozen=True, slots=True)
class Clocks:
    """The monotonic clock of the cache, the wall clock by which items expire, and the jitter from 0 to 1."""

    now: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random


class Keeper:
    def __init__(self, spec: TableSpec, rules: CacheRules, group_of: GroupOf, clocks: Clocks) -> None:
        self._spec = spec
        self._settle = rules.settle_seconds
        self._clocks = clocks
        self._tally = Tally(Counts, group_of)
        self._segments = Segments(rules.bytes, self._tally, clocks.now)
        self._recent = RecentWrites(rules.settle_seconds + rules.flight_seconds)
        self._underway = Underway()

    def counts(self, tenant: TenantId) -> Counts:
        return self._tally.of(tenant)

    def stats(self) -> CacheStats:
        return CacheStats(self._tally.groups(), self._segments.entries, self._segments.bytes, len(self._segments))

    def segment(self, session: Session) -> Segment:
        """Returns the tenant's segment, without entries of the role under earlier policies."""
        segment = self._segments.of(session.tenant)
        for read in segment.outdated(session.role, session.permissions.fingerprint):
            self._drop(segment, read)
        return segment

    def release(self, segment: Segment) -> None:
        self._segments.drop_idle(segment)

    def unsettled(self, read: ReadKey) -> bool:
        """Whether the table may still return the state before a write of this process."""
        key = read.item
        at = self._recent.partition(read) if key is None else self._recent.item(read.tenant, key)
        return at > self._clocks.now() - self._settle

    def joins(self, read: ReadKey, started: float) -> bool:
        """Whether a read that started then shows all writes since; for a page, any write of the tenant counts."""
        key = read.item
        last = self._recent.last(read.tenant) if key is None else self._recent.item(read.tenant, key)
        return last < started

    def keep(self, segment: Segment, read: ReadKey, answer: CachedRows, staleness: Staleness) -> None:
        """Stores the rows, unless a write has happened since that they may not show."""
        for key in answer.holds:
            # INVARIANT: a row of another tenant is not kept, and requests that wait for it get nothing.
            if not owns(read.tenant, key.pk):
                raise IsolationBreach("a row of another tenant was read")
        if self._recent.shown(read, answer.holds) <= answer.read_at - self._settle:
            self._put(segment, read, answer, staleness)

    def answer(self, rows: Sequence[Wire], read_at: float, units: float = 0.0) -> CachedRows:
        pk, sk = self._spec.pk, self._spec.sk
        holds = tuple(ItemKey(row.get(pk, {}).get("S", ""), row.get(sk, {}).get("S", "")) for row in rows)
        return CachedRows(rows, holds, read_at, units)

    @contextmanager
    def writing(self, session: Session, operation: str, body: Mapping[str, Any]) -> Iterator[None]:
        """Drops what the write may have changed, unless it was refused: a failed write may have been executed."""
        writes = written(self._spec, operation, body)
        refused = done = False
        begun = self._clocks.now()
        self._underway.begin(writes or ())
        try:
            yield
            done = True
        except Forbidden:
            refused = True
            raise
        finally:
            contested = self._underway.end(writes or ())
            if not refused:
                self._recent.note(session.tenant, writes, self._clocks.now())
                # only a transaction is certain to write everything that it names
                exact_since = begun if done and operation == "TransactWriteItems" else None
                self._forget_written(session.tenant, writes, contested, exact_since)

    def forget_written(self, session: Session, keys: Sequence[ItemKey]) -> None:
        """Drops what a write of another process may have changed; only its keys are known."""
        self._changed(session.tenant, written_anywhere(self._spec, keys))

    def changed(self, tenant: TenantId, write: Written) -> None:
        self._changed(tenant, (write,))

    def _changed(self, tenant: TenantId, writes: tuple[Written, ...]) -> None:
        self._recent.note(tenant, writes, self._clocks.now())
        self._forget_written(tenant, writes, frozenset(), None)

    def forget_all(self) -> None:
        for tenant in self._segments.tenants():
            self.forget(tenant)

    def forget(self, tenant: TenantId) -> None:
        """Drops all entries of a tenant, such as a suspended one; reads in progress for it are not cached."""
        self._tally.of(tenant).dropped += self._segments.clear(tenant)

    def _forget_written(
        self,
        tenant: TenantId,
        writes: tuple[Written, ...] | None,
        contested: frozenset[ItemKey],
        exact_since: float | None,
    ) -> None:
        segment = self._segments.find(tenant)
        if segment is None:
            return
        if writes is None:
            self.forget(tenant)
        for write in writes or ():
            for read in segment.affected(write):
                cached_entry = segment.get(read, self._clocks.now())
                self._drop(segment, read)
                if exact_since is not None and cached_entry is not None and write.key not in contested:
                    self._carry(segment, read, cached_entry, write, exact_since)

    def _carry(self, segment: Segment, read: ReadKey, cached_entry: Entry, write: Written, begun: float) -> None:
        """Replaces the cached item by its new state, if the request contains that exactly.

        Its age counts from the start of the write, because other writes may have followed before the response.
        """
        if read.item != write.key or (write.row is None and not write.gone):
            return
        row = None if write.row is None else {name: write.row[name] for name in read.projection if name in write.row}
        answer = self.answer([] if row is None else [row], begun, cached_entry.units)
        if self._put(segment, read, answer, cached_entry.staleness):
            self._tally.of(segment.tenant).carried += 1

    def _put(self, segment: Segment, read: ReadKey, answer: CachedRows, staleness: Staleness) -> bool:
        new_entry = entry(answer, staleness, self._clocks.jitter(), self._first_end(answer.rows))
        return new_entry is not None and self._segments.keep(segment, read, new_entry)

    def _first_end(self, rows: Sequence[Wire]) -> float | None:
        """Returns when the first row expires, on the cache's clock, because a page without it would look complete."""
        ends = [float(row[self._spec.ttl]["N"]) for row in rows if "N" in row.get(self._spec.ttl, {})]
        return min(ends) - self._clocks.wall() + self._clocks.now() if ends else None

    def _drop(self, segment: Segment, read: ReadKey) -> None:
        if self._segments.drop(segment, read):
            self._tally.of(segment.tenant).dropped += 1
