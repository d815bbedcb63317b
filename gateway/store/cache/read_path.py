"""The interface between table and cache, and the key under which a cache keeps an answer."""

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
    """What was prepared for reads of one form: who may send them, by the policies `shared`, and their typed rows."""

    shared: SharedPermissions
    permission: PreparedPermission | None
    decode: Callable[[bytes], list[Any]]

    def statements(self, session: Session, partitions: Sequence[str]) -> tuple[str, ...] | None:
        """What allows to read these partitions; None: the evaluator has to decide.

        INVARIANT: only for the policies that it was prepared for, and only on keys of the tenant and the subject that
        they let in.
        """
        permissions, permission = session.permissions, self.permission
        if permission is None or permissions.shared is not self.shared:
            return None
        allows = permission.residual.allows(partitions, permissions.own, permissions.reader)
        return permission.statements if allows else None


class Asked(NamedTuple):
    """How something is read: the attributes as they are stored, consistently or not, and how stale it may be.

    Where it is `prepared`, what is kept is answered as typed rows; what has to be read is answered as it came.
    """

    names: tuple[str, ...]
    strong: bool
    staleness: Staleness
    prepared: PreparedReads | None = None


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
    subject: str | None = None  # of an own-rows session: what one subject has read is not shown to another

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
        session.permissions.reader,
    )


class Via(NamedTuple):
    """A way to the table."""

    client: DynamoDB
    source: Source


class ReadItems(Protocol):
    """Reads items past the cache; those that do not exist are left out."""

    async def __call__(
        self, access: Access, keys: tuple[ItemKey, ...], *, strong: bool, via: Via | None = None
    ) -> dict[ItemKey, Wire]: ...


class ReadPage(Protocol):
    """Reads a page past the cache."""

    async def __call__(self, access: Access, plan: QueryPartition, *, via: Via | None = None) -> list[Wire]: ...


class Cache(Protocol):
    """What stands between the table and DynamoDB for everything that declares how stale it may be."""

    async def items(
        self, access: Access, keys: tuple[ItemKey, ...], asked: Asked, read: ReadItems
    ) -> dict[ItemKey, Wire]: ...

    async def page(self, access: Access, plan: QueryPartition, asked: Asked, read: ReadPage) -> list[Wire]: ...

    def writing(self, session: Session, operation: str, body: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Wraps a write: after it, no answer is older than the write."""
        ...

    def forget_written(self, session: Session, keys: Sequence[ItemKey]) -> None:
        """Drops every answer that a write of these items, made by another process, may have changed."""
        ...

    def changed(self, tenant: TenantId, write: Written) -> None:
        """The same for a write that a change note tells, with the places where the item was and is."""
        ...

    def forget_all(self) -> None:
        """Drops the answers of all tenants, because change notes may have been lost."""
        ...
