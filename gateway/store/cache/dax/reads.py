"""Which reads go through a cluster, and what becomes of their answers."""

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from gateway.aws.sessions import Session
from gateway.errors import Forbidden, IsolationBreach
from gateway.iam.evaluator import restricts
from gateway.iam.requests import authorisations
from gateway.model.keys import ItemKey
from gateway.model.model import Model
from gateway.model.tenant import TenantId, owns
from gateway.store import wire
from gateway.store.access import Access
from gateway.store.cache.dax.cluster import DaxBusy, DaxCluster, DaxFailed
from gateway.store.cache.keys import item_read, page_read
from gateway.store.cache.path import Asked, Cache, ReadItems, ReadPage, Via
from gateway.store.cache.recent import RecentWrites
from gateway.store.cache.stats import GroupOf
from gateway.store.cache.writes import written
from gateway.store.codec import Wire
from gateway.store.plan import QueryPartition

T = TypeVar("T")
ClusterOf = Callable[[TenantId], DaxCluster | None]

_ATTRIBUTES = frozenset({"dynamodb:attributes"})


@dataclass(frozen=True, slots=True)
class Ages:
    """How old an answer of the clusters can be: what their parameter group says."""

    items: float = 300.0
    pages: float = 300.0
