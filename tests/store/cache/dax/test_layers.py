"""The cache of the process before a cluster: who answers, for how long, and what neither may answer."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from gateway.model.staleness import Staleness
from gateway.store.access import Access
from gateway.store.cache.dax.reads import Ages, Clusters, DaxReads
from gateway.store.cache.layers import Layers, remaining
from gateway.store.plan import GetItems
from gateway.store.rows import Rows
from gateway.store.table import Table
from tests.store.cache.dax.conftest import cluster_at
from tests.store.cache.dax.server import DaxNode
from tests.store.cache.fixtures import MODEL, SUPPORT, THINGS, CachedStore, no_renewal, session, things
from tests.store.fixtures import ACME

pytestmark = pytest.mark.filterwarnings("ignore:datetime.datetime.utc:DeprecationWarning")

# of the 100 seconds that a thing may be old, a cluster may have taken 60; pages may be 50 old, and it takes them all
AGES = Ages(items=60, pages=50)


class LayeredStore(CachedStore):
    def __init__(self, node: DaxNode) -> None:
        super().__init__()
        dax = DaxReads(MODEL.table, Clusters(cluster_at(node.endpoint)), AGES, clock=self.clock)
        self.layers = Layers(self.cache, dax)
        self.table = Table(self.memory, MODEL, no_renewal, Rows(MODEL, clock=self.clock.wall), self.layers)
        node.memory = self.memory

    async def source(self) -> str:
        return await self._source(Access(session()), things("t"))

    async def source_for_support(self) -> str:
        access = Access(session(role="support", policy=SUPPORT))
        return await self._source(access, replace(things("t"), attributes=frozenset({"thingId"})))

    async def _source(self, access: Access, plan: GetItems) -> str:
        await self.table.get(access, plan)
        [call] = access.calls
        return call.source


@pytest.fixture
async def both(node: DaxNode) -> AsyncIterator[LayeredStore]:
    store = LayeredStore(node)
    store.put("t")
    yield store
    node.trouble = None
    await store.layers.close()


async def test_the_process_answers_first_then_the_cluster(both: LayeredStore, node: DaxNode) -> None:
    assert [await both.source() for _ in range(3)] == ["dax", "cache", "cache"]
    assert node.calls == {"GetItem": 1}
    assert both.calls == []


async def test_together_they_are_not_older_than_declared(both: LayeredStore) -> None:
    """What a cluster may have kept for 60 seconds the process keeps for 40 and not for 100."""
    await both.source()
    both.clock.now += 39.9 * 0.6
    assert await both.source() == "cache"
    both.clock.now += 40.1 - 39.9 * 0.6
    assert await both.source() == "dax"


async def test_pages_for_which_the_cluster_takes_all_the_time_are_not_kept_again(
    both: LayeredStore, node: DaxNode
) -> None:
    for _ in range(2):
        access = Access(session())
        await both.ranked(access)
        assert {call.source for call in access.calls} == {"dax"}


async def test_own_writes_pass_both(both: LayeredStore, node: DaxNode) -> None:
    assert await both.rank("t") == 1
    # the cluster holds what was
    before = CachedStore()
    before.put("t", rank=1)
    node.memory = before.memory
    await both.update("t", rank=7)
    access = Access(session())
    assert await both.rank("t", access) == 7
    assert "dax" not in [call.source for call in access.calls]
    both.clock.now += 45
    assert await both.rank("t") == 7, "the process has forgotten it, and the cluster is still behind"


async def test_what_another_process_wrote_is_read_past_both_once_it_is_known(both: LayeredStore) -> None:
    assert [await both.source() for _ in range(2)] == ["dax", "cache"]
    both.layers.forget_written(session(), things("t").keys)
    assert await both.source() == "table"


async def test_a_role_that_sees_less_is_not_answered_by_either(both: LayeredStore) -> None:
    await both.source()
    assert [await both.source_for_support() for _ in range(2)] == ["table", "cache"]
    assert await both.source() == "cache"


async def test_without_the_cluster_the_table_answers_and_the_process_remembers(
    both: LayeredStore, node: DaxNode
) -> None:
    node.trouble = "error"
    assert [await both.source() for _ in range(2)] == ["table", "cache"]


async def test_a_tenant_is_forgotten(both: LayeredStore) -> None:
    await both.source()
    both.layers.forget(ACME)
    assert await both.source() == "dax"


@pytest.mark.parametrize(
    ("declared", "left"),
    [
        (Staleness(59, 5), Staleness(59, 5)),  # never goes through a cluster
        (Staleness(60, 5), None),
        (THINGS, Staleness(40, 10)),
        (Staleness(100, 80), Staleness(40, 20)),
        (Staleness(70, 30), Staleness(10, 10)),
    ],
)
def test_what_is_left_of_the_declared_time(declared: Staleness, left: Staleness | None) -> None:
    assert remaining(declared, 60) == left
