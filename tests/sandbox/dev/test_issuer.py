import json
import time
from typing import Any

import httpx2
import pytest
from jose import jws, jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gateway.errors import BadUserInput, Unauthenticated, Unavailable
from gateway.identity.authenticator import Authenticator
from gateway.identity.issuer import Issuer
from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.dev.issuer import TokenIssuer, ask_for_token, routes
from gateway.sandbox.server import free_port
from tests.sandbox.wire import listening, serving

URL = "http://127.0.0.1:8001"
ISSUER = f"{URL}/issuer"


@pytest.fixture(scope="module")
def issuer() -> TokenIssuer:
    return TokenIssuer(ISSUER, frozenset(("acme", "globex")))


async def _post(issuer: TokenIssuer, body: bytes) -> httpx2.Response:
    app = Starlette(routes=routes(issuer))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=URL) as client:
        return await client.post("/issuer/token", content=body)


def test_a_token_verifies_with_the_published_key(issuer: TokenIssuer) -> None:
    token = issuer.token("acme", "viewer", "alice")
    claims = json.loads(jws.verify(token, issuer.jwks(), ["RS256"]))
    assert (claims["iss"], claims["aud"], claims["sub"]) == (ISSUER, "gateway", "alice")
    assert (claims["tenant"], claims["roles"]) == ("acme", ["viewer"])
    assert claims["exp"] - claims["iat"] == 8 * 3_600
    assert jwt.get_unverified_header(token)["kid"] == issuer.jwks()["keys"][0]["kid"]


def test_the_published_key_is_public_and_of_this_start_alone(issuer: TokenIssuer) -> None:
    key = issuer.jwks()["keys"][0]
    assert set(key) == {"kty", "use", "alg", "kid", "n", "e"}
    other = TokenIssuer(ISSUER, frozenset(("acme",)))
    assert other.jwks() != issuer.jwks()
    assert "PRIVATE" not in repr(issuer)


async def test_the_gateway_accepts_its_tokens_and_those_of_no_other(issuer: TokenIssuer) -> None:
    async def fetch(url: str) -> bytes:
        assert url == f"{ISSUER}/.well-known/jwks.json"
        return json.dumps(issuer.jwks()).encode()

    trusted = Issuer(ISSUER, ("gateway",), f"{ISSUER}/.well-known/jwks.json", allow_http=True)
    authenticator = Authenticator([trusted], fetch=fetch)
    principal = (await authenticator.verify(f"Bearer {issuer.token('globex', 'admin')}")).principal
    assert (principal.tenant, principal.subject) == ("globex", "admin@globex.example")
    assert principal.roles == {"admin"}
    other = TokenIssuer(ISSUER, frozenset(("acme",)), key_id=issuer.key_id)
    with pytest.raises(Unauthenticated):
        await authenticator.verify(f"Bearer {other.token('acme', 'admin')}")
    await authenticator.close()


@pytest.mark.parametrize(
    ("tenant", "role", "subject", "message"),
    [
        ("nobody", "viewer", None, "unknown tenant `nobody`: use one of acme, globex"),
        ("acme", "root", None, "unknown role `root`: use one of admin, editor, support, viewer"),
        (None, "viewer", None, "unknown tenant `None`"),
        (["acme"], "viewer", None, "unknown tenant"),
        ("acme", "viewer", "", "subject must have"),
        ("acme", "viewer", "a\nb", "subject must have"),
        ("acme", "viewer", 7, "subject must have"),
    ],
)
def test_what_it_does_not_know_it_refuses(
    issuer: TokenIssuer, tenant: Any, role: Any, subject: Any, message: str
) -> None:
    with pytest.raises(BadUserInput, match=message.replace("`", "`")):
        issuer.token(tenant, role, subject)


async def test_the_token_address_answers_with_a_token(issuer: TokenIssuer) -> None:
    answer = await _post(issuer, b'{"tenant": "acme", "role": "editor"}')
    assert answer.status_code == 200
    assert json.loads(jws.verify(answer.json()["token"], issuer.jwks(), ["RS256"]))["roles"] == ["editor"]


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"{", b"\xff", b" " * 5_000, b"[" * 3_000),
        b'{"tenant": "acme", "role": "viewer", "exp": 9}',
        b'{"tenant": "acme", "tenant": "globex", "role": "admin"}',
    ],
)
async def test_the_token_address_answers_bad_input_with_400(issuer: TokenIssuer, body: bytes) -> None:
    answer = await _post(issuer, body)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("send a JSON object")


async def test_the_token_address_names_an_unknown_tenant(issuer: TokenIssuer) -> None:
    answer = await _post(issuer, b'{"tenant": "nobody", "role": "viewer"}')
    assert (answer.status_code, answer.json()["error"]) == (400, "unknown tenant `nobody`: use one of acme, globex")


@pytest.mark.parametrize("seconds", [1, 60, 86_400])
def test_a_token_lives_as_long_as_wished(issuer: TokenIssuer, seconds: int) -> None:
    claims = jwt.get_unverified_claims(issuer.token("acme", "viewer", seconds=seconds))
    assert claims["exp"] - claims["iat"] == seconds


@pytest.mark.parametrize("seconds", [0, -120, -86_400])
def test_a_token_can_have_expired(seconds: int) -> None:
    issuer = TokenIssuer(ISSUER, frozenset(("acme",)), clock=lambda: 1_800_000_000.5)
    claims = jwt.get_unverified_claims(issuer.token("acme", "viewer", seconds=seconds))
    assert claims["exp"] == 1_800_000_000 + seconds
    assert claims["exp"] - claims["iat"] == 8 * 3_600, "only its end is wrong"


@pytest.mark.parametrize("seconds", [True, "60", 1.5, None, 86_401, -86_401, []])
def test_another_life_is_refused(issuer: TokenIssuer, seconds: Any) -> None:
    with pytest.raises(BadUserInput, match="seconds must be a whole number"):
        issuer.token("acme", "viewer", seconds=seconds)


async def test_the_token_address_takes_the_life_of_a_token(issuer: TokenIssuer) -> None:
    answer = await _post(issuer, b'{"tenant": "acme", "role": "viewer", "seconds": 60}')
    assert answer.json()["expires_in"] == 60
    claims = jwt.get_unverified_claims(answer.json()["token"])
    assert claims["exp"] - claims["iat"] == 60
    assert (await _post(issuer, b'{"tenant": "acme", "role": "viewer", "seconds": "x"}')).status_code == 400


def test_a_running_sandbox_gives_tokens(assembly: SandboxAssembly) -> None:
    assert ask_for_token(assembly.ready.url, "acme", "viewer", "alice").count(".") == 2


def test_a_sandbox_gives_tokens_that_have_expired(assembly: SandboxAssembly) -> None:
    claims = jwt.get_unverified_claims(ask_for_token(assembly.ready.url, "acme", "viewer", seconds=-60))
    assert claims["exp"] < time.time() - 50


def test_what_the_sandbox_does_not_know_is_reported(assembly: SandboxAssembly) -> None:
    with pytest.raises(BadUserInput, match="unknown tenant `nobody`: use one of acme, globex, initech"):
        ask_for_token(assembly.ready.url, "nobody", "viewer")


def test_without_a_sandbox_it_says_how_to_start_one() -> None:
    with pytest.raises(Unavailable, match="start one with `gateway dev`"):
        ask_for_token(f"http://127.0.0.1:{free_port(0)}", "acme", "viewer")


@pytest.mark.parametrize("url", ["127.0.0.1:8001", "https://example.com", "http://"])
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(BadUserInput, match="is not the address of a sandbox"):
        ask_for_token(url, "acme", "viewer")


@pytest.mark.parametrize("answer", [PlainTextResponse("hello"), JSONResponse({"hello": "you"}), JSONResponse([])])
def test_something_else_at_that_address_is_not_taken_for_a_sandbox(answer: Response) -> None:
    async def other(request: Request) -> Response:
        return answer

    app = Starlette(routes=[Route("/issuer/token", other, methods=["POST"])])
    with listening() as (found, url), serving(app, found), pytest.raises(Unavailable):
        ask_for_token(url, "acme", "viewer")
