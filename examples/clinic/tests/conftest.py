"""Fixtures of the gateway, for this domain."""

import pytest

pytest_plugins = ["gateway.testing"]


@pytest.fixture(scope="session")
def gateway_domains() -> list[str]:
    return ["clinic.domain"]
