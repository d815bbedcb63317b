"""The gateway in memory that the tests of this room share."""

import pytest

from tests.graph.fixtures import MemoryEndpoint


@pytest.fixture
def api() -> MemoryEndpoint:
    return MemoryEndpoint()
