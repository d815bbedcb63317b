"""The one path of a read: what the table asks of a cache, and what the cache may ask of the table."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from gateway.aws.sts.sessions import Session
from gateway.aws.wire.dynamodb import DynamoDB
from gateway.model.keys import ItemKey
from gateway.model.staleness import Staleness
from gateway.model.types import Wire
from gateway.store.access import Access, Source
from gateway.store.plan import QueryPartition


class Asked(NamedTuple):
    """How something is read: the attributes as they are stored, consistently or not, and how stale it may be."""

    names: tuple[str, ...]
    strong: bool
    staleness: Staleness


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
