"""The gateway in memory that the tests of the domains share."""

import pytest

from tests.graph.fixtures import World


@pytest.fixture
def world() -> World:
    return World()
