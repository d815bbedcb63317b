"""Named access patterns: every way in which the table may be read, as declared data."""

from dataclasses import dataclass
from datetime import timedelta

from gateway.model.entity import PRIMARY
from gateway.model.staleness import Staleness


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is expected of a pattern, for the documentation and for capacity planning."""

    per_second: float = 1
    items: int = 1
    item_bytes: int = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """By the full key of an entity: GetItem for one, BatchGetItem for many."""

    name: str
    entity: str
    description: str
    many: str | None = None  # the name under which many are asked for at once
    strong: bool = False
    traffic: Traffic = Traffic()
    deprecated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A Query on one placement of an entity: the table itself, one of its copies, or an index.

    Its parameters are the attributes of the partition key, those sort key attributes named in `where`, and an optional
    range over the sort key attribute `between`. With a `window` an end that is left open is filled in, so that without
    any range the last such time up to now is read, and callers may ask for the last hours instead.
    """

    name: str
    entity: str
    description: str
    index: str = PRIMARY
    where: tuple[str, ...] = ()
    between: str | None = None
    window: timedelta | None = None
    newest_first: bool = False  # descending sort keys
    single: bool = False  # at most one item answers
    follow: str | None = None  # with `single`: answer with what this reference of the item leads to
    strong: bool = False
    cached: Staleness | None = None  # how stale a page may be
    traffic: Traffic = Traffic(items=20)
    deprecated: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCollection:
    """An item and the first page of one of its collections from one Query, since both lie in one partition."""

    name: str
    entity: str
    collection: str
    description: str
    traffic: Traffic = Traffic(items=20)


AccessPattern = Lookup | Listing | ItemCollection
