"""Tokens for the playground: only in the sandbox, only for its own page, only for demo tenants."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from jose import jwt
from starlette.applications import Starlette

from gateway.sandbox.token_route import TOKEN_PATH, sandbox_address, switcher, token_route
from gateway.sandbox.world import World
from gateway.settings import Settings
from tests.test_settings import ISSUER, RIGHT

WANTED = {"tenant": "acme", "role": "support"}


def settings(**changes: Any) -> Settings:
    return Settings(**{**RIGHT, "environment": "sandbox", **changes})


def issuer(address: str) -> dict[str, Any]:
    return {**ISSUER, "issuer": address}


async def client_of(address: str) -> AsyncIterator[AsyncClient]:
    app = Starlette(routes=[token_route(address)])
    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://127.0.0.1:8000") as made:
        yield made


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async for made in client_of(world.ready.url):
        yield made


async def ask(client: AsyncClient, wanted: Any = None, **headers: str) -> Response:
    return await client.post(TOKEN_PATH, json=wanted or WANTED, headers=headers)


async def test_a_token_is_that_of_the_issuer(client: AsyncClient, world: World) -> None:
    response = await ask(client)
    claims = jwt.get_unverified_claims(response.json()["token"])
    assert (claims["iss"], claims["tenant"], claims["roles"]) == (world.ready.issuer, "acme", ["support"])
    assert response.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Origin": "null"},
        {"Host": "evil.example:8000"},
        {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "localhost.evil.example"},
    ],
)
async def test_another_site_gets_no_token(client: AsyncClient, headers: dict[str, str]) -> None:
    response = await ask(client, **headers)
    assert response.status_code == 403
    assert "token" not in response.json()


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "localhost", "gateway.localhost:80", "[::1]:8000", "192.168.0.7:8000"]
)
async def test_the_page_itself_does_whatever_this_machine_is_called(client: AsyncClient, host: str) -> None:
    assert (await ask(client, Host=host, Origin=f"http://{host}")).status_code == 200


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"tenant": "hooli", "role": "viewer"}, "unknown tenant `hooli`"),
        ({"tenant": "acme", "role": "owner"}, "unknown role `owner`"),
        ({"tenant": "acme"}, "send a JSON object"),
        ({"tenant": 7, "role": "viewer"}, "send a JSON object"),
        (["acme"], "send a JSON object"),
        ({"tenant": "acme", "role": "v" * 5_000}, "send a JSON object"),
    ],
)
async def test_a_wrong_wish_is_told(client: AsyncClient, wanted: Any, said: str) -> None:
    response = await ask(client, wanted)
    assert response.status_code == 400
    assert response.json()["error"].startswith(said)


async def test_what_is_no_json_is_told(client: AsyncClient) -> None:
    assert (await client.post(TOKEN_PATH, content=b"{")).status_code == 400


async def test_tokens_are_not_read_by_get(client: AsyncClient) -> None:
    assert (await client.get(TOKEN_PATH)).status_code == 405


async def test_without_an_issuer_there_is_a_clear_answer() -> None:
    async for client in client_of("http://127.0.0.1:9"):
        response = await ask(client)
        assert response.status_code == 503
        assert "gateway dev" in response.json()["error"]


def test_the_sandbox_knows_its_issuer() -> None:
    issuers = [issuer("https://id.example.org"), issuer("http://127.0.0.1:8001/issuer")]
    assert sandbox_address(settings(issuers=issuers)) == "http://127.0.0.1:8001"
    assert sandbox_address(settings()) is None


def test_outside_the_sandbox_there_is_no_issuer_to_ask() -> None:
    production = settings(environment="production", issuers=[issuer("http://127.0.0.1:8001/issuer")])
    assert sandbox_address(production) is None


def test_the_switcher_offers_the_tenants_that_are_served_and_the_weakest_role_first() -> None:
    offered = switcher(settings(tenants=["globex", "other"]))
    assert [tenant["name"] for tenant in offered["tenants"]] == ["globex"]
    assert [role["name"] for role in offered["roles"]] == ["viewer", "support", "editor", "admin"]
    assert len(switcher(settings())["tenants"]) == 3
