"""What the tests of the demo domains share: the endpoint in memory, and the demo shop on the sandbox."""

from collections.abc import AsyncIterator

import pytest
from httpx2 import AsyncClient

from gateway.sandbox.sandbox import Sandbox
from tests.demo.sandbox_shop import SandboxShop
from tests.fixtures import client_of, sandbox_app
from tests.graph.fixtures import MemoryEndpoint
from tests.unmeasured import unmeasured


@pytest.fixture
def api() -> MemoryEndpoint:
    return MemoryEndpoint()


@pytest.fixture
async def client(sandbox: Sandbox) -> AsyncIterator[AsyncClient]:
    with unmeasured():
        app = sandbox_app(sandbox)
    async with client_of(app) as client:
        yield client


@pytest.fixture
def shop(sandbox: Sandbox, client: AsyncClient) -> SandboxShop:
    return SandboxShop(sandbox, client)
