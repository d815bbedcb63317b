"""A node, Amazon's client for it, and a table that reads through both."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace

import boto3
import pytest

from gateway.store.access import Access
from gateway.store.cache.dax.breaker import BreakerRules
from gateway.store.cache.dax.cluster import DaxCluster, DaxRules, connector
from gateway.store.cache.dax.reads import Ages, Clusters, DaxReads
from gateway.store.rows import Rows
from gateway.store.table import Table
from gateway.testing.memory import Memory
from tests.fixtures import aws as shared_session
from tests.store.cache.dax.server import DaxNode
from tests.store.cache.fixtures import MODEL, CachedStore, no_renewal, session
from tests.store.fixtures import TABLE

pytest.importorskip("amazondax", reason="the extra `dax` is not installed")

RULES = DaxRules(threads=4, seconds=10, breaker=BreakerRules(failures=2, pause=0.02))
HASTY = replace(RULES, seconds=0.1)  # for a node that keeps silent
AGES = Ages(items=60, pages=40)


def cluster_at(endpoint: str, rules: DaxRules = RULES, aws: boto3.Session | None = None) -> DaxCluster:
    aws = aws or shared_session("AKIDGATEWAY")
    return DaxCluster("pooled", connector(endpoint, "eu-west-1", aws, rules), rules)


class DaxStore(CachedStore):
    """The same table, read through a node; `memory.sent` holds only what went past it."""

    def __init__(self, clusters: Clusters) -> None:
        super().__init__()
        self.reads = DaxReads(MODEL.table, clusters, AGES, clock=self.clock)
        self.table = Table(self.memory, MODEL, no_renewal, Rows(MODEL, clock=self.clock.wall), self.reads)

    async def answered(self) -> None:
        """Asks until the cluster answers: the first connection may take longer than a hasty call waits."""
        for _ in range(10_000):
            access = Access(session())
            assert await self.rank("t", access) == 1
            if access.calls[0].source == "dax":
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the cluster never answers")


@pytest.fixture
def node() -> Iterator[DaxNode]:
    made = DaxNode(Memory(MODEL.table, TABLE))
    yield made
    made.stop()


@pytest.fixture
async def hasty(node: DaxNode) -> AsyncIterator[DaxStore]:
    store = DaxStore(Clusters(cluster_at(node.endpoint, HASTY)))
    node.memory = store.memory
    store.put("t")
    await store.answered()
    store.memory.sent.clear()
    yield store
    node.spoken.set()
    await store.reads.close()


@pytest.fixture
async def dax(node: DaxNode) -> AsyncIterator[DaxStore]:
    store = DaxStore(Clusters(cluster_at(node.endpoint)))
    node.memory = store.memory
    yield store
    node.trouble = None
    await store.reads.close()
