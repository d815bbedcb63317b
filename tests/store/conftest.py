"""The table of the store's tests, and the access of one request to it."""

import pytest
from hypothesis import HealthCheck, settings

from gateway.store.access import Access
from gateway.store.rows import Rows
from gateway.store.table import Table
from gateway.testing.memory import Memory
from tests.store.fixtures import MODEL, NOW, TABLE, no_renewal, session

# a slow machine is no fault of the code
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def memory() -> Memory:
    return Memory(MODEL.table, TABLE)


@pytest.fixture
def access() -> Access:
    return Access(session())


@pytest.fixture
def table(memory: Memory) -> Table:
    return Table(memory, MODEL, no_renewal, Rows(MODEL, clock=NOW.timestamp))
