"""The gateway in memory that the tests of this room share."""

import pytest

from tests.graph.fixtures import World


@pytest.fixture
def world() -> World:
    return World()
