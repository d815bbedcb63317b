"""Decides which reads go through a DAX cluster, and checks the rows that it returns."""

import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gateway.aws.sts.session import Session
from gateway.errors import Forbidden, IsolationBreach
from gateway.iam.dynamodb.errors import NotUnderstood
from gateway.iam.language.evaluator import restricts
from gateway.model.keys import ItemKey
from gateway.model.table import TableSpec
from gateway.model.tenant import TenantId, owns
from gateway.model.types import Wire
from gateway.store.access import Access
from gateway.store.cache.dax.cluster import DaxBusy, DaxCluster, DaxFailed
from gateway.store.cache.read_path import Cache, ReadItems, ReadOptions, ReadPage, Via, page_read
from gateway.store.cache.recent_writes import RecentWrites
from gateway.store.cache.stats import DaxCounts, DaxStats, GroupOf, Tally, one_group
from gateway.store.cache.written_keys import Written, written, written_anywhere
from gateway.store.plan import QueryPartition

T = TypeVar("T")

_log = logging.getLogger("gateway.dax")
_ATTRIBUTES = frozenset({"dynamodb:attributes"})


@dataclass(frozen=True, slots=True)
class Ages:
    """How old the rows of the clusters can be, in seconds, by their parameter groups."""

    items: float = 300.0
    pages: float = 300.0


@dataclass(frozen=True, slots=True)
class Clusters:
    """The cluster of all pooled tenants, and those of single tenants; tenants without one read the table."""

    pooled: DaxCluster | None = None
    silos: Mapping[TenantId, DaxCluster | None] = field(default_factory=dict)

    def of(self, tenant: TenantId) -> DaxCluster | None:
        return self.silos.get(tenant, self.pooled)

    def all(self) -> tuple[DaxCluster, ...]:
        clusters = (self.pooled, *self.silos.values())
        return tuple({id(cluster): cluster for cluster in clusters if cluster is not None}.values())


class DaxReads(Cache):
    """Serves declared eventual reads; if a cluster fails, the table is read with the tenant's session."""

    def __init__(
        self,
        spec: TableSpec,
        clusters: Clusters,
        ages: Ages,
        group_of: GroupOf = one_group,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._spec = spec
        self._clusters = clusters
        self.ages = ages
        self._clock = clock
        self._tally = Tally(DaxCounts, group_of)
        # writes bypass the clusters, so a cluster's copy of a written item stays outdated until it expires
        self._recent = RecentWrites(max(ages.items, ages.pages))

    async def items(
        self, access: Access, keys: tuple[ItemKey, ...], options: ReadOptions, read: ReadItems
    ) -> dict[ItemKey, Wire]:
        tenant, since = access.session.tenant, self._clock() - self.ages.items
        cluster = self._cluster(access.session, options, self.ages.items, ("GetItem", "BatchGetItem"), None)
        if cluster is None or any(self._recent.item(tenant, key) > since for key in keys):
            return await read(access, keys, strong=options.strong)
        rows = await self._through(cluster, tenant, lambda via: read(access, keys, strong=False, via=via))
        if rows is None:
            return await read(access, keys, strong=False)
        if any(self._key(tenant, row) != key for key, row in rows.items()) or not rows.keys() <= set(keys):
            raise IsolationBreach("dax answered with an item that was not asked for")
        absent = tuple(key for key in keys if key not in rows)
        if absent and options.staleness.absence_seconds < self.ages.items:
            rows = rows | await read(access, absent, strong=False)
        return rows

    async def page(self, access: Access, plan: QueryPartition, options: ReadOptions, read: ReadPage) -> list[Wire]:
        tenant, since, at = (
            access.session.tenant,
            self._clock() - self.ages.pages,
            page_read(access.session, plan, options),
        )
        cluster = self._cluster(access.session, options, self.ages.pages, ("Query",), at.on)
        if cluster is None or self._recent.shown(at, ()) > since:
            return await read(access, plan)
        rows = await self._through(cluster, tenant, lambda via: read(access, plan, via=via))
        if rows is None:
            return await read(access, plan)
        holds = tuple(self._key(tenant, row) for row in rows)
        if plan.index is None and any(key.pk != plan.partition for key in holds):
            raise IsolationBreach("dax answered with a row of another partition")
        old = self._recent.shown(at, holds) > since
        if old or (not rows and options.staleness.absence_seconds < self.ages.pages):
            return await read(access, plan)
        return rows

    @contextmanager
    def writing(self, session: Session, operation: str, body: Mapping[str, Any]) -> Iterator[None]:
        refused = False
        try:
            yield
        except Forbidden:
            refused = True
            raise
        finally:
            if not refused:
                self._recent.note(session.tenant, written(self._spec, operation, body), self._clock())

    def forget_written(self, session: Session, keys: Sequence[ItemKey]) -> None:
        self._recent.note(session.tenant, written_anywhere(self._spec, keys), self._clock())

    def changed(self, tenant: TenantId, write: Written) -> None:
        self._recent.note(tenant, (write,), self._clock())

    def forget_all(self) -> None:
        """Does nothing: the contents of a cluster cannot be dropped, and stay as old as declared until they expire."""

    def forget(self, tenant: TenantId) -> None:
        """Does nothing: no rows are kept here, and those of a cluster cannot be reached without a session."""

    def stats(self) -> DaxStats:
        states = {cluster.name: cluster.breaker.state for cluster in self._clusters.all()}
        return DaxStats(self._tally.groups(), states)

    async def close(self) -> None:
        for cluster in self._clusters.all():
            await cluster.close()

    def _cluster(
        self, session: Session, options: ReadOptions, age: float, operations: Iterable[str], index: str | None
    ) -> DaxCluster | None:
        cluster = self._clusters.of(session.tenant)
        if cluster is None:
            return None
        # INVARIANT: strong reads, reads that must be fresher, and roles with rules on attributes bypass every cluster.
        if options.strong or options.staleness.seconds < age or _restricted(session, operations, index):
            self._tally.of(session.tenant).passed += 1
            return None
        return cluster

    async def _through(self, cluster: DaxCluster, tenant: TenantId, ask: Callable[[Via], Awaitable[T]]) -> T | None:
        """Returns None if the table must be read instead."""
        counts = self._tally.of(tenant)
        if not cluster.breaker.allows():
            counts.avoided += 1
            return None
        try:
            answer = await ask(Via(cluster, "dax"))
        except DaxBusy:
            cluster.breaker.left()
            counts.avoided += 1
            return None
        except DaxFailed as error:
            cluster.breaker.failed()
            counts.failed += 1
            _log.warning("%s; the table is asked instead (%s)", error.message, cluster.breaker.state)
            return None
        except BaseException:
            cluster.breaker.left()
            raise
        cluster.breaker.succeeded()
        counts.answered += 1
        return answer

    def _key(self, tenant: TenantId, row: Wire) -> ItemKey:
        # INVARIANT: every row from a cluster is checked, because AWS does not isolate tenants behind it.
        key = ItemKey(row.get(self._spec.pk, {}).get("S", ""), row.get(self._spec.sk, {}).get("S", ""))
        if not owns(tenant, key.pk):
            raise IsolationBreach("dax answered with a row of another tenant")
        return key


def _restricted(session: Session, operations: Iterable[str], index: str | None) -> bool:
    """Whether a policy restricts attributes: a cluster returns whole items, and only AWS would refuse some."""
    permissions = session.permissions
    try:
        table = permissions.place.table(session.tenancy.table).arn
        resource = table if index is None else permissions.place.index_arn(table, index)
    except NotUnderstood:
        return True
    return any(
        restricts(permissions.policies, f"dynamodb:{operation}", resource, _ATTRIBUTES) for operation in operations
    )
