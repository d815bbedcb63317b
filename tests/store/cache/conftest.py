"""A store with a cache for each test; reads that are still running when the test ends are cancelled."""

from collections.abc import AsyncIterator

import pytest

from tests.store.cache.fixtures import CachedStore


@pytest.fixture
async def store() -> AsyncIterator[CachedStore]:
    made = CachedStore()
    yield made
    await made.cache.close()
