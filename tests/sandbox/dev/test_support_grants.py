"""Support grants of the sandbox: as production takes them, and no longer ones."""

import json
from typing import Any

import httpx2
import pytest
from starlette.applications import Starlette

from gateway.errors import BadUserInput, Unavailable
from gateway.identity.authenticator import Authenticator
from gateway.identity.issuer import Issuer
from gateway.identity.support import SupportAccess, SupportRules
from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.dev.issuer import TokenIssuer
from gateway.sandbox.dev.support_grants import ask_for_grant, grant_route, sign_grant
from gateway.sandbox.server import free_port

URL = "http://127.0.0.1:8001"
ISSUER = f"{URL}/issuer"
REQUEST: dict[str, Any] = {"tenant": "acme", "actor": "jane@example.org", "reason": "ticket 4711", "minutes": 15}


@pytest.fixture(scope="module")
def issuer() -> TokenIssuer:
    return TokenIssuer(ISSUER, frozenset(("acme", "globex")))


async def test_the_gateway_takes_a_grant_where_the_issuer_may_give_it(issuer: TokenIssuer) -> None:
    async def fetch(url: str) -> bytes:
        return json.dumps(issuer.jwks()).encode()

    trusted = Issuer(ISSUER, ("gateway",), f"{ISSUER}/jwks", allow_http=True, support=SupportRules())
    granted = sign_grant(issuer, *REQUEST.values())
    principal = (await Authenticator([trusted], fetch=fetch).verify(f"Bearer {granted.token}")).principal
    assert principal.support == SupportAccess(granted.grant_id, "jane@example.org", "ticket 4711")
    assert (principal.tenant, principal.expires_at) == ("acme", granted.expires_at)


def test_two_grants_have_two_ids(issuer: TokenIssuer) -> None:
    assert sign_grant(issuer, *REQUEST.values()).grant_id != sign_grant(issuer, *REQUEST.values()).grant_id


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tenant", "stranger"),
        ("tenant", None),
        ("actor", ""),
        ("actor", "a b"),
        ("reason", ""),
        ("reason", "x" * 201),
        ("minutes", 0),
        ("minutes", 31),
        ("minutes", True),
        ("minutes", 1.5),
    ],
)
def test_what_the_gateway_would_refuse_is_not_signed(issuer: TokenIssuer, name: str, value: object) -> None:
    with pytest.raises(BadUserInput, match=name):
        sign_grant(issuer, *{**REQUEST, name: value}.values())


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"tenant": "acme"}', json.dumps({**REQUEST, "role": "admin"}).encode()]
)
async def test_another_request_is_told_what_to_send(issuer: TokenIssuer, body: bytes) -> None:
    app = Starlette(routes=[grant_route(issuer)])
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=URL) as client:
        response = await client.post("/issuer/support", content=body)
    assert (response.status_code, list(response.json())) == (400, ["error"])


def test_a_running_sandbox_gives_grants(assembly: SandboxAssembly) -> None:
    granted = ask_for_grant(assembly.ready.url, "acme", "jane@example.org", "ticket 4711", 15)
    assert granted.token.count(".") == 2
    with pytest.raises(BadUserInput, match="minutes"):
        ask_for_grant(assembly.ready.url, "acme", "jane@example.org", "ticket 4711", 31)


def test_where_no_sandbox_runs_it_is_said_what_to_do() -> None:
    with pytest.raises(Unavailable, match="gateway dev"):
        ask_for_grant(f"http://127.0.0.1:{free_port(0)}", "acme", "jane", "ticket", 15)
