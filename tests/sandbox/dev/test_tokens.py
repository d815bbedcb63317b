import time

import pytest
from jose import jwt
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gateway.errors import BadUserInput, Unavailable
from gateway.sandbox.assembly import SandboxAssembly
from gateway.sandbox.dev.issuer import ask_for_token
from gateway.sandbox.server import free_port
from tests.sandbox.wire import listening, serving


def test_a_running_sandbox_gives_tokens(world: SandboxAssembly) -> None:
    assert ask_for_token(world.ready.url, "acme", "viewer", "alice").count(".") == 2


def test_a_sandbox_gives_tokens_that_have_expired(world: SandboxAssembly) -> None:
    claims = jwt.get_unverified_claims(ask_for_token(world.ready.url, "acme", "viewer", seconds=-60))
    assert claims["exp"] < time.time() - 50


def test_what_the_sandbox_does_not_know_is_told(world: SandboxAssembly) -> None:
    with pytest.raises(BadUserInput, match="unknown tenant `nobody`: there are acme, globex, initech"):
        ask_for_token(world.ready.url, "nobody", "viewer")


def test_without_a_sandbox_it_says_how_to_start_one() -> None:
    with pytest.raises(Unavailable, match="start one with `gateway dev`"):
        ask_for_token(f"http://127.0.0.1:{free_port(0)}", "acme", "viewer")


@pytest.mark.parametrize("url", ["127.0.0.1:8001", "https://example.com", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(BadUserInput, match="is not the address of a sandbox"):
        ask_for_token(url, "acme", "viewer")


@pytest.mark.parametrize("answer", [PlainTextResponse("hello"), JSONResponse({"hello": "you"}), JSONResponse([])])
def test_something_else_at_that_address_is_not_taken_for_a_sandbox(answer: Response) -> None:
    async def other(request: Request) -> Response:
        return answer

    app = Starlette(routes=[Route("/issuer/token", other, methods=["POST"])])
    with listening() as (found, url), serving(app, found), pytest.raises(Unavailable):
        ask_for_token(url, "acme", "viewer")
