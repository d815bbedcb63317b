"""One engine for the whole run, one table in it, and a tenant of its own for each test."""

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.aws.wire.dynamodb import DynamoDBClient
from gateway.demo import MODEL
from gateway.model.tenant import tenant_id
from tests.engines.engine import NAMES, Engine, Quirks, engine, running
from tests.engines.shop import Shop, call

_NUMBERS = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--engine", default="moto", choices=NAMES, help="what tests/engines runs on (moto)")


@pytest.fixture(scope="session")
def chosen(request: pytest.FixtureRequest) -> Engine:
    # a run of all tests reads this file after the options, so it cannot choose
    found = engine(request.config.getoption("engine", default="moto"))
    if found.missing is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(found.missing)
        pytest.skip(found.missing)
    return found


@pytest.fixture(scope="session")
def quirks(chosen: Engine) -> Quirks:
    return chosen.quirks


@pytest.fixture(scope="session")
def url(chosen: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path: Path = tmp_path_factory.mktemp("engine") / "log"
    try:
        with path.open("wb") as log, running(chosen, log) as address:
            yield address
    except RuntimeError:
        print(path.read_text(errors="replace"))  # pytest shows it with the failure
        raise


@pytest.fixture(scope="session")
def table(url: str) -> str:
    async def create(name: str) -> str:
        async with DynamoDBClient() as client:
            await call(client, url, "CreateTable", MODEL.table.create_request(name))
        return name

    return asyncio.run(create("app"))


@pytest.fixture
async def client() -> AsyncIterator[DynamoDBClient]:
    async with DynamoDBClient() as made:
        yield made


@pytest.fixture
def shop(client: DynamoDBClient, url: str, table: str) -> Shop:
    return Shop(client, url, table, tenant_id(f"shop-{os.getpid()}-{next(_NUMBERS)}"))
