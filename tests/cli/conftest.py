"""Commands are tested with the demo domains, as the setting names them."""

import json

import pytest

from gateway.settings import DEMO_DOMAINS


@pytest.fixture(autouse=True)
def named_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_DOMAINS", json.dumps(DEMO_DOMAINS))
