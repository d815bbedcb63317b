"""One sandbox for the tests of this folder, served from a thread, with its demo rows; nobody changes those."""

import asyncio
from collections.abc import Iterator

import pytest

from gateway.sandbox.pytest_plugin import iam_sandbox
from gateway.sandbox.ready import Options
from gateway.sandbox.world import World, build, engine_for
from tests.sandbox.documents import ACCOUNT, REGION, written
from tests.sandbox.small import Small
from tests.sandbox.wire import closed, listening, serving

__all__ = ["iam_sandbox", "small", "world"]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    policies = written(tmp_path_factory.mktemp("policies"))
    options = Options(account=ACCOUNT, region=REGION, policies=policies)
    engine = engine_for(options)
    with listening() as (found, url):
        made = asyncio.run(build(options, engine, url))
        with serving(made.app, found):
            yield made
    closed(engine)


@pytest.fixture
def small() -> Small:
    return Small()
