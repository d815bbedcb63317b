"""Tokens for the playground: only in the sandbox, only for its own page, only for demo tenants."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient, Response
from jose import jwt
from starlette.applications import Starlette

from gateway.model.demo import DemoTenant
from gateway.model.role import STANDARD_ROLES, Role
from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.dev.token_route import TOKEN_PATH, sandbox_address, switcher, token_route
from gateway.settings import Settings
from tests.test_settings import ISSUER, RIGHT

REQUEST = {"tenant": "acme", "role": "support"}


def settings(**changes: Any) -> Settings:
    return Settings(**{**RIGHT, "environment": "sandbox", **changes})


def issuer(address: str) -> dict[str, Any]:
    return {**ISSUER, "issuer": address}


async def client_of(address: str, peer: str = "127.0.0.1") -> AsyncIterator[AsyncClient]:
    app = Starlette(routes=[token_route(address)])
    transport = ASGITransport(app=app, client=(peer, 50_000))
    async with AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as made:
        yield made


@pytest.fixture
async def client(assembly: SandboxAssembly) -> AsyncIterator[AsyncClient]:
    async for made in client_of(assembly.ready.url):
        yield made


async def request_token(client: AsyncClient, request_body: Any = None, **headers: str) -> Response:
    return await client.post(TOKEN_PATH, json=request_body or REQUEST, headers=headers)


async def test_a_token_is_that_of_the_issuer(client: AsyncClient, assembly: SandboxAssembly) -> None:
    response = await request_token(client)
    claims = jwt.get_unverified_claims(response.json()["token"])
    assert (claims["iss"], claims["tenant"], claims["roles"]) == (assembly.ready.issuer, "acme", ["support"])
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
    response = await request_token(client, **headers)
    assert response.status_code == 403
    assert "token" not in response.json()


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8000", "localhost:8000", "localhost", "gateway.localhost:80", "[::1]:8000", "192.168.0.7:8000"]
)
async def test_the_page_itself_does_whatever_this_machine_is_called(client: AsyncClient, host: str) -> None:
    assert (await request_token(client, Host=host, Origin=f"http://{host}")).status_code == 200


@pytest.mark.parametrize("peer", ["192.168.0.9", "203.0.113.7", "2001:db8::7", "::ffff:203.0.113.7", "", "x"])
async def test_another_machine_gets_no_token(assembly: SandboxAssembly, peer: str) -> None:
    """Whatever it says it is: `gateway dev --host 0.0.0.0` is reached by strangers."""
    async for stranger in client_of(assembly.ready.url, peer):
        for host in ("127.0.0.1:8000", "192.168.0.7:8000", "localhost"):
            response = await request_token(stranger, Host=host, Origin=f"http://{host}")
            assert response.status_code == 403
            assert "token" not in response.json()


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"])
async def test_this_machine_gets_one(assembly: SandboxAssembly, peer: str) -> None:
    async for own in client_of(assembly.ready.url, peer):
        assert (await request_token(own)).status_code == 200


async def test_a_slow_body_is_not_waited_for(client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.sandbox.dev.issuer._BODY_SECONDS", 0.05)

    async def dripping() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    response = await asyncio.wait_for(client.post(TOKEN_PATH, content=dripping()), 30)
    assert (response.status_code, response.json()["error"][:18]) == (400, "send a JSON object")


@pytest.mark.parametrize(
    ("request_body", "said"),
    [
        ({"tenant": "hooli", "role": "viewer"}, "unknown tenant `hooli`"),
        ({"tenant": "acme", "role": "owner"}, "unknown role `owner`"),
        ({"tenant": "acme"}, "send a JSON object"),
        ({"tenant": 7, "role": "viewer"}, "send a JSON object"),
        (["acme"], "send a JSON object"),
        ({"tenant": "acme", "role": "v" * 5_000}, "send a JSON object of at most 4096 bytes"),
    ],
)
async def test_a_wrong_request_is_reported(client: AsyncClient, request_body: Any, said: str) -> None:
    response = await request_token(client, request_body)
    assert response.status_code == 400
    assert response.json()["error"].startswith(said)


async def test_invalid_json_is_reported(client: AsyncClient) -> None:
    assert (await client.post(TOKEN_PATH, content=b"{")).status_code == 400


async def test_tokens_are_not_read_by_get(client: AsyncClient) -> None:
    assert (await client.get(TOKEN_PATH)).status_code == 405


async def test_without_an_issuer_there_is_a_clear_answer() -> None:
    async for client in client_of("http://127.0.0.1:9"):
        response = await request_token(client)
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
    known = (DemoTenant("acme", "Acme Tools"), DemoTenant("globex", subjects=("g-1",)))
    customer = Role(name="customer", description="", own=True)
    offered = switcher(settings(tenants=["globex", "other"]), known, (*STANDARD_ROLES, customer))
    assert offered["tenants"] == [{"name": "globex", "title": "globex", "subjects": ("g-1",)}]
    assert [role["name"] for role in offered["roles"]] == ["viewer", "support", "editor", "admin", "customer"]
    assert [role["own"] for role in offered["roles"]] == [False] * 4 + [True]
    assert [tenant["title"] for tenant in switcher(settings(), known, STANDARD_ROLES)["tenants"]] == [
        "Acme Tools",
        "globex",
    ]
