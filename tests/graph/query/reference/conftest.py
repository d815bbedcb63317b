"""Readers of the demo shop, as requests of the reference executor have them."""

from collections.abc import Awaitable, Callable

import pytest

from gateway.graph.query.reference.reader import Reader
from gateway.store.access import Access
from tests.graph.fixtures import MemoryEndpoint, TrustingCallers

MakeReader = Callable[..., Awaitable[Reader]]


@pytest.fixture
def reader_for(api: MemoryEndpoint) -> MakeReader:
    async def make(role: str = "viewer", tenant: str = "acme") -> Reader:
        caller = await TrustingCallers().open(f"Bearer {tenant}/{role}".encode(), lambda _: None)
        reference = api.endpoint.reference
        return Reader(reference.model, reference.table, Access(caller.session), reference.cursors, reference.limits)

    return make


@pytest.fixture
async def reader(reader_for: MakeReader) -> Reader:
    return await reader_for()
