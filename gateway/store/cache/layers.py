"""Combines both caches: the process caches what a cluster or the table returns."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gateway.aws.sts.session import Session
from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.store.access import Access
from gateway.store.cache.cache import ReadCache
from gateway.store.cache.dax.reads import DaxReads
from gateway.store.cache.read_path import Cache, ReadItems, ReadOptions, ReadPage, Via
from gateway.store.cache.written_keys import Written
from gateway.store.plan import QueryPartition


@dataclass(frozen=True, slots=True)
class Layers(Cache):
    ttl: ReadCache
    dax: DaxReads

    async def items(
        self, access: Access, keys: tuple[ItemKey, ...], options: ReadOptions, read: ReadItems
    ) -> dict[ItemKey, Wire]:
        async def behind(
            access: Access, keys: tuple[ItemKey, ...], *, strong: bool, via: Via | None = None
        ) -> dict[ItemKey, Wire]:
            return await self.dax.items(access, keys, options._replace(strong=strong), read)

        left = remaining(options.staleness, self.dax.ages.items)
        if left is None:
            return await behind(access, keys, strong=options.strong)
        return await self.ttl.items(access, keys, options._replace(staleness=left), behind)

    async def page(self, access: Access, plan: QueryPartition, options: ReadOptions, read: ReadPage) -> list[Wire]:
        async def behind(access: Access, plan: QueryPartition, *, via: Via | None = None) -> list[Wire]:
            return await self.dax.page(access, plan, options._replace(strong=plan.strong), read)

        left = remaining(options.staleness, self.dax.ages.pages)
        if left is None:
            return await behind(access, plan)
        return await self.ttl.page(access, plan, options._replace(staleness=left), behind)

    @contextmanager
    def writing(self, session: Session, operation: str, body: Mapping[str, Any]) -> Iterator[None]:
        # the outer one ends last: when it drops entries, the cluster is already known to be outdated
        with self.ttl.writing(session, operation, body), self.dax.writing(session, operation, body):
            yield

    def forget_written(self, session: Session, keys: Sequence[ItemKey]) -> None:
        self.dax.forget_written(session, keys)
        self.ttl.forget_written(session, keys)

    def changed(self, tenant: TenantId, write: Written) -> None:
        self.dax.changed(tenant, write)
        self.ttl.changed(tenant, write)

    def forget_all(self) -> None:
        self.dax.forget_all()
        self.ttl.forget_all()

    def forget(self, tenant: TenantId) -> None:
        self.ttl.forget(tenant)
        self.dax.forget(tenant)

    async def close(self) -> None:
        await self.ttl.close()
        await self.dax.close()


def remaining(declared: Staleness, age: float) -> Staleness | None:
    """Returns how long the process may cache what a cluster may have cached for `age` seconds; None if not at all."""
    if declared.seconds < age:
        return declared  # such reads never go through a cluster
    seconds = declared.seconds - age
    if seconds == 0:
        return None
    # a cluster's missing item is accepted only if absence may be as old as the cluster's rows
    absence = declared.absence_seconds - age if declared.absence_seconds >= age else declared.absence_seconds
    return Staleness(seconds, min(absence, seconds))
