"""The built page at `/playground` and the landing page at `/`: types, caching, security headers, and links."""

import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from starlette.applications import Starlette

from gateway.graph.playground.built_page import ASSETS, FOLDER, landing_page, playground_routes

CONFIG: dict[str, Any] = {"explain": True, "sandbox": None, "examples": []}
PACKED = sorted(path.name.removesuffix(".gz") for path in (FOLDER / ASSETS).glob("*.gz"))


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    app = Starlette(routes=[*playground_routes(CONFIG)])
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://gateway", follow_redirects=True) as made:
        yield made


async def asset(client: AsyncClient, name: str, encoding: str = "gzip") -> Response:
    return await client.get(f"/playground/{ASSETS}/{name}", headers={"Accept-Encoding": encoding})


@pytest.mark.parametrize("path", ["/playground", "/playground/"])
async def test_the_page_is_html_that_is_not_cached(client: AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert '<main id="root">' in response.text


async def test_without_a_slash_it_leads_to_its_folder_wherever_that_is(client: AsyncClient) -> None:
    response = await client.get("/playground?a=b%20c", follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (307, "playground/?a=b%20c")
    assert "content-security-policy" in response.headers


async def test_the_page_is_told_about_the_gateway(client: AsyncClient) -> None:
    response = await client.get("/playground/config.json")
    assert response.json() == CONFIG
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("name", PACKED)
async def test_an_asset_is_what_it_says_and_is_kept_for_ever(client: AsyncClient, name: str) -> None:
    response = await asset(client, name)
    kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8", "ttf": "font/ttf"}
    assert response.headers["content-type"] == kinds[name.rpartition(".")[2]]
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert (response.headers["content-encoding"], response.headers["vary"]) == ("gzip", "accept-encoding")
    assert response.content == gzip.decompress((FOLDER / ASSETS / f"{name}.gz").read_bytes())


@pytest.mark.parametrize("encoding", ["identity", "gzip;q=0", "br", "*;q=0"])
async def test_a_caller_that_takes_no_gzip_gets_the_same_unpacked(client: AsyncClient, encoding: str) -> None:
    packed, plain = await asset(client, PACKED[0]), await asset(client, PACKED[0], encoding)
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "accept-encoding"
    assert plain.content == packed.content


@pytest.mark.parametrize("name", ["nothing.js", "..%2Findex.html", "../index.html", "%2e%2e/manifest.json", ".gz", ""])
async def test_nothing_else_is_served(client: AsyncClient, name: str) -> None:
    assert (await asset(client, name)).status_code == 404


@pytest.mark.parametrize("path", ["", "/config.json", f"/{ASSETS}/{PACKED[0]}", f"/{ASSETS}/nothing.js"])
async def test_every_answer_carries_the_rules_of_the_page(client: AsyncClient, path: str) -> None:
    headers = (await client.get(f"/playground{path}")).headers
    rules = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
    assert rules["default-src"] == "'none'"
    # INVARIANT: the page loads and asks nothing but its own host
    sources = {source for value in rules.values() for source in value.split()}
    assert sources == {"'none'", "'self'", "'unsafe-inline'", "data:"}
    assert rules["script-src"] == rules["connect-src"] == rules["worker-src"] == "'self'"
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert rules["frame-ancestors"] == "'none'"


async def test_it_is_only_read(client: AsyncClient) -> None:
    assert (await client.post("/playground", content=b"x")).status_code == 405


# The landing page.


@pytest.mark.parametrize("address", [None, "http://127.0.0.1:8000"])
def test_the_landing_page_links_to_the_playground_if_it_is_served(address: str | None) -> None:
    assert 'href="playground"' in landing_page(address, pages=["/playground"])
    assert "playground" not in landing_page(address)


def test_the_landing_page_links_to_the_order_desk_if_it_is_served() -> None:
    assert 'href="demo"' in landing_page("http://127.0.0.1:8000", pages=["/demo"])
    assert "/demo" not in landing_page("http://127.0.0.1:8000", pages=["/playground"])


def test_the_landing_page_links_to_the_metrics_if_they_are_served() -> None:
    assert 'href="metrics"' in landing_page("http://127.0.0.1:8000", pages=["/metrics"])
    assert "/metrics" not in landing_page(pages=["/playground"])


def test_outside_the_sandbox_the_landing_page_does_not_mention_tokens() -> None:
    page = landing_page(pages=["/playground"])
    for word in ("sandbox", "acme", "gateway token"):
        assert word not in page


def test_the_landing_page_of_the_sandbox_has_a_command_to_paste() -> None:
    page = landing_page("http://127.0.0.1:8000", token="gateway token --tenant acme --role clerk")
    assert "TOKEN=$(gateway token --tenant acme --role clerk)" in page
    assert "curl -s http://127.0.0.1:8000/graphql" in page
    assert "ADDRESS" not in page
