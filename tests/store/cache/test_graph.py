"""GraphQL through the cache: the same answers with fewer calls, by roles and tenants, and after mutations."""

import asyncio
import random
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import orjson
import pytest

from gateway.demo import MODEL
from gateway.graph.query.lane.lane import Lanes
from gateway.store.cache.cache import ReadCache
from gateway.store.table import Table
from tests.fixtures import CATALOGUES
from tests.graph.fixtures import IN_LANES, MemoryEndpoint, no_renewal

CATALOGUE = """{ categories { nodes { categoryId title products(first: 3) { nodes { productId title price
  supplier { title } } pageInfo { hasNextPage endCursor } } } } }"""
WHOLE = CATALOGUE.replace("first: 3", "first: 50")
PRODUCT = '{ product(productId: "p-1001") { productId title price } }'
RENAME = """mutation ($title: String!) { updateProduct(input: {productId: "p-1001", title: $title}) {
  product { title version } errors { code } } }"""


class CachedEndpoint(MemoryEndpoint):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.cache = ReadCache(MODEL)
        self.plain = self.endpoint
        reference = replace(self.endpoint.reference, table=Table(self.memory, MODEL, no_renewal, cache=self.cache))
        lanes = Lanes(MODEL, reference.table, reference.cursors, reference.limits, IN_LANES)
        self.endpoint = replace(self.endpoint, reference=reference, lanes=lanes)


@pytest.fixture
async def api() -> AsyncIterator[CachedEndpoint]:
    made = CachedEndpoint()
    yield made
    await made.cache.close()


async def test_answers_are_the_same_with_and_without_a_cache(api: CachedEndpoint) -> None:
    first = await api.ask(CATALOGUE)
    assert api.calls
    second = await api.ask(CATALOGUE)
    assert api.calls == []
    api.endpoint = api.plain
    assert first == second == await api.ask(CATALOGUE)


async def test_a_mutation_is_seen_by_the_next_operation(api: CachedEndpoint) -> None:
    await api.ask(WHOLE)
    await api.ask(PRODUCT)
    for title in ("Once", "Twice"):
        await api.ask(RENAME, {"title": title}, token="acme/editor")
        assert (await api.ask(PRODUCT))["product"]["title"] == title
        assert title in orjson.dumps(await api.ask(WHOLE)).decode()


async def test_what_a_role_may_not_read_is_refused_after_another_has_read_it(api: CachedEndpoint) -> None:
    query = '{ supplier(supplierId: "s-1001") { title contact } }'
    [supplier] = [row for row in api.memory.rows.values() if row["PK"]["S"].startswith("TENANT#acme#SUPPLIER#")][:1]
    query = query.replace("s-1001", supplier["supplierId"]["S"])
    assert (await api.ask(query))["supplier"]["contact"]
    answer = orjson.loads((await api.post(query, token="acme/support")).content)
    assert answer["data"]["supplier"]["contact"] is None
    assert answer["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    assert (await api.ask(query))["supplier"]["contact"]


async def test_tenants_who_ask_the_same_at_one_time_see_only_their_own(api: CachedEndpoint) -> None:
    chance = random.Random(3)
    queries = [chance.choice([CATALOGUE, PRODUCT]) for _ in range(200)]
    tenants = [chance.choice(sorted(CATALOGUES)) for _ in queries]

    async def one(query: str, tenant: str) -> None:
        text = (await api.post(query, token=f"{tenant}/viewer")).text
        assert "errors" not in text
        for other in CATALOGUES.keys() - {tenant}:
            assert not re.search(re.escape(CATALOGUES[other]), text)

    await asyncio.gather(*(one(query, tenant) for query, tenant in zip(queries, tenants, strict=True)))
    counts = api.cache.stats().total
    assert counts.hits + counts.shared > counts.misses


async def test_the_log_line_distinguishes_calls_from_cached_reads(
    api: CachedEndpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "gateway.operation")
    for _ in range(2):
        await api.ask(PRODUCT)
    lines: list[dict[str, Any]] = [record.fields for record in caplog.records if hasattr(record, "fields")]
    assert [(line["dynamodb_calls"], line["cached_reads"]) for line in lines] == [(1, 0), (0, 1)]
