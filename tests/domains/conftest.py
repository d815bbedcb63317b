"""The gateway in memory that the tests of the domains share."""

import pytest

from tests.graph.world import World


@pytest.fixture
def world() -> World:
    return World()
