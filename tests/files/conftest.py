"""One vault for each test that asks for it."""

from collections.abc import AsyncIterator

import pytest

from tests.files.serving import Vault, vault


@pytest.fixture
async def stores() -> AsyncIterator[Vault]:
    async with vault() as served:
        yield served
