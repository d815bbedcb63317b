"""Test support for your own domain: `serve`, and a pytest plugin with the fixtures `gateway_client` and
`sandbox_client`.

Put `pytest_plugins = ["gateway.testing"]` into the top `conftest.py` and define the fixture `gateway_domains`; see
docs/your-own-domain.md.
"""

from collections.abc import Iterator, Sequence

import pytest

from gateway.testing.client import AsyncGatewayClient, GatewayClient, GraphQLErrors
from gateway.testing.serve import serve

__all__ = [
    "AsyncGatewayClient",
    "GatewayClient",
    "GraphQLErrors",
    "gateway_client",
    "gateway_domains",
    "sandbox_client",
    "serve",
]


@pytest.fixture(scope="session")
def gateway_domains() -> Sequence[str]:
    """Define this fixture yourself: it returns the modules of your domains, such as `["clinic.domain"]`."""
    return pytest.fail("define a fixture `gateway_domains` that returns the modules of your domains", pytrace=False)


@pytest.fixture
def gateway_client(gateway_domains: Sequence[str]) -> Iterator[GatewayClient]:
    """Your domains on the in-memory engine, without rows."""
    with serve(*gateway_domains) as client:
        yield client


@pytest.fixture
def sandbox_client(gateway_domains: Sequence[str]) -> Iterator[GatewayClient]:
    """Your domains on the sandbox, with real sessions and IAM enforced, without rows."""
    with serve(*gateway_domains, on="sandbox") as client:
        yield client
