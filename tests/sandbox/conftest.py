"""One sandbox for the tests of this folder, served from a thread, with some demo rows; nobody changes those."""

import asyncio
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from gateway.demo.shops import SHOPS
from gateway.model.model import Model
from gateway.model.tenant import owns
from gateway.sandbox.assembly import SandboxAssembly, build, engine_for
from gateway.sandbox.dev.seeds import seed_items
from gateway.sandbox.pytest_plugin import iam_sandbox
from gateway.sandbox.ready import Options
from tests.sandbox.documents import ACCOUNT, REGION, written
from tests.sandbox.small import Small
from tests.sandbox.wire import closed, listening, serving

__all__ = ["assembly", "iam_sandbox", "small"]


def some_rows(model: Model, now: datetime) -> list[dict[str, Any]]:
    """Suppliers, categories and the first users of each tenant: all rows take a second."""
    items = seed_items(model, now)
    return [item for shop in SHOPS for item in [each for each in items if owns(shop.tenant, each["PK"]["S"])][:30]]


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxAssembly]:
    policies = written(tmp_path_factory.mktemp("policies"))
    options = Options(account=ACCOUNT, region=REGION, policies=policies)
    engine = engine_for(options)
    with listening() as (found, url):
        made = asyncio.run(build(options, engine, url, some_rows))
        with serving(made.app, found):
            yield made
    closed(engine)


@pytest.fixture
def small() -> Small:
    return Small()
