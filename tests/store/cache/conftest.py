"""A world with a cache for each test; what it still reads when the test ends is ended."""

from collections.abc import AsyncIterator

import pytest

from tests.store.cache.fixtures import World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    yield made
    await made.cache.close()
