"""The interface between the table and a cache, and the key under which a cache stores rows."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from gateway.aws.sts.session import Session
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.iam.dynamodb.partial_evaluation import PreparedPermission
from gateway.iam.dynamodb.shared_permissions import SharedPermissions
from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.tenant import TenantId
from gateway.model.types import Wire
from gateway.store.access import Access, Source
from gateway.store.cache.written_keys import Written
from gateway.store.key_ranges import KeyRange
from gateway.store.plan import QueryPartition


class PreparedReads(NamedTuple):
    """The prepared permission for reads of one form, valid for the policies `shared`, and the type of their rows."""

    shared: SharedPermissions
    permission: PreparedPermission | None
    decode: Callable[[bytes], list[Any]]

    def statements(self, session: Session, partitions: Sequence[str]) -> tuple[str, ...] | None:
        """Returns the statements that allow reading these partitions; None if the evaluator has to decide.

        INVARIANT: only for the policies that it was prepared for, and only for keys of the tenant and the subject that
        they allow.
        """
        permissions, permission = session.permissions, self.permission
        if permission is None or permissions.shared is not self.shared:
            return None
        allows = permission.residual.allows(partitions, permissions.own, permissions.reader)
        return permission.statements if allows else None


class ReadOptions(NamedTuple):
    """How something is read: the stored attributes, whether strongly consistent, and how stale it may be.

    If it is `prepared`, cached rows are returned as typed rows; rows that are read are returned as they came.
    """

    names: tuple[str, ...]
    strong: bool
    staleness: Staleness
    prepared: PreparedReads | None = None


class ReadKey(NamedTuple):
    """The cache key of a read.

    INVARIANT: a tuple and never a joined text, so that no part can imitate another.

    The position where a page starts is one of its bounds, so it needs no part of its own.
    """

    tenant: TenantId
    fingerprint: str  # of the policies: a role that may see less never gets what another has read
    table: tuple[str, str]  # address and name: a tenant that moves gets nothing from its old table
    on: str | None  # an index
    partition: str
    sort: str | KeyRange  # one sort key for an item, a range for a page
    forward: bool
    limit: int
    projection: tuple[str, ...]
    strong: bool
    subject: str | None = None  # of an own-rows session: rows that one subject has read are not shown to another

    @property
    def item(self) -> ItemKey | None:
        return ItemKey(self.partition, self.sort) if isinstance(self.sort, str) else None


def item_read(session: Session, key: ItemKey, options: ReadOptions) -> ReadKey:
    return _read(session, options, None, key.pk, key.sk, True, 1)


def page_read(session: Session, plan: QueryPartition, options: ReadOptions) -> ReadKey:
    index = plan.index.name if plan.index is not None else None
    return _read(session, options, index, plan.partition, plan.bounds, plan.forward, plan.limit)


def _read(
    session: Session,
    options: ReadOptions,
    index: str | None,
    partition: str,
    sort: str | KeyRange,
    forward: bool,
    limit: int,
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
        options.names,
        options.strong,
        session.permissions.reader,
    )


class Via(NamedTuple):
    """An alternative client and target for reading the table."""

    client: DynamoDB
    source: Source


class ReadItems(Protocol):
    """Reads items, bypassing the cache; missing items are omitted."""

    async def __call__(
        self, access: Access, keys: tuple[ItemKey, ...], *, strong: bool, via: Via | None = None
    ) -> dict[ItemKey, Wire]: ...


class ReadPage(Protocol):
    """Reads a page, bypassing the cache."""

    async def __call__(self, access: Access, plan: QueryPartition, *, via: Via | None = None) -> list[Wire]: ...


class Cache(Protocol):
    """Sits between the table and DynamoDB for all reads that declare how stale they may be."""

    async def items(
        self, access: Access, keys: tuple[ItemKey, ...], options: ReadOptions, read: ReadItems
    ) -> dict[ItemKey, Wire]: ...

    async def page(self, access: Access, plan: QueryPartition, options: ReadOptions, read: ReadPage) -> list[Wire]: ...

    def writing(self, session: Session, operation: str, body: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Wraps a write: afterwards, no returned row is older than the write."""
        ...

    def forget_written(self, session: Session, keys: Sequence[ItemKey]) -> None:
        """Drops all rows that a write of these items, made by another process, may have changed."""
        ...

    def changed(self, tenant: TenantId, write: Written) -> None:
        """Does the same for a write from a change note, which has the old and new places of the item."""
        ...

    def forget_all(self) -> None:
        """Drops the rows of all tenants, because change notes may have been lost."""
        ...
