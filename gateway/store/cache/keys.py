"""What an answer is kept by: everything that decides what it is and who may see it."""

from typing import NamedTuple

from gateway.aws.sts.sessions import Session
from gateway.model.keys import ItemKey
from gateway.model.tenant import TenantId
from gateway.store.cache.read_path import Asked
from gateway.store.key_ranges import KeyRange
from gateway.store.plan import QueryPartition


class ReadKey(NamedTuple):
    """INVARIANT: a tuple and never a joined text, so that no part can imitate another.

    The position where a page starts is one of its bounds, so it needs no part of its own.
    """

    tenant: TenantId
    fingerprint: str  # of the policies: who may see less never meets what another has read
    table: tuple[str, str]  # address and name: a tenant that moves meets nothing of its old table
    on: str | None  # an index
    partition: str
    sort: str | KeyRange  # one sort key for an item, a range for a page
    forward: bool
    limit: int
    projection: tuple[str, ...]
    strong: bool

    @property
    def item(self) -> ItemKey | None:
        return ItemKey(self.partition, self.sort) if isinstance(self.sort, str) else None


def item_read(session: Session, key: ItemKey, asked: Asked) -> ReadKey:
    return _read(session, asked, None, key.pk, key.sk, True, 1)


def page_read(session: Session, plan: QueryPartition, asked: Asked) -> ReadKey:
    index = plan.index.name if plan.index is not None else None
    return _read(session, asked, index, plan.partition, plan.bounds, plan.forward, plan.limit)


def _read(
    session: Session, asked: Asked, index: str | None, partition: str, sort: str | KeyRange, forward: bool, limit: int
) -> ReadKey:
    tenancy = session.tenancy
    return ReadKey(
        session.tenant,
        session.permissions.fingerprint,
        (tenancy.target.url, tenancy.table),
        index,
        partition,
        sort,
        forward,
        limit,
        asked.names,
        asked.strong,
    )
