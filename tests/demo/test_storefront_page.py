"""The page at `/demo`: what was built, and whom it can serve."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient
from starlette.applications import Starlette

from gateway.demo.commerce import DOMAIN
from gateway.graph.playground.built_page import page_routes

FOLDER = DOMAIN.demo.front_end if DOMAIN.demo is not None and DOMAIN.demo.front_end is not None else Path()
OFFERED = {"tokens": "../sandbox/token", "tenants": [], "roles": []}


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    app = Starlette(routes=page_routes("/demo", FOLDER, OFFERED))
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://gateway", follow_redirects=True) as made:
        yield made


async def test_the_page_and_everything_that_it_names_are_served(client: AsyncClient) -> None:
    page = await client.get("/demo")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    names = [path.name.removesuffix(".gz") for path in (FOLDER / "assets").iterdir()]
    assert names
    for name in names:
        assert f'"./assets/{name}"' in page.text
        assert (await client.get(f"/demo/assets/{name}")).status_code == 200


async def test_it_is_told_whom_it_can_serve(client: AsyncClient) -> None:
    assert (await client.get("/demo/config.json")).json() == OFFERED


@pytest.mark.parametrize("path", ["/demo", "/demo/config.json", "/demo/assets/nothing.js"])
async def test_it_loads_and_asks_nothing_but_its_own_host(client: AsyncClient, path: str) -> None:
    policy = (await client.get(path)).headers["content-security-policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert (rules["default-src"], rules["script-src"], rules["connect-src"]) == ("'none'", "'self'", "'self'")
